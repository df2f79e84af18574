// One thread runs a curl multi handle. Fetch() hands it a Transfer through a locked queue and wakes
// it; from then on the thread alone touches it. A transfer that needs an OAuth2 token waits, with
// all others that need the same one, for an internal transfer that fetches it.
#include "narthex/net/http_client.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "narthex/base/check.h"
#include "narthex/base/clock.h"
#include "narthex/base/mutex.h"
#include "narthex/base/status.h"
#include "net/content_encoding.h"
#include "net/credentials.h"
#include "net/headers.h"
#include "net/oauth2_token.h"
#include "net/url.h"

namespace narthex::net {
namespace {

constexpr long kMaxRedirects = 10;
// Connections kept open between fetches, and for how long.
constexpr long kMaxIdleConnections = 4096;
constexpr long kMaxIdleSeconds = 300;
// Certificate authorities of a file are parsed anew after this time.
constexpr long kCaCacheSeconds = 60;
constexpr int kMaxPollMs = 60'000;
constexpr size_t kMaxIdleHandles = 64;
constexpr size_t kMaxHeaderBytes = 1u << 20;
constexpr size_t kMaxUrlBytes = 1u << 20;
constexpr size_t kMaxReservedBytes = 1u << 20;
constexpr size_t kMaxTokens = 256;
// A token is renewed this long before it expires.
constexpr int64_t kTokenMarginMs = 10'000;
// What Go never sends through a proxy that has exceptions.
constexpr std::string_view kLocalHosts = "localhost,127.0.0.0/8,::1";

struct SlistFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistFree>;

void Append(Slist* list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list->get(), line.c_str());
  NX_CHECK(longer != nullptr);  // Fails only without memory.
  // The list is now owned through its first node, which stays the same once there is one.
  if (*list == nullptr) list->reset(longer);
}

int64_t NowMs() { return base::SystemClock().MonotonicNs() / 1'000'000; }

// One fetch. Bound to the loop's thread once it is queued.
struct Transfer {
  FetchRequest request;
  std::shared_ptr<const HttpClientOptions> options;
  FetchCallback done;
  int64_t deadline_ms = 0;  // Monotonic.
  Credentials credentials;
  absl::Status refusal;  // Not OK: found out before the start.
  Url url;

  CURL* easy = nullptr;
  Slist headers, proxy_headers, connect_to;
  char error_text[CURL_ERROR_SIZE] = {};
  FetchResponse response;
  size_t num_header_bytes = 0;
  bool is_header_whole = false;       // Of the last answer.
  bool has_header_end = false;        // The same, if it is not a redirect that is followed.
  bool is_too_large = false;          // The body.
  std::unique_ptr<GzipDecoder> gzip;  // Of a body that is decoded.
  absl::Status gzip_status;

  bool wants_oauth2() const { return options->oauth2.enabled(); }
};

// ---- What curl calls ----

void TakeStatusLine(std::string_view line, Transfer* transfer) {
  transfer->response.headers.clear();
  transfer->response.body.clear();
  transfer->gzip.reset();
  transfer->is_header_whole = false;
  transfer->has_header_end = false;
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view rest = Trim(line.substr(space));
  transfer->response.reason = rest.substr(std::min<size_t>(4, rest.size()));
}

size_t OnHeaderLine(char* bytes, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  std::string_view line(bytes, size * count);
  transfer->num_header_bytes += line.size();
  if (transfer->num_header_bytes > kMaxHeaderBytes) return 0;
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    TakeStatusLine(line, transfer);
  } else if (line.empty()) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    const bool is_followed = transfer->options->follow_redirects && status >= 300 && status < 400;
    transfer->is_header_whole = true;
    transfer->has_header_end = status >= 200 && !is_followed;
  } else if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    transfer->response.headers.emplace_back(line.substr(0, colon), Trim(line.substr(colon + 1)));
  }
  return size * count;
}

// False once the body is too large or cannot be decoded.
bool AddToBody(std::string_view piece, Transfer* transfer) {
  std::string& body = transfer->response.body;
  const uint64_t limit = transfer->request.max_body_bytes;
  if (transfer->gzip != nullptr) {
    transfer->gzip_status = transfer->gzip->Append(piece, limit, &body);
    transfer->is_too_large = absl::IsResourceExhausted(transfer->gzip_status);
    return transfer->gzip_status.ok();
  }
  transfer->is_too_large = limit > 0 && body.size() + piece.size() >= limit;
  if (!transfer->is_too_large) body.append(piece);
  return !transfer->is_too_large;
}

