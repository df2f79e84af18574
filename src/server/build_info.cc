#include "server/build_info.h"

#include "narthex/base/strings.h"

#ifndef NX_REVISION
#define NX_REVISION "unknown"
#endif

namespace narthex::server {

std::string_view Revision() { return NX_REVISION; }

std::string_view Compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string VersionText() {
  return base::StrCat("narthex, version ", kCompatibleVersion, " (branch: ", kBranch,
                      ", revision: ", Revision(), ")\n  narthex version:  ", kNarthexVersion,
                      "\n  compiler:         ", Compiler(),
                      "\n  platform:         linux/amd64\n  tags:             unknown\n");
}

}  // namespace narthex::server
