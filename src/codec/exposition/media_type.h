// Media types of HTTP headers (RFC 9110, 8.3.1): `type/subtype; name=value; name="value"`.
// Free functions, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace narthex::codec {

struct MediaType {
  std::string type;  // Lower case, "text/plain".
  // Names in lower case, in the order sent.
  std::vector<std::pair<std::string, std::string>> parameters;

  // "" if absent.
  std::string_view Parameter(std::string_view name) const;
};

// As Go's mime.ParseMediaType, whose error texts kInvalidArgument carries. Continued parameters
// ("name*0=") are kept as they are.
absl::StatusOr<MediaType> ParseMediaType(std::string_view header);

}  // namespace narthex::codec
