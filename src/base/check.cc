#include "narthex/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace narthex::base::internal {

void CheckFailed(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message.c_str());
  std::abort();
}

}  // namespace narthex::base::internal
