#include "narthex/tool/tool.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "narthex/base/status.h"
#include "narthex/db/database.h"
#include "tool/promqltest/command.h"

namespace narthex::tool {
namespace {

constexpr int kExitUsage = 2;

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

absl::StatusOr<std::unique_ptr<ScriptStorage>> OpenStorage() {
  db::DatabaseContext context;
  context.clock = &base::SystemClock();
  context.fs = &base::PosixFs();
  context.logger = &base::NullLogger();
  NX_ASSIGN_OR_RETURN(auto database, db::Database::Open(db::DatabaseOptions{}, context));
  return std::unique_ptr<ScriptStorage>(std::make_unique<DatabaseStorage>(std::move(database)));
}

}  // namespace

int RunTool(const std::vector<std::string>& args) {
  CLI::App app("Commands that need no running server", "narthex tool");
  app.require_subcommand(1);
  std::vector<std::string> scripts;
  CLI::App* const promqltest =
      app.add_subcommand("promqltest", "Run query test scripts (promqltest format)");
  promqltest->add_option("FILE", scripts, "Scripts to run")->required();
  try {
    // The library takes arguments in reverse order.
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kExitUsage;
  }
  return RunPromqlTest(scripts, OpenStorage, std::cout);
}

}  // namespace narthex::tool
