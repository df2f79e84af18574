// The parts of an absolute http or https URL that a fetch needs. Immutable value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace narthex::net {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string user_info;
  std::string host;   // Without the brackets of IPv6.
  uint16_t port = 0;  // The scheme's own if none is given.
  std::string rest;   // From the path on; may be empty.

  // kInvalidArgument with Go's words.
  static absl::StatusOr<Url> Parse(std::string_view text);

  // "host:port", with brackets around IPv6.
  std::string HostPort() const;
};

// `url` with the password of its user info as "***", as Go shows URLs in errors.
std::string HidePassword(std::string_view url);

// `Get "http://h/p": reason`: a fetch's error as Go words it.
std::string FetchError(std::string_view method, std::string_view url, std::string_view reason);

}  // namespace narthex::net
