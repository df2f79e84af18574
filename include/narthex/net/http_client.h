// An HTTP client: many fetches at a time over one event loop thread with kept connections.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/net/http_server.h"

namespace narthex::net {

struct TlsClientOptions {
  std::string ca_file, cert_file, key_file;  // Paths; read at each new connection.
  std::string ca, cert, key;                 // PEM texts, instead of the files.
  std::string server_name;
  std::string min_version, max_version;  // "TLS10" .. "TLS13" or "".
  bool insecure_skip_verify = false;
  bool operator==(const TlsClientOptions&) const = default;
};

struct OAuth2Options {
  std::string client_id, client_secret, client_secret_file, token_url;
  std::vector<std::string> scopes;
  std::map<std::string, std::string> endpoint_params;
  TlsClientOptions tls;
  bool enabled() const { return !client_id.empty(); }
  bool operator==(const OAuth2Options&) const = default;
};

// The http client section of the configuration (docs/configuration.md). Secrets in files are read
// for each request, so that they can be rotated.
struct HttpClientOptions {
  bool has_basic_auth = false;
  std::string username, username_file, password, password_file;
  std::string authorization_type;  // "Bearer" when credentials are set.
  std::string credentials, credentials_file;
  OAuth2Options oauth2;
  TlsClientOptions tls;
  std::string proxy_url, no_proxy;
  bool proxy_from_environment = false;
  HeaderList proxy_connect_headers;
  bool follow_redirects = true;
  bool enable_http2 = true;
  HeaderList headers;  // Extra request headers.
  bool operator==(const HttpClientOptions&) const = default;
};

struct FetchRequest {
  std::string method = "GET";
  std::string url;
  HeaderList headers;
  std::string body;
  int64_t timeout_ms = 10'000;
  // A decoded body of this many bytes or more fails (as Prometheus's body_size_limit); 0: no limit.
  uint64_t max_body_bytes = 0;
  std::string unix_socket;  // Dial this instead of the host, if not empty.
  bool decode_gzip = true;  // Ask for gzip unless `headers` do otherwise, and decode it.
};

struct FetchResponse {
  int status = 0;
  std::string reason;  // "Not Found"
  HeaderList headers;
  std::string body;
};

// kUnavailable: no connection, broken transfer, no token; kDeadlineExceeded: `timeout_ms` passed;
// kResourceExhausted: "body size limit exceeded"; kInvalidArgument: bad URL or header, unreadable
// secret; kCancelled: the client stopped. Messages read as Go's: `Get "http://h/": EOF`.
using FetchCallback = std::function<void(absl::StatusOr<FetchResponse>)>;

class HttpClient {
 public:
  static std::unique_ptr<HttpClient> Create();
  virtual ~HttpClient() = default;
  // Starts a fetch. `done` is called exactly once from the loop's thread and must not block (hand
  // the work to a pool); after Stop() at once from this thread. Reads secret files on this thread.
  // Null `options` are the defaults.
  virtual void Fetch(FetchRequest request, std::shared_ptr<const HttpClientOptions> options,
                     FetchCallback done) = 0;
  // Fetches and waits. Not from a Fetch callback.
  virtual absl::StatusOr<FetchResponse> FetchNow(
      FetchRequest request, std::shared_ptr<const HttpClientOptions> options) = 0;
  // Ends running fetches with kCancelled and refuses new ones. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace narthex::net
