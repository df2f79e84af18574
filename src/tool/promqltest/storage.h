// What a script's samples are loaded into and read from.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/model/appendable.h"
#include "narthex/model/queryable.h"
#include "tool/promqltest/script.h"

namespace narthex::tool {

// Both sides of one storage. Thread-compatible.
class ScriptStorage {
 public:
  virtual ~ScriptStorage() = default;
  virtual model::Appendable* appendable() = 0;
  virtual const model::Queryable& queryable() const = 0;
};

// Makes an empty one; `clear` starts with a new one.
using StorageFactory = std::function<absl::StatusOr<std::unique_ptr<ScriptStorage>>()>;

// Appends all samples of `load` as one batch. The first error ends it; nothing is stored then.
absl::Status LoadInto(const LoadCommand& load, model::Appendable* appendable);

}  // namespace narthex::tool
