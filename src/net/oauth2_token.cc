#include "net/oauth2_token.h"

#include "narthex/base/status.h"
#include "net/headers.h"
// A token is a small document from outside; a parser of our own would be one more to fuzz.
#include <nlohmann/json.hpp>

namespace narthex::net {
namespace {

constexpr uint64_t kMaxTokenBytes = 1u << 20;
constexpr double kMaxLifetimeS = 1e9;

void AppendEscaped(std::string* out, std::string_view text) {
  static constexpr char kHexDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      out->push_back(c);
    } else {
      out->push_back('%');
      out->push_back(kHexDigits[byte >> 4]);
      out->push_back(kHexDigits[byte & 15]);
    }
  }
}

void AppendPair(std::string* form, std::string_view key, std::string_view value) {
  if (!form->empty()) form->push_back('&');
  AppendEscaped(form, key);
  form->push_back('=');
  AppendEscaped(form, value);
}

std::string JoinedScopes(const OAuth2Options& options) {
  std::string scopes;
  for (const std::string& scope : options.scopes) {
    base::StrAppend(&scopes, scopes.empty() ? "" : " ", scope);
  }
  return scopes;
}

// Bearer and the like as Go writes them, whatever case the server has.
std::string TypeName(const std::string& type) {
  for (const std::string_view known : {"Bearer", "MAC", "Basic"}) {
    if (EqualsIgnoringCase(type, known)) return std::string(known);
  }
  return type.empty() ? "Bearer" : type;
}

}  // namespace

std::string TokenKey(const OAuth2Options& options, std::string_view client_secret) {
  std::string key;
  for (const std::string_view part :
       {std::string_view(options.token_url), std::string_view(options.client_id), client_secret}) {
    base::StrAppend(&key, part.size(), ":", part);
  }
  AppendPair(&key, "scope", JoinedScopes(options));
  for (const auto& [name, value] : options.endpoint_params) AppendPair(&key, name, value);
  return key;
}

FetchRequest TokenRequest(const OAuth2Options& options) {
  FetchRequest request;
  request.method = "POST";
  request.url = options.token_url;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                     {"Accept", "application/json"}};
  request.max_body_bytes = kMaxTokenBytes;
  AppendPair(&request.body, "grant_type", "client_credentials");
  const std::string scopes = JoinedScopes(options);
  if (!scopes.empty()) AppendPair(&request.body, "scope", scopes);
  for (const auto& [name, value] : options.endpoint_params) AppendPair(&request.body, name, value);
  return request;
}

std::shared_ptr<const HttpClientOptions> TokenClientOptions(const HttpClientOptions& options,
                                                            std::string_view client_secret) {
  auto token_options = std::make_shared<HttpClientOptions>();
  token_options->has_basic_auth = true;
  token_options->username = options.oauth2.client_id;
  token_options->password = client_secret;
  token_options->tls = options.oauth2.tls;
  token_options->proxy_url = options.proxy_url;
  token_options->no_proxy = options.no_proxy;
  token_options->proxy_from_environment = options.proxy_from_environment;
  token_options->proxy_connect_headers = options.proxy_connect_headers;
  return token_options;
}

absl::StatusOr<OAuth2Token> ParseTokenResponse(const FetchResponse& response) {
  if (response.status < 200 || response.status > 299) {
    return base::Unavailable("oauth2: cannot fetch token: ", response.status, " ",
                             ReasonOf(response.status), "\nResponse: ", response.body);
  }
  const nlohmann::json document =
      nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return base::Unavailable("oauth2: cannot parse json: ", response.body);
  const auto text = [&document](const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string access_token = text("access_token");
  if (access_token.empty()) {
    return base::Unavailable("oauth2: server response missing access_token");
  }
  OAuth2Token token;
  token.authorization = base::StrCat(TypeName(text("token_type")), " ", access_token);
  const auto expires = document.find("expires_in");
  if (expires != document.end() && expires->is_number()) {
    const double seconds = expires->get<double>();
    if (seconds > 0 && seconds < kMaxLifetimeS) {
      token.lifetime_ms = static_cast<int64_t>(seconds * 1000);
    }
  }
  return token;
}

}  // namespace narthex::net
