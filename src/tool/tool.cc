#include "narthex/tool/tool.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "tool/promqltest/command.h"
#include "tool/promqltest/database_storage.h"

namespace narthex::tool {
namespace {

constexpr int kExitUsage = 2;

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
  return RunPromqlTest(scripts, OpenDatabaseStorage, std::cout);
}

}  // namespace narthex::tool
