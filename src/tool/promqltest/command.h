// The command `promqltest FILE...`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tool/promqltest/storage.h"

namespace narthex::tool {

// Runs the scripts, each on storage of its own. Prints a line "FILE:LINE: EXPR: expected ... got
// ..." for each failed case and at last "N passed, N failed". Returns the exit status: 1 if any
// case failed or a file cannot be read.
int RunPromqlTest(const std::vector<std::string>& paths, const StorageFactory& storage_factory,
                  std::ostream& out);

}  // namespace narthex::tool
