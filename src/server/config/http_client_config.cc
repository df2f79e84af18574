#include "server/config/http_client_config.h"

#include <algorithm>
#include <array>

#include "narthex/base/status.h"

namespace narthex::server {
namespace {

using base::YamlNode;

void CheckTls(const net::TlsClientOptions& tls, YamlMap* map) {
  const auto both = [map](const std::string& a, const std::string& b, std::string_view text) {
    if (!a.empty() && !b.empty()) map->Error(map->line(), text);
  };
  both(tls.ca, tls.ca_file, "at most one of ca, ca_file & ca_ref must be configured");
  both(tls.cert, tls.cert_file, "at most one of cert, cert_file & cert_ref must be configured");
  both(tls.key, tls.key_file, "at most one of key and key_file must be configured");
  const bool has_cert = !tls.cert.empty() || !tls.cert_file.empty();
  const bool has_key = !tls.key.empty() || !tls.key_file.empty();
  if (has_cert && !has_key) {
    map->Error(map->line(),
               "exactly one of key or key_file must be configured when a client certificate is "
               "configured");
  }
  if (has_key && !has_cert) {
    map->Error(map->line(),
               "exactly one of cert or cert_file must be configured when a client key is "
               "configured");
  }
  static constexpr std::array<std::string_view, 5> kVersions = {"", "TLS10", "TLS11", "TLS12",
                                                                "TLS13"};
  for (const std::string& version : {tls.min_version, tls.max_version}) {
    if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) {
      map->Error(map->line(), base::StrCat("unknown TLS version: ", version));
    }
  }
  if (!tls.min_version.empty() && !tls.max_version.empty() && tls.max_version < tls.min_version) {
    map->Error(map->line(),
               "tls_config.max_version must be greater than or equal to "
               "tls_config.min_version if both are specified");
  }
}

absl::Status DecodeTls(const YamlNode& node, net::TlsClientOptions* tls) {
  YamlMap map(node, "tls_config");
  map.String("ca", &tls->ca);
  map.String("ca_file", &tls->ca_file);
  map.String("cert", &tls->cert);
  map.String("cert_file", &tls->cert_file);
  map.String("key", &tls->key);
  map.String("key_file", &tls->key_file);
  map.String("server_name", &tls->server_name);
  map.Bool("insecure_skip_verify", &tls->insecure_skip_verify);
  map.String("min_version", &tls->min_version);
  map.String("max_version", &tls->max_version);
  CheckTls(*tls, &map);
  return map.Finish();
}

absl::Status DecodeBasicAuth(const YamlNode& node, net::HttpClientOptions* options) {
  YamlMap map(node, "basic_auth");
  options->has_basic_auth = true;
  map.String("username", &options->username);
  map.String("username_file", &options->username_file);
  map.String("password", &options->password);
  map.String("password_file", &options->password_file);
  if (!options->username.empty() && !options->username_file.empty()) {
    map.Error(map.line(),
              "at most one of basic_auth username, username_file & username_ref must "
              "be configured");
  }
  if (!options->password.empty() && !options->password_file.empty()) {
    map.Error(map.line(),
              "at most one of basic_auth password, password_file & password_ref must "
              "be configured");
  }
  return map.Finish();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

absl::Status DecodeAuthorization(const YamlNode& node, net::HttpClientOptions* options) {
  YamlMap map(node, "authorization");
  options->authorization_type = "Bearer";
  map.String("type", &options->authorization_type);
  map.String("credentials", &options->credentials);
  map.String("credentials_file", &options->credentials_file);
  if (options->authorization_type.empty()) options->authorization_type = "Bearer";
  if (Lower(options->authorization_type) == "basic") {
    map.Error(map.line(),
              "authorization type cannot be set to \"basic\", use \"basic_auth\" instead");
  }
  if (!options->credentials.empty() && !options->credentials_file.empty()) {
    map.Error(map.line(),
              "at most one of authorization credentials & credentials_file must be configured");
  }
  return map.Finish();
}

void DecodeProxy(YamlMap* map, std::string* proxy_url, std::string* no_proxy,
                 bool* from_environment, net::HeaderList* connect_headers) {
  map->String("proxy_url", proxy_url);
  map->String("no_proxy", no_proxy);
  map->Bool("proxy_from_environment", from_environment);
  std::map<std::string, std::vector<std::string>> headers;
  map->StringListMap("proxy_connect_header", &headers);
  for (const auto& [name, values] : headers) {
    for (const std::string& value : values) connect_headers->emplace_back(name, value);
  }
  if (!headers.empty() && !*from_environment && proxy_url->empty()) {
    map->Error(map->line(),
               "if proxy_connect_header is configured, proxy_url or proxy_from_environment must "
               "also be configured");
  }
  if (*from_environment && !proxy_url->empty()) {
    map->Error(map->line(),
               "if proxy_from_environment is configured, proxy_url must not be "
               "configured");
  }
  if (*from_environment && !no_proxy->empty()) {
    map->Error(map->line(),
               "if proxy_from_environment is configured, no_proxy must not be "
               "configured");
  }
  if (proxy_url->empty() && !no_proxy->empty()) {
    map->Error(map->line(), "if no_proxy is configured, proxy_url must also be configured");
  }
}

absl::Status DecodeOAuth2(const YamlNode& node, net::HttpClientOptions* options) {
  YamlMap map(node, "oauth2");
  net::OAuth2Options* oauth2 = &options->oauth2;
  map.String("client_id", &oauth2->client_id);
  map.String("client_secret", &oauth2->client_secret);
  map.String("client_secret_file", &oauth2->client_secret_file);
  map.String("token_url", &oauth2->token_url);
  map.Strings("scopes", &oauth2->scopes);
  map.StringMap("endpoint_params", &oauth2->endpoint_params);
  std::string grant_type = "client_credentials";
  map.String("grant_type", &grant_type);
  if (grant_type != "client_credentials" && !grant_type.empty()) {
    map.Error(map.line(), base::StrCat("oauth2 grant_type \"", grant_type, "\" is not supported"));
  }
  if (const YamlNode* tls = map.Node("tls_config")) {
    NX_RETURN_IF_ERROR(DecodeTls(*tls, &oauth2->tls));
  }
  std::string proxy_url, no_proxy;
  bool from_environment = false;
  net::HeaderList connect_headers;
  DecodeProxy(&map, &proxy_url, &no_proxy, &from_environment, &connect_headers);
  if (!proxy_url.empty() || from_environment) {
    map.Error(map.line(), "a proxy of its own for oauth2 is not supported");
  }
  if (oauth2->client_id.empty()) map.Error(map.line(), "oauth2 client_id must be configured");
  if (oauth2->token_url.empty()) map.Error(map.line(), "oauth2 token_url must be configured");
  if (!oauth2->client_secret.empty() && !oauth2->client_secret_file.empty()) {
    map.Error(map.line(),
              "at most one of oauth2 client_secret, client_secret_file & client_secret_ref must be "
              "configured");
  }
  return map.Finish();
}

// Headers that the client itself sets or that other settings exist for.
constexpr std::array<std::string_view, 21> kReservedHeaders = {
    "authorization",
    "host",
    "content-encoding",
    "content-length",
    "content-type",
    "user-agent",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "www-authenticate",
    "accept-encoding",
    "x-prometheus-remote-write-version",
    "x-prometheus-remote-read-version",
    "x-prometheus-scrape-timeout-seconds",
    "x-amz-date",
    "x-amz-security-token",
    "x-amz-content-sha256",
    "te",
    "trailer",
    "upgrade"};

absl::Status DecodeHeaders(const YamlNode& node, net::HttpClientOptions* options) {
  YamlMap map(node, "http_headers");
  for (const auto& [name, value] : node.pairs) {
    const YamlNode* header = map.Node(name);
    if (header == nullptr) continue;
    YamlMap header_map(*header, "http_headers entry");
    std::vector<std::string> values, secrets, files;
    header_map.Strings("values", &values);
    header_map.Strings("secrets", &secrets);
    header_map.Strings("files", &files);
    NX_RETURN_IF_ERROR(header_map.Finish());
    if (std::find(kReservedHeaders.begin(), kReservedHeaders.end(), Lower(name)) !=
        kReservedHeaders.end()) {
      map.Error(header->line, base::StrCat("setting header \"", name, "\" is not allowed"));
    }
    if (!files.empty()) {
      map.Error(header->line, "header values from files are not supported");
    }
    for (const std::string& text : values) options->headers.emplace_back(name, text);
    for (const std::string& text : secrets) options->headers.emplace_back(name, text);
  }
  return map.Finish();
}

void CheckAuthentication(YamlMap* map, bool has_bearer_token, bool has_authorization,
                         const net::HttpClientOptions& options) {
  const bool has_oauth2 = options.oauth2.enabled();
  if (has_bearer_token && (has_authorization)) {
    map->Error(map->line(),
               "authorization is not compatible with bearer_token & bearer_token_file");
  } else if (has_bearer_token && (options.has_basic_auth || has_oauth2)) {
    map->Error(map->line(),
               "at most one of basic_auth, oauth2, bearer_token & bearer_token_file must be "
               "configured");
  } else if (static_cast<int>(options.has_basic_auth) + static_cast<int>(has_oauth2) +
                 static_cast<int>(has_authorization) >
             1) {
    map->Error(map->line(), "at most one of basic_auth, oauth2 & authorization must be configured");
  }
}

}  // namespace

void DecodeHttpClient(YamlMap* map, net::HttpClientOptions* options) {
  const auto section = [map, options](std::string_view key, auto decode) {
    const YamlNode* node = map->Node(key);
    if (node == nullptr) return false;
    const absl::Status status = decode(*node, options);
    if (!status.ok()) map->Adopt(status);
    return true;
  };
  section("basic_auth", DecodeBasicAuth);
  const bool has_authorization = section("authorization", DecodeAuthorization);
  section("oauth2", DecodeOAuth2);
  section("tls_config", [](const YamlNode& node, net::HttpClientOptions* out) {
    return DecodeTls(node, &out->tls);
  });
  section("http_headers", DecodeHeaders);
  std::string token, token_file;
  map->String("bearer_token", &token);
  map->String("bearer_token_file", &token_file);
  if (!token.empty() && !token_file.empty()) {
    map->Error(map->line(), "at most one of bearer_token & bearer_token_file must be configured");
  }
  const bool has_bearer_token = !token.empty() || !token_file.empty();
  CheckAuthentication(map, has_bearer_token, has_authorization, *options);
  if (has_bearer_token) {
    options->authorization_type = "Bearer";
    options->credentials = token;
    options->credentials_file = token_file;
  }
  map->Bool("follow_redirects", &options->follow_redirects);
  map->Bool("enable_http2", &options->enable_http2);
  DecodeProxy(map, &options->proxy_url, &options->no_proxy, &options->proxy_from_environment,
              &options->proxy_connect_headers);
}

}  // namespace narthex::server
