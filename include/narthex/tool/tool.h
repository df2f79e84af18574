// `narthex tool COMMAND ...`: the commands that need no running server.
#pragma once

#include <string>
#include <vector>

namespace narthex::tool {

// Runs the command of `args` (what follows "tool"); results go to stdout, errors to stderr. The exit
// status: 0, 1 for a failure, 2 for a wrong command line.
int RunTool(const std::vector<std::string>& args);

}  // namespace narthex::tool
