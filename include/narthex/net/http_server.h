// An HTTP/1.1 server. I/O threads move bytes; each request's handler runs on a worker pool and
// writes its answer into a ResponseWriter, whole or in pieces. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/clock.h"
#include "narthex/base/log.h"
#include "narthex/base/thread_pool.h"

namespace narthex::net {

// Header names compare case-insensitively.
using HeaderList = std::vector<std::pair<std::string, std::string>>;
// Value of the first header of that name, "" if absent. Valid as long as `headers`.
std::string_view FindHeader(const HeaderList& headers, std::string_view name);

struct HttpRequest {
  std::string method;     // "GET", ...
  std::string path;       // Percent-decoded, without the query.
  std::string raw_query;  // After '?', undecoded.
  HeaderList headers;
  std::string body;
  std::string remote_address;  // "127.0.0.1:54321"
};

// Pairs of a query string or form body, percent-decoded, in order of appearance.
// kInvalidArgument with Go's words on a bad escape or a ';'.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text);

// Takes one answer. Either Send(), or Start(), Write()s and Finish(). Thread-compatible; may be
// used after the handler returned, by another thread (an answer that comes later). Destruction
// without an answer sends 500.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  // The whole answer. Compresses `body` when the client accepts gzip or deflate and compression was
  // not turned off (a Vary header tells of it). Content-Length and Date are set; a "Connection:
  // close" among `headers` ends the connection.
  virtual void Send(int status, HeaderList headers, std::string body) = 0;
  // Streamed answer: chunked transfer encoding, compressed as it streams where the client accepts.
  virtual void Start(int status, HeaderList headers) = 0;
  // Blocks while the client is slow and the server holds too much for slow clients already. False
  // once the connection broke or was given up (then stop working).
  virtual bool Write(std::string_view piece) = 0;
  virtual void Finish() = 0;
  // True when the client closed the connection, or its sending side of it, before its answer was
  // complete. It may still read the answer.
  virtual bool client_gone() const = 0;
  // Calls `on_gone` at most once, from an I/O thread, when the client goes away before the answer
  // is complete (at once if it already has). It must not block.
  virtual void OnClientGone(std::function<void()> on_gone) = 0;
  // Off for answers whose content is already encoded. On by default.
  virtual void set_allow_compression(bool allow) = 0;
  // Status and body bytes (uncompressed) sent so far; for request metrics.
  virtual int status() const = 0;
  virtual uint64_t num_body_bytes() const = 0;
};

using HttpHandler = std::function<void(const HttpRequest&, std::shared_ptr<ResponseWriter>)>;

struct HttpServerOptions {
  std::vector<std::string> listen_addresses;  // "0.0.0.0:9090", "[::1]:0", ":9090"
  size_t num_io_threads = 1;
  size_t max_connections = 512;           // Further connections wait in the accept queue.
  uint64_t max_body_bytes = 64ull << 20;  // Larger request bodies: 413.
  size_t max_header_bytes = 64u << 10;    // Larger headers: 431.
  int64_t read_timeout_ms = 300'000;      // For one request and between two; 0: none.
  int64_t write_timeout_ms = 300'000;     // Without progress; 0: none.
  // Of all answers under way. Beyond it, Write() waits for the client of a large answer, and the
  // answer ends if the client takes nothing for the stall timeout.
  uint64_t max_queued_bytes = 256ull << 20;
  int64_t stall_timeout_ms = 10'000;
  const base::Clock* clock = &base::SystemClock();  // For Date headers.
};

class HttpServer {
 public:
  // Binds and listens, accepts nothing before Serve(). kUnavailable names the address that cannot
  // be bound and why. `workers`, `logger` must outlive the server.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(HttpServerOptions options,
                                                            base::ThreadPool* workers,
                                                            const base::Logger* logger);
  virtual ~HttpServer() = default;
  // Starts accepting. `handler` runs on the worker pool; a full pool answers 503. What it throws is
  // logged and answered 500.
  virtual void Serve(HttpHandler handler) = 0;
  // Stops accepting, waits up to `grace_ms` for running answers, closes. Idempotent.
  virtual void Stop(int64_t grace_ms) = 0;
  // Bound ports, in the order of the listen addresses (told apart when a port 0 was asked for).
  virtual std::vector<uint16_t> ports() const = 0;
};

}  // namespace narthex::net
