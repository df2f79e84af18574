// The secrets of one request, read from where the options say. Pure but for reading files.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "narthex/net/http_client.h"

namespace narthex::net {

struct Credentials {
  bool has_basic_auth = false;
  std::string username;
  std::string password;
  std::string authorization;  // Value of the Authorization header; "" if there is none.
  std::string oauth2_client_secret;
};

// kInvalidArgument: a file cannot be read.
absl::StatusOr<Credentials> ReadCredentials(const HttpClientOptions& options);

}  // namespace narthex::net
