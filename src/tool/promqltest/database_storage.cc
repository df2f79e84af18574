#include "tool/promqltest/database_storage.h"

#include <utility>

#include "narthex/base/status.h"
#include "narthex/db/database.h"

namespace narthex::tool {
namespace {

// Scripts run on the real database, in memory.
class DatabaseStorage final : public ScriptStorage {
 public:
  explicit DatabaseStorage(std::unique_ptr<db::Database> database)
      : database_(std::move(database)) {}
  model::Appendable* appendable() override { return database_.get(); }
  const model::Queryable& queryable() const override { return *database_; }

 private:
  const std::unique_ptr<db::Database> database_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ScriptStorage>> OpenDatabaseStorage() {
  db::DatabaseContext context;
  context.clock = &base::SystemClock();
  context.fs = &base::PosixFs();
  context.logger = &base::NullLogger();
  NX_ASSIGN_OR_RETURN(auto database, db::Database::Open(db::DatabaseOptions{}, context));
  return std::unique_ptr<ScriptStorage>(std::make_unique<DatabaseStorage>(std::move(database)));
}

}  // namespace narthex::tool