size_t OnBody(char* bytes, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  transfer->has_header_end = true;
  if (transfer->response.body.empty() && transfer->gzip == nullptr) {
    if (transfer->request.decode_gzip &&
        FindHeader(transfer->response.headers, "Content-Encoding") == "gzip") {
      transfer->gzip = std::make_unique<GzipDecoder>();
    }
    curl_off_t length = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > 0) {
      transfer->response.body.reserve(std::min(static_cast<size_t>(length), kMaxReservedBytes));
    }
  }
  return AddToBody({bytes, size * count}, transfer) ? size * count : 0;
}

// ---- Setting up a transfer ----

template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  // Fails only for an option or value that this curl was built without.
  NX_CHECK_EQ(static_cast<int>(code), static_cast<int>(CURLE_OK));
}

void SetBlob(CURL* easy, CURLoption option, const std::string& text) {
  curl_blob blob{};
  blob.data = const_cast<char*>(text.data());
  blob.len = text.size();
  blob.flags = CURL_BLOB_COPY;
  Set(easy, option, &blob);
}

// "TLS12" as curl's number; `otherwise` for "" and unknown names.
long TlsVersion(std::string_view name, const std::array<long, 4>& versions, long otherwise) {
  static constexpr std::array<std::string_view, 4> kNames = {"TLS10", "TLS11", "TLS12", "TLS13"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? otherwise : versions[static_cast<size_t>(found - kNames.begin())];
}

void SetTls(const TlsClientOptions& tls, CURL* easy) {
  if (!tls.ca_file.empty()) Set(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
  if (!tls.ca.empty()) SetBlob(easy, CURLOPT_CAINFO_BLOB, tls.ca);
  if (!tls.cert_file.empty()) Set(easy, CURLOPT_SSLCERT, tls.cert_file.c_str());
  if (!tls.cert.empty()) SetBlob(easy, CURLOPT_SSLCERT_BLOB, tls.cert);
  if (!tls.key_file.empty()) Set(easy, CURLOPT_SSLKEY, tls.key_file.c_str());
  if (!tls.key.empty()) SetBlob(easy, CURLOPT_SSLKEY_BLOB, tls.key);
  Set(easy, CURLOPT_CA_CACHE_TIMEOUT, kCaCacheSeconds);
  if (tls.insecure_skip_verify) {
    Set(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    Set(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  const long min_version = TlsVersion(tls.min_version,
                                      {CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_1,
                                       CURL_SSLVERSION_TLSv1_2, CURL_SSLVERSION_TLSv1_3},
                                      CURL_SSLVERSION_TLSv1_2);
  const long max_version = TlsVersion(tls.max_version,
                                      {CURL_SSLVERSION_MAX_TLSv1_0, CURL_SSLVERSION_MAX_TLSv1_1,
                                       CURL_SSLVERSION_MAX_TLSv1_2, CURL_SSLVERSION_MAX_TLSv1_3},
                                      CURL_SSLVERSION_MAX_DEFAULT);
  Set(easy, CURLOPT_SSLVERSION, min_version | max_version);
}

std::string Environment(const char* lower, const char* upper) {
  for (const char* const name : {lower, upper}) {
    // Nobody changes the environment while the process runs.
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
      return value;
    }
  }
  return "";
}

// curl must not look into the environment by itself: an empty proxy says so.
void SetProxy(Transfer* transfer) {
  const HttpClientOptions& options = *transfer->options;
  std::string proxy = options.proxy_url;
  std::string exceptions = options.no_proxy;
  if (options.proxy_from_environment) {
    proxy = transfer->url.scheme == "https" ? Environment("https_proxy", "HTTPS_PROXY")
                                            : Environment("http_proxy", "HTTP_PROXY");
    exceptions = Environment("no_proxy", "NO_PROXY");
  }
  if (!transfer->request.unix_socket.empty()) proxy.clear();
  Set(transfer->easy, CURLOPT_PROXY, proxy.c_str());
  if (options.proxy_from_environment || !exceptions.empty()) {
    base::StrAppend(&exceptions, exceptions.empty() ? "" : ",", kLocalHosts);
  }
  Set(transfer->easy, CURLOPT_NOPROXY, exceptions.c_str());
  for (const auto& [name, value] : options.proxy_connect_headers) {
    Append(&transfer->proxy_headers, base::StrCat(name, ": ", value));
  }
  Set(transfer->easy, CURLOPT_HEADEROPT, long{CURLHEADER_SEPARATE});
  if (transfer->proxy_headers) {
    Set(transfer->easy, CURLOPT_PROXYHEADER, transfer->proxy_headers.get());
  }
  Set(transfer->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

// The URL for curl. A server name other than the URL's host takes its place, so that it is asked
// for and verified, while the connection still goes to the host.
std::string DialUrl(Transfer* transfer, bool* needs_host_header) {
  const std::string& server_name = transfer->options->tls.server_name;
  const Url& url = transfer->url;
  *needs_host_header = url.scheme == "https" && !server_name.empty() && server_name != url.host;
  if (!*needs_host_header) return transfer->request.url;
  Url dialed = url;
  dialed.host = server_name;
  Append(&transfer->connect_to, base::StrCat(dialed.HostPort(), ":", url.HostPort()));
  Set(transfer->easy, CURLOPT_CONNECT_TO, transfer->connect_to.get());
  return base::StrCat("https://", url.user_info.empty() ? "" : base::StrCat(url.user_info, "@"),
                      dialed.HostPort(), url.rest);
}

void SetHeaders(Transfer* transfer, bool needs_host_header) {
  HeaderList all = transfer->options->headers;
  all.insert(all.end(), transfer->request.headers.begin(), transfer->request.headers.end());
  if (!transfer->credentials.authorization.empty()) {
    all.emplace_back("Authorization", transfer->credentials.authorization);
  }
  if (transfer->request.decode_gzip && FindHeader(all, "Accept-Encoding").empty()) {
    all.emplace_back("Accept-Encoding", "gzip");
  }
  if (needs_host_header && FindHeader(all, "Host").empty()) {
    all.emplace_back("Host", transfer->url.HostPort());
  }
  for (const auto& [name, value] : all) {
    Append(&transfer->headers,
           value.empty() ? base::StrCat(name, ";") : base::StrCat(name, ": ", value));
  }
  // What curl would add by itself.
  for (const char* const name : {"Expect", "Content-Type"}) {
    if (FindHeader(all, name).empty()) Append(&transfer->headers, base::StrCat(name, ":"));
  }
  Set(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers.get());
}

void SetMethodAndBody(const FetchRequest& request, CURL* easy) {
  if (request.method == "HEAD") {
    Set(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "GET" && request.body.empty()) {
    Set(easy, CURLOPT_HTTPGET, 1L);
    return;
  }
  if (request.method == "POST" || !request.body.empty()) {
    Set(easy, CURLOPT_POST, 1L);
    Set(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    Set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method != "POST") Set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void SetUp(Transfer* transfer, int64_t timeout_ms) {
  CURL* const easy = transfer->easy;
  bool needs_host_header = false;
  Set(easy, CURLOPT_URL, DialUrl(transfer, &needs_host_header).c_str());
  Set(easy, CURLOPT_PRIVATE, transfer);
  Set(easy, CURLOPT_ERRORBUFFER, transfer->error_text);
  Set(easy, CURLOPT_HEADERFUNCTION, &OnHeaderLine);
  Set(easy, CURLOPT_HEADERDATA, transfer);
  Set(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  Set(easy, CURLOPT_WRITEDATA, transfer);
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  Set(easy, CURLOPT_QUICK_EXIT, 1L);  // Do not wait for a name lookup that is given up.
  Set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
  Set(easy, CURLOPT_MAXAGE_CONN, kMaxIdleSeconds);
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_FOLLOWLOCATION, transfer->options->follow_redirects ? 1L : 0L);
  Set(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
  Set(easy, CURLOPT_HTTP_VERSION,
      transfer->options->enable_http2 ? long{CURL_HTTP_VERSION_2TLS} : long{CURL_HTTP_VERSION_1_1});
  if (!transfer->request.unix_socket.empty()) {
    Set(easy, CURLOPT_UNIX_SOCKET_PATH, transfer->request.unix_socket.c_str());
  }
  if (transfer->credentials.has_basic_auth) {
    Set(easy, CURLOPT_HTTPAUTH, long{CURLAUTH_BASIC});
    Set(easy, CURLOPT_USERNAME, transfer->credentials.username.c_str());
    Set(easy, CURLOPT_PASSWORD, transfer->credentials.password.c_str());
  }
  SetTls(transfer->options->tls, easy);
  SetProxy(transfer);
  SetMethodAndBody(transfer->request, easy);
  SetHeaders(transfer, needs_host_header);
}

// ---- Errors in Go's words ----

std::string ErrnoText(int error_number) {
  std::string text = std::strerror(error_number);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

long OsErrno(const Transfer& transfer) {
  long error_number = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &error_number);
  return error_number;
}

// "10.0.0.1:80" where curl tells it, else "host:port".
std::string PeerAddress(const Transfer& transfer) {
  const char* address = nullptr;
  long port = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_PRIMARY_IP, &address);
  curl_easy_getinfo(transfer.easy, CURLINFO_PRIMARY_PORT, &port);
  if (address == nullptr || *address == '\0' || port <= 0) return transfer.url.HostPort();
  Url peer;
  peer.host = address;
  peer.port = static_cast<uint16_t>(port);
  return peer.HostPort();
}

std::string ConnectReason(const Transfer& transfer) {
  const long error_number = OsErrno(transfer);
  const std::string reason =
      error_number == 0 ? "connection refused" : ErrnoText(static_cast<int>(error_number));
  if (!transfer.request.unix_socket.empty()) {
    return base::StrCat("dial unix ", transfer.request.unix_socket, ": connect: ", reason);
  }
  return base::StrCat("dial tcp ", PeerAddress(transfer), ": connect: ", reason);
}

std::string CertificateReason(const Transfer& transfer) {
  const std::string_view text = transfer.error_text;
  const auto mentions = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  std::string reason(text);
  if (mentions("issuer certificate") || mentions("self-signed") || mentions("self signed")) {
    reason = "x509: certificate signed by unknown authority";
  } else if (mentions("expired") || mentions("not yet valid")) {
    reason = "x509: certificate has expired or is not yet valid";
  } else if (mentions("does not match") || mentions("no alternative certificate subject name")) {
    const std::string& name = transfer.options->tls.server_name;
    reason = base::StrCat("x509: certificate is not valid for ",
                          name.empty() ? transfer.url.host : name);
  }
  return base::StrCat("tls: failed to verify certificate: ", reason);
}

std::string Reason(CURLcode code, const Transfer& transfer) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return "context deadline exceeded";
    case CURLE_COULDNT_CONNECT:
      return ConnectReason(transfer);
    case CURLE_COULDNT_RESOLVE_HOST:
      return base::StrCat("dial tcp: lookup ", transfer.url.host, ": no such host");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "proxyconnect tcp: dial tcp: lookup: no such host";
    case CURLE_GOT_NOTHING:
      return "EOF";
    case CURLE_PARTIAL_FILE:
      return "unexpected EOF";
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: {
      const long error_number = OsErrno(transfer);
      if (error_number == 0) return "unexpected EOF";
      const std::string_view verb = code == CURLE_RECV_ERROR ? "read" : "write";
      return base::StrCat(verb, " tcp ", PeerAddress(transfer), ": ", verb, ": ",
                          ErrnoText(static_cast<int>(error_number)));
    }
    case CURLE_UNSUPPORTED_PROTOCOL:  // Something that is no HTTP/1 status line.
    case CURLE_WEIRD_SERVER_REPLY:
      return "net/http: HTTP/1.x transport connection broken: malformed HTTP response";
    case CURLE_TOO_MANY_REDIRECTS:
      return base::StrCat("stopped after ", kMaxRedirects, " redirects");
    case CURLE_WRITE_ERROR:    // OnHeaderLine() refused.
    case CURLE_OUT_OF_MEMORY:  // Said of a header line beyond curl's own limit.
      return base::StrCat("net/http: server response headers exceeded ", kMaxHeaderBytes,
                          " bytes; aborted");
    case CURLE_SSL_CONNECT_ERROR:
      if (std::string_view(transfer.error_text).find("wrong version") != std::string_view::npos) {
        return "http: server gave HTTP response to HTTPS client";
      }
      return base::StrCat("tls: ", transfer.error_text);
    case CURLE_PEER_FAILED_VERIFICATION:
      return CertificateReason(transfer);
    default:
      return transfer.error_text[0] != '\0' ? transfer.error_text : curl_easy_strerror(code);
  }
}

absl::Status FailedTransfer(CURLcode code, const Transfer& transfer) {
  if (transfer.is_too_large) return base::ResourceExhausted("body size limit exceeded");
  if (!transfer.gzip_status.ok()) return transfer.gzip_status;
  std::string message = Reason(code, transfer);
  if (!transfer.has_header_end) {
    message = FetchError(transfer.request.method, transfer.request.url, message);
  }
  if (code == CURLE_OPERATION_TIMEDOUT) return base::DeadlineExceeded(message);
  if (code == CURLE_URL_MALFORMAT) return base::InvalidArgument(message);
  return base::Unavailable(message);
}

// The checks that need no connection; reads the secrets.
absl::Status Prepare(Transfer* transfer) {
  if (transfer->request.url.size() > kMaxUrlBytes) return base::InvalidArgument("URL too long");
  NX_ASSIGN_OR_RETURN(transfer->url, Url::Parse(transfer->request.url));
  NX_ASSIGN_OR_RETURN(transfer->credentials, ReadCredentials(*transfer->options));
  if (!IsValidHeader(transfer->request.method, "")) {
    return base::InvalidArgument("net/http: invalid method \"", transfer->request.method, "\"");
  }
  const std::array<const HeaderList*, 3> lists = {&transfer->request.headers,
                                                  &transfer->options->headers,
                                                  &transfer->options->proxy_connect_headers};
  for (const HeaderList* list : lists) {
    for (const auto& [name, value] : *list) {
      if (!IsValidHeader(name, value)) {
        return base::InvalidArgument("net/http: invalid header field value for \"", name, "\"");
      }
    }
  }
  if (!IsValidHeader("Authorization", transfer->credentials.authorization)) {
    return base::InvalidArgument("net/http: invalid header field value for \"Authorization\"");
  }
  return absl::OkStatus();
}

// ---- The loop ----

class CurlClient final : public HttpClient {
 public:
  CurlClient() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_ = curl_multi_init();
    NX_CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
    base::MutexLock lock(&stop_mutex_);
    thread_ = std::thread([this] { Run(); });
    pthread_setname_np(thread_.native_handle(), "http-client");
  }
  ~CurlClient() override {
    Stop();
    for (CURL* easy : idle_handles_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
  }

  void Fetch(FetchRequest request, std::shared_ptr<const HttpClientOptions> options,
             FetchCallback done) override;
  absl::StatusOr<FetchResponse> FetchNow(FetchRequest request,
                                         std::shared_ptr<const HttpClientOptions> options) override;
  void Stop() override;

 private:
  using TransferPtr = std::unique_ptr<Transfer>;

  struct TokenSlot {
    OAuth2Token token;
    int64_t expires_ms = 0;  // Monotonic; 0: never.
    bool is_fetching = false;
    std::vector<TransferPtr> waiting;
  };

  void Run() noexcept;
  bool TakePending(std::vector<TransferPtr>* pending);
  void Begin(TransferPtr transfer);
  void BeginWithToken(TransferPtr transfer);
  void OnToken(const std::string& key, absl::StatusOr<FetchResponse> response);
  void BeginDirect(TransferPtr transfer);
  void FinishDone();
  void Finish(CURL* easy, CURLcode code);
  // The transfer's handle leaves the loop and becomes idle.
  void Release(Transfer* transfer);
  void CancelAll();

  CURLM* multi_ = nullptr;
  base::Mutex mutex_;
  std::vector<TransferPtr> pending_ NX_GUARDED_BY(mutex_);
  bool is_stopping_ NX_GUARDED_BY(mutex_) = false;

  base::Mutex stop_mutex_;
  std::thread thread_ NX_GUARDED_BY(stop_mutex_);

  // Only the loop's thread touches these.
  std::map<CURL*, TransferPtr> running_;
  std::vector<CURL*> idle_handles_;
  std::map<std::string, TokenSlot> tokens_;
};

void CurlClient::Fetch(FetchRequest request, std::shared_ptr<const HttpClientOptions> options,
                       FetchCallback done) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->options = options ? std::move(options) : std::make_shared<const HttpClientOptions>();
  transfer->done = std::move(done);
  transfer->deadline_ms = NowMs() + transfer->request.timeout_ms;
  transfer->refusal = Prepare(transfer.get());
  {
    base::MutexLock lock(&mutex_);
    if (!is_stopping_) {
      pending_.push_back(std::move(transfer));
      curl_multi_wakeup(multi_);
      return;
    }
  }
  transfer->done(base::Cancelled("http client stopped"));
}

absl::StatusOr<FetchResponse> CurlClient::FetchNow(
    FetchRequest request, std::shared_ptr<const HttpClientOptions> options) {
  struct Shared {
    base::Mutex mutex;
    base::CondVar is_done;
    std::optional<absl::StatusOr<FetchResponse>> result NX_GUARDED_BY(mutex);
  };
  const auto shared = std::make_shared<Shared>();
  Fetch(std::move(request), std::move(options), [shared](absl::StatusOr<FetchResponse> result) {
    base::MutexLock lock(&shared->mutex);
    shared->result = std::move(result);
    shared->is_done.NotifyAll();
  });
  base::MutexLock lock(&shared->mutex);
  while (!shared->result) shared->is_done.Wait(&shared->mutex);
  return *std::move(shared->result);
}

void CurlClient::Stop() {
  base::MutexLock stop_lock(&stop_mutex_);
  {
    base::MutexLock lock(&mutex_);
    is_stopping_ = true;
    curl_multi_wakeup(multi_);
  }
  if (thread_.joinable()) thread_.join();
}

void CurlClient::Run() noexcept {
  // curl leaves it to us that writing to an ended connection does not end the process.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  std::vector<TransferPtr> pending;
  while (TakePending(&pending)) {
    for (TransferPtr& transfer : pending) Begin(std::move(transfer));
    pending.clear();
    int num_running = 0;
    curl_multi_perform(multi_, &num_running);
    FinishDone();
    curl_multi_poll(multi_, nullptr, 0, kMaxPollMs, nullptr);
  }
  CancelAll();
}

// False once the client stops; what is pending then is for CancelAll().
bool CurlClient::TakePending(std::vector<TransferPtr>* pending) {
  base::MutexLock lock(&mutex_);
  if (is_stopping_) return false;
  pending->swap(pending_);
  return true;
}

void CurlClient::Begin(TransferPtr transfer) {
  if (!transfer->refusal.ok()) {
    transfer->done(base::MakeStatus(transfer->refusal.code(),
                                    FetchError(transfer->request.method, transfer->request.url,
                                               base::Message(transfer->refusal))));
    return;
  }
  if (transfer->wants_oauth2()) return BeginWithToken(std::move(transfer));
  BeginDirect(std::move(transfer));
}

void CurlClient::BeginWithToken(TransferPtr transfer) {
  const std::string& secret = transfer->credentials.oauth2_client_secret;
  const std::string key = TokenKey(transfer->options->oauth2, secret);
  if (tokens_.size() > kMaxTokens) {
    std::erase_if(tokens_, [](const auto& entry) { return !entry.second.is_fetching; });
  }
  TokenSlot& slot = tokens_[key];
  const bool is_valid = !slot.token.authorization.empty() &&
                        (slot.expires_ms == 0 || NowMs() < slot.expires_ms - kTokenMarginMs);
  if (is_valid) {
    transfer->credentials.authorization = slot.token.authorization;
    return BeginDirect(std::move(transfer));
  }
  auto fetch = std::make_unique<Transfer>();
  fetch->request = TokenRequest(transfer->options->oauth2);
  fetch->options = TokenClientOptions(*transfer->options, secret);
  fetch->deadline_ms = transfer->deadline_ms;
  slot.waiting.push_back(std::move(transfer));
  if (std::exchange(slot.is_fetching, true)) return;
  fetch->refusal = Prepare(fetch.get());
  fetch->done = [this, key](absl::StatusOr<FetchResponse> response) {
    OnToken(key, std::move(response));
  };
  Begin(std::move(fetch));
}

void CurlClient::OnToken(const std::string& key, absl::StatusOr<FetchResponse> response) {
  TokenSlot& slot = tokens_[key];
  slot.is_fetching = false;
  std::vector<TransferPtr> waiting = std::move(slot.waiting);
  slot.waiting.clear();
  absl::StatusOr<OAuth2Token> token =
      response.ok() ? ParseTokenResponse(*response) : response.status();
  if (token.ok()) {
    slot.token = *std::move(token);
    slot.expires_ms = slot.token.lifetime_ms == 0 ? 0 : NowMs() + slot.token.lifetime_ms;
  }
  for (TransferPtr& transfer : waiting) {
    if (token.ok()) {
      transfer->credentials.authorization = slot.token.authorization;
      BeginDirect(std::move(transfer));
    } else {
      transfer->done(base::MakeStatus(token.status().code(),
                                      FetchError(transfer->request.method, transfer->request.url,
                                                 base::Message(token.status()))));
    }
  }
}

void CurlClient::BeginDirect(TransferPtr transfer) {
  const int64_t timeout_ms = transfer->deadline_ms - NowMs();
  if (timeout_ms <= 0) {
    transfer->done(base::DeadlineExceeded(
        FetchError(transfer->request.method, transfer->request.url, "context deadline exceeded")));
    return;
  }
  if (idle_handles_.empty()) {
    transfer->easy = curl_easy_init();
    NX_CHECK(transfer->easy != nullptr);
  } else {
    transfer->easy = idle_handles_.back();
    idle_handles_.pop_back();
  }
  CURL* const easy = transfer->easy;
  SetUp(transfer.get(), timeout_ms);
  running_[easy] = std::move(transfer);
  curl_multi_add_handle(multi_, easy);
}

void CurlClient::FinishDone() {
  int num_left = 0;
  while (CURLMsg* const message = curl_multi_info_read(multi_, &num_left)) {
    if (message->msg == CURLMSG_DONE) Finish(message->easy_handle, message->data.result);
  }
}

void CurlClient::Finish(CURL* easy, CURLcode code) {
  const auto found = running_.find(easy);
  TransferPtr transfer = std::move(found->second);
  running_.erase(found);
  // For curl, a connection that ends inside the header is an answer without a body.
  if (code == CURLE_OK && !transfer->is_header_whole) code = CURLE_PARTIAL_FILE;
  if (code == CURLE_OK && transfer->gzip != nullptr) {
    transfer->gzip_status = transfer->gzip->Finish();
    if (!transfer->gzip_status.ok()) code = CURLE_WRITE_ERROR;
  }
  if (code != CURLE_OK) {
    const absl::Status failure = FailedTransfer(code, *transfer);
    Release(transfer.get());
    transfer->done(failure);
    return;
  }
  FetchResponse& response = transfer->response;
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  if (response.reason.empty()) response.reason = ReasonOf(response.status);
  if (transfer->gzip != nullptr) {
    // They describe what was on the wire.
    std::erase_if(response.headers, [](const auto& header) {
      return EqualsIgnoringCase(header.first, "Content-Encoding") ||
             EqualsIgnoringCase(header.first, "Content-Length");
    });
  }
  Release(transfer.get());
  transfer->done(std::move(response));
}

void CurlClient::Release(Transfer* transfer) {
  curl_multi_remove_handle(multi_, transfer->easy);
  if (idle_handles_.size() < kMaxIdleHandles) {
    curl_easy_reset(transfer->easy);
    idle_handles_.push_back(transfer->easy);
  } else {
    curl_easy_cleanup(transfer->easy);
  }
  transfer->easy = nullptr;
}

// A token's waiting transfers are cancelled when its own fetch is.
void CurlClient::CancelAll() {
  const absl::Status cancelled = base::Cancelled("context canceled");
  std::vector<TransferPtr> pending;
  {
    base::MutexLock lock(&mutex_);
    pending.swap(pending_);
  }
  for (TransferPtr& transfer : pending) transfer->done(cancelled);
  while (!running_.empty()) {
    TransferPtr transfer = std::move(running_.begin()->second);
    running_.erase(running_.begin());
    Release(transfer.get());
    transfer->done(cancelled);
  }
}

}  // namespace

std::unique_ptr<HttpClient> HttpClient::Create() { return std::make_unique<CurlClient>(); }

}  // namespace narthex::net
