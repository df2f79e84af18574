// OAuth2 client-credentials tokens: the request for one, and the answer. Pure; free functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "narthex/net/http_client.h"

namespace narthex::net {

struct OAuth2Token {
  std::string authorization;  // Value of the Authorization header.
  int64_t lifetime_ms = 0;    // 0: does not expire.
};

// What tells tokens apart.
std::string TokenKey(const OAuth2Options& options, std::string_view client_secret);

FetchRequest TokenRequest(const OAuth2Options& options);
// The options of the token request: the client's id and secret as basic auth, the proxy of
// `options`.
std::shared_ptr<const HttpClientOptions> TokenClientOptions(const HttpClientOptions& options,
                                                            std::string_view client_secret);

// kUnavailable with Go's words if the answer holds no token.
absl::StatusOr<OAuth2Token> ParseTokenResponse(const FetchResponse& response);

}  // namespace narthex::net
