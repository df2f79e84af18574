// Data written by real programs, which the tree does not hold: its folder is named by the
// environment variable NARTHEX_CONFORMANCE_DIR. Tests that need it are skipped without it.
#pragma once

#include <cstdlib>
#include <string>

namespace narthex::support {

// "" if there is none.
inline std::string ConformanceDirectory() {
  const char* const directory = std::getenv("NARTHEX_CONFORMANCE_DIR");
  return directory != nullptr ? directory : "";
}

}  // namespace narthex::support
