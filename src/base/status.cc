#include "narthex/base/status.h"

#include <cerrno>
#include <cstring>

namespace narthex::base {

absl::Status ErrnoStatus(int error_number, std::string_view what) {
  const std::string message = StrCat(what, ": ", std::strerror(error_number));
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return ResourceExhausted(message);
    case ENOENT:
      return NotFound(message);
    default:
      return Unavailable(message);
  }
}

absl::Status WithContext(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  return MakeStatus(status.code(), context, ": ", Message(status));
}

}  // namespace narthex::base
