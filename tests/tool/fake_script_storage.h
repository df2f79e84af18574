// Script storage in memory, for tests of the script runner and of what runs below it.
#pragma once

#include <memory>

#include "tests/support/fake_queryable.h"
#include "tool/promqltest/storage.h"

namespace narthex::tool {

class FakeScriptStorage final : public ScriptStorage {
 public:
  explicit FakeScriptStorage(size_t batch_rows) : storage_(batch_rows) {}
  model::Appendable* appendable() override { return &storage_; }
  const model::Queryable& queryable() const override { return storage_; }

 private:
  testing::FakeQueryable storage_;
};

// Every storage hands out at most `batch_rows` samples at once.
inline StorageFactory FakeStorageFactory(size_t batch_rows) {
  return [batch_rows]() -> absl::StatusOr<std::unique_ptr<ScriptStorage>> {
    return std::make_unique<FakeScriptStorage>(batch_rows);
  };
}

}  // namespace narthex::tool
