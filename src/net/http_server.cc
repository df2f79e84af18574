// One Session per connection, bound to a strand; I/O threads run all strands. Its life:
//
//   Idle ──bytes──▶ ReadRequest ──▶ Dispatch ──▶ Pump (sends what the ResponseQueue holds)
//    ▲                 │ bad or late request         │ keep-alive          │ close
//    └─────────────────┼─────────────────────────────┘                     │
//                      └──▶ AnswerAndClose ──▶ Linger (read what is left) ◀┘ ──▶ Close
//
// While a handler works, Watch() waits for the socket to become readable and peeks, so that the
// handler hears of a client that went away; bytes of the next request end the watch. Beast parses
// requests; answers are plain bytes from the QueuedResponseWriter.
//
// TLS would wrap Session's socket, and authentication would be asked at the start of Dispatch.
#include "narthex/net/http_server.h"

#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "narthex/base/mutex.h"
#include "narthex/base/status.h"
#include "net/headers.h"
#include "net/response_writer.h"

namespace narthex::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// Of one answer, before its maker may have to wait.
constexpr size_t kMaxQueuedBytes = 256u << 10;
constexpr size_t kWriteBytes = 128u << 10;
// Read and thrown away after the last answer, so that unread bytes do not reset the connection
// under it.
constexpr size_t kMaxLingerBytes = 1u << 20;
constexpr auto kLingerTime = std::chrono::seconds(2);
constexpr auto kAcceptPause = std::chrono::milliseconds(200);

std::string AddressText(const tcp::endpoint& endpoint) {
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  const std::string text = address.to_string();
  return address.is_v6() ? base::StrCat("[", text, "]:", endpoint.port())
                         : base::StrCat(text, ":", endpoint.port());
}

class ServerImpl;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::string remote_address, ServerImpl* server);

  void Start();
  // Any thread. Closes at once if no answer is under way, else after it.
  void BeginStop();
  // Any thread.
  void Abort();

 private:
  using Parser = http::request_parser<http::string_body>;

  void WaitForRequest();
  void ReadRequest();
  void OnHeader(error_code error);
  void ReadBody();
  void OnRequest(error_code error);
  void FailRead(error_code error);
  // 0 if the request is well-formed and `*request` is set, else the status of the refusal.
  int TakeRequest(HttpRequest* request, RequestTraits* traits);
  void Dispatch(HttpRequest request, RequestTraits traits);
  void Watch();
  void OnReadableWhileBusy(error_code error, uint64_t request_number);
  void Pump();
  void WriteSome();
  void OnAnswered(AnswerEnd end);
  void AnswerAndClose(int status);
  void Linger(size_t num_discarded);
  void Close();
  void ArmTimer(std::chrono::milliseconds timeout);

  tcp::socket socket_;
  const std::string remote_address_;
  ServerImpl* const server_;
  asio::steady_timer timer_;
  bool is_timed_out_ = false;
  bool is_idle_ = true;
  bool is_closed_ = false;
  bool is_half_closed_ = false;  // The client sends nothing more.
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  uint64_t request_number_ = 0;
  std::shared_ptr<ResponseQueue> queue_;  // Of the answer under way.
  std::string out_;                       // Being sent.
  size_t num_sent_ = 0;
  bool is_writing_ = false;
  char discarded_[4096] = {};
};

struct Listener {
  Listener(asio::io_context* io, std::string address_text)
      : acceptor(asio::make_strand(*io)),
        retry(acceptor.get_executor()),
        address(std::move(address_text)) {}
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  const std::string address;
  bool is_waiting = false;  // For a connection to end. Guarded by the server's mutex.
};

class ServerImpl final : public HttpServer {
 public:
  ServerImpl(HttpServerOptions server_options, base::ThreadPool* worker_pool,
             const base::Logger* server_logger)
      : options(std::move(server_options)),
        workers(worker_pool),
        logger(server_logger),
        budget(std::make_shared<ResponseBudget>(options.max_queued_bytes)),
        work_(asio::make_work_guard(io_)) {}
  ~ServerImpl() override { Stop(0); }

  absl::Status Bind();
  void Serve(HttpHandler handler) override;
  void Stop(int64_t grace_ms) override;
  std::vector<uint16_t> ports() const override { return ports_; }

  void Remove(const std::shared_ptr<Session>& session);
  bool is_stopping() const { return is_stopping_.load(); }
  const std::shared_ptr<const HttpHandler>& handler() const { return handler_; }

  const HttpServerOptions options;
  base::ThreadPool* const workers;
  const base::Logger* const logger;
  // Shared with answers, which may outlive the server.
  const std::shared_ptr<ResponseBudget> budget;

 private:
  absl::Status BindOne(const std::string& address);
  void Accept(Listener* listener);
  void OnAccepted(Listener* listener, error_code error, tcp::socket socket);
  void RunIo();

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<uint16_t> ports_;
  std::shared_ptr<const HttpHandler> handler_;
  std::atomic<bool> is_stopping_{false};

  base::Mutex stop_mutex_;  // Taken first.
  std::vector<std::thread> threads_ NX_GUARDED_BY(stop_mutex_);

  base::Mutex mutex_;
  base::CondVar session_removed_;
  std::set<std::shared_ptr<Session>> sessions_ NX_GUARDED_BY(mutex_);
};

// ---- Session ----

Session::Session(tcp::socket socket, std::string remote_address, ServerImpl* server)
    : socket_(std::move(socket)),
      remote_address_(std::move(remote_address)),
      server_(server),
      timer_(socket_.get_executor()),
      // The parser's own limit comes first; the slack is for what follows the header.
      buffer_(server->options.max_header_bytes + (64u << 10)) {}

void Session::Start() {
  asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
    error_code ignored;
    self->socket_.set_option(tcp::no_delay(true), ignored);
    self->socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    self->WaitForRequest();
  });
}

void Session::BeginStop() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->is_idle_) self->Close();
  });
}

void Session::Abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Close(); });
}

// A deadline that passes cancels whatever the socket waits for. No time, no deadline.
void Session::ArmTimer(std::chrono::milliseconds timeout) {
  is_timed_out_ = false;
  timer_.cancel();
  if (timeout.count() == 0) return;
  timer_.expires_after(timeout);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    // A handler that was already on its way when the timer was armed anew has nothing to say.
    if (error || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
    self->is_timed_out_ = true;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

void Session::WaitForRequest() {
  if (is_closed_) return;
  is_idle_ = true;
  if (server_->is_stopping()) return Close();
  if (buffer_.size() > 0) return ReadRequest();
  buffer_.shrink_to_fit();
  parser_.reset();
  ArmTimer(std::chrono::milliseconds(server_->options.read_timeout_ms));
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->is_closed_) return;
    if (error) return self->Close();
    self->ReadRequest();
  });
}

void Session::ReadRequest() {
  is_idle_ = false;
  ArmTimer(std::chrono::milliseconds(server_->options.read_timeout_ms));
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(server_->options.max_header_bytes));
  parser_->body_limit(server_->options.max_body_bytes);
  http::async_read_header(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t /*size*/) { self->OnHeader(error); });
}

void Session::OnHeader(error_code error) {
  if (is_closed_) return;
  if (error) return FailRead(error);
  const auto expect = parser_->get().find(http::field::expect);
  if (expect == parser_->get().end()) return ReadBody();
  const std::string_view value(expect->value().data(), expect->value().size());
  if (!EqualsIgnoringCase(value, "100-continue")) return AnswerAndClose(417);
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kContinue),
                    [self = shared_from_this()](error_code write_error, size_t /*size*/) {
                      if (self->is_closed_) return;
                      if (write_error) return self->Close();
                      self->ReadBody();
                    });
}

void Session::ReadBody() {
  http::async_read(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t /*size*/) { self->OnRequest(error); });
}

void Session::FailRead(error_code error) {
  if (error == asio::error::operation_aborted && is_timed_out_) return AnswerAndClose(408);
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return AnswerAndClose(431);
  }
  if (error == http::error::body_limit) return AnswerAndClose(413);
  if (error == http::error::bad_version) return AnswerAndClose(505);
  // Half a request and then the end, or nothing at all: nobody waits for an answer.
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category()) {
    return Close();
  }
  AnswerAndClose(400);
}

int Session::TakeRequest(HttpRequest* request, RequestTraits* traits) {
  const bool keep_alive = parser_->keep_alive();
  http::request<http::string_body> message = parser_->release();
  request->method = std::string(message.method_string());
  for (const auto& field : message) {
    request->headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request->body = std::move(message.body());
  request->remote_address = remote_address_;
  traits->is_head = request->method == "HEAD";
  traits->is_http_1_0 = message.version() == 10;
  traits->keep_alive = keep_alive;
  traits->accepted = PickEncoding(FindHeader(request->headers, "Accept-Encoding"));

  if (message.version() > 10 && message.find(http::field::host) == message.end()) return 400;
  const std::string_view coding = FindHeader(request->headers, "Transfer-Encoding");
  if (!coding.empty() && !EqualsIgnoringCase(coding, "chunked")) return 501;
  std::string_view target(message.target().data(), message.target().size());
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) {
      const size_t path = target.find_first_of("/?", scheme.size());
      target = path == std::string_view::npos ? "/" : target.substr(path);
    }
  }
  if (!target.starts_with('/') && target != "*") return 400;
  const size_t question = target.find('?');
  if (question != std::string_view::npos) request->raw_query = target.substr(question + 1);
  absl::StatusOr<std::string> path = PercentDecode(target.substr(0, question), PlusSign::kLiteral);
  if (!path.ok()) return 400;
  request->path = *std::move(path);
  return 0;
}

void Session::OnRequest(error_code error) {
  if (is_closed_) return;
  if (error) return FailRead(error);
  timer_.cancel();
  HttpRequest request;
  RequestTraits traits;
  if (const int refusal = TakeRequest(&request, &traits); refusal != 0) {
    return AnswerAndClose(refusal);
  }
  parser_.reset();
  Dispatch(std::move(request), traits);
}

// The answer may outlive the session and the server: the queue then refuses what is written.
void Session::Dispatch(HttpRequest request, RequestTraits traits) {
  if (server_->is_stopping()) traits.keep_alive = false;
  ++request_number_;
  queue_ = std::make_shared<ResponseQueue>(
      ResponseQueue::Limits{kMaxQueuedBytes,
                            std::chrono::milliseconds(server_->options.stall_timeout_ms)},
      server_->budget, [weak = weak_from_this(), executor = socket_.get_executor()] {
        asio::post(executor, [weak] {
          if (const auto self = weak.lock()) self->Pump();
        });
      });
  std::shared_ptr<ResponseWriter> writer =
      std::make_shared<QueuedResponseWriter>(queue_, traits, server_->options.clock);
  const bool is_accepted = server_->workers->TrySubmit([handler = server_->handler(),
                                                        logger = server_->logger, writer,
                                                        request =
                                                            std::make_shared<const HttpRequest>(
                                                                std::move(request))]() mutable {
    try {
      (*handler)(*request, std::move(writer));
    } catch (const std::bad_alloc&) {
      throw;  // Ends the process.
    } catch (const std::exception& exception) {
      // The writer's last owner answers 500.
      logger->Error("http: handler threw", {{"path", request->path}, {"err", exception.what()}});
    }
  });
  if (!is_accepted) {
    writer->Send(503, {{"Content-Type", "text/plain; charset=utf-8"}}, "Service Unavailable\n");
  }
  Watch();
}

void Session::Watch() {
  socket_.async_wait(tcp::socket::wait_read,
                     [self = shared_from_this(), number = request_number_](error_code error) {
                       self->OnReadableWhileBusy(error, number);
                     });
}

void Session::OnReadableWhileBusy(error_code error, uint64_t request_number) {
  // By now another request may be under way, or a timer or Close() cancelled the wait.
  if (error || is_closed_ || queue_ == nullptr || request_number != request_number_) return;
  char byte = 0;
  const ssize_t num_read = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (num_read > 0) return;  // The next request; it has to wait.
  if (num_read == 0) {
    is_half_closed_ = true;
    queue_->MarkClientGone();
  } else if (errno == EAGAIN || errno == EINTR) {
    Watch();
  } else {
    Close();
  }
}

void Session::Pump() {
  if (is_closed_ || is_writing_ || queue_ == nullptr) return;
  AnswerEnd end = AnswerEnd::kClose;
  switch (queue_->Pop(&out_, &end)) {
    case ResponseQueue::Next::kWait:
      return;
    case ResponseQueue::Next::kBytes:
      num_sent_ = 0;
      is_writing_ = true;
      return WriteSome();
    case ResponseQueue::Next::kEnd:
      return OnAnswered(end);
  }
}

// The deadline runs anew after every bit of progress.
void Session::WriteSome() {
  ArmTimer(std::chrono::milliseconds(server_->options.write_timeout_ms));
  const std::string_view rest = std::string_view(out_).substr(num_sent_, kWriteBytes);
  socket_.async_write_some(asio::buffer(rest),
                           [self = shared_from_this()](error_code error, size_t size) {
                             if (self->is_closed_) return;
                             if (error) return self->Close();
                             self->num_sent_ += size;
                             if (self->num_sent_ < self->out_.size()) return self->WriteSome();
                             self->timer_.cancel();
                             self->is_writing_ = false;
                             self->out_.clear();
                             self->Pump();
                           });
}

void Session::OnAnswered(AnswerEnd end) {
  queue_->Detach();
  queue_.reset();
  out_.shrink_to_fit();
  if (end == AnswerEnd::kAbort) return Close();
  if (end == AnswerEnd::kClose || is_half_closed_) return Linger(0);
  WaitForRequest();
}

void Session::AnswerAndClose(int status) {
  ArmTimer(std::chrono::milliseconds(server_->options.write_timeout_ms));
  out_ = FinalAnswer(status, server_->options.clock->NowMs());
  asio::async_write(socket_, asio::buffer(out_),
                    [self = shared_from_this()](error_code error, size_t /*size*/) {
                      if (self->is_closed_) return;
                      if (error) return self->Close();
                      self->Linger(0);
                    });
}

void Session::Linger(size_t num_discarded) {
  if (num_discarded == 0) {
    is_idle_ = true;  // A stop need not wait for it.
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    if (is_half_closed_ || server_->is_stopping()) return Close();
    ArmTimer(kLingerTime);
  }
  socket_.async_read_some(asio::buffer(discarded_), [self = shared_from_this(), num_discarded](
                                                        error_code error, size_t size) {
    if (self->is_closed_) return;
    if (error || num_discarded + size > kMaxLingerBytes) return self->Close();
    self->Linger(num_discarded + size);
  });
}

void Session::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  error_code ignored;
  timer_.cancel();
  socket_.close(ignored);
  if (queue_ != nullptr) queue_->Break();
  queue_.reset();
  server_->Remove(shared_from_this());
}

// ---- ServerImpl ----

// "listen tcp 127.0.0.1:9090: bind: address already in use"
absl::Status BindError(const std::string& address, std::string_view what, std::string reason) {
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') {
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  }
  return base::Unavailable("listen tcp ", address, ": ", what, reason);
}

// The resolver takes a number that does not fit for the rest of it.
bool IsPort(std::string_view text) {
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return true;  // A service.
  if (text.empty()) return true;                                                    // Any port.
  uint16_t port = 0;
  return std::from_chars(text.data(), text.data() + text.size(), port).ec == std::errc();
}

absl::Status ServerImpl::BindOne(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return BindError(address, "address ", "missing port in address");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code error;
  std::vector<tcp::endpoint> endpoints;
  tcp::resolver resolver(io_);
  const std::string port = address.substr(colon + 1);
  if (!IsPort(port)) return BindError(address, "address ", base::StrCat(port, ": invalid port"));
  if (host.empty()) {
    // All addresses of both families, or of IPv4 where the machine has no IPv6.
    for (const char* any : {"::", "0.0.0.0"}) {
      for (const auto& entry : resolver.resolve(any, port, tcp::resolver::passive, error)) {
        endpoints.push_back(entry.endpoint());
      }
    }
  } else {
    for (const auto& entry : resolver.resolve(host, port, tcp::resolver::passive, error)) {
      endpoints.push_back(entry.endpoint());
    }
  }
  if (endpoints.empty()) return BindError(address, "lookup ", error.message());

  for (const tcp::endpoint& endpoint : endpoints) {
    auto listener = std::make_unique<Listener>(&io_, address);
    listener->acceptor.open(endpoint.protocol(), error);
    if (error == asio::error::address_family_not_supported) continue;
    if (error) return BindError(address, "socket: ", error.message());
    listener->acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (endpoint.protocol() == tcp::v6()) {
      listener->acceptor.set_option(asio::ip::v6_only(!host.empty()), error);
    }
    listener->acceptor.bind(endpoint, error);
    if (error) return BindError(address, "bind: ", error.message());
    listener->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return BindError(address, "listen: ", error.message());
    ports_.push_back(listener->acceptor.local_endpoint(error).port());
    listeners_.push_back(std::move(listener));
    return absl::OkStatus();
  }
  return BindError(address, "socket: ", error.message());
}

absl::Status ServerImpl::Bind() {
  for (const std::string& address : options.listen_addresses) NX_RETURN_IF_ERROR(BindOne(address));
  return absl::OkStatus();
}

void ServerImpl::Serve(HttpHandler handler) {
  base::MutexLock lock(&stop_mutex_);
  if (is_stopping()) return;
  handler_ = std::make_shared<const HttpHandler>(std::move(handler));
  for (const auto& listener : listeners_) {
    asio::post(listener->acceptor.get_executor(), [this, raw = listener.get()] { Accept(raw); });
  }
  for (size_t i = 0; i < options.num_io_threads; ++i) {
    threads_.emplace_back([this] { RunIo(); });
    pthread_setname_np(threads_.back().native_handle(), "http-io");
  }
}

void ServerImpl::RunIo() {
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::bad_alloc&) {
      throw;  // Ends the process.
    } catch (const std::exception& exception) {
      logger->Error("http: i/o thread threw", {{"err", exception.what()}});
    }
  }
}

void ServerImpl::Accept(Listener* listener) {
  {
    base::MutexLock lock(&mutex_);
    if (is_stopping() || !listener->acceptor.is_open()) return;
    listener->is_waiting = sessions_.size() >= options.max_connections;
    if (listener->is_waiting) return;
  }
  listener->acceptor.async_accept(asio::make_strand(io_),
                                  [this, listener](error_code error, tcp::socket socket) {
                                    OnAccepted(listener, error, std::move(socket));
                                  });
}

void ServerImpl::OnAccepted(Listener* listener, error_code error, tcp::socket socket) {
  if (error == asio::error::operation_aborted || is_stopping()) return;
  if (error) {
    // A client that left at once is no reason to pause; without file descriptors, trying again at
    // once would spin.
    if (error == asio::error::connection_aborted) return Accept(listener);
    logger->Warn("http: cannot accept connections",
                 {{"address", listener->address}, {"err", error.message()}});
    listener->retry.expires_after(kAcceptPause);
    listener->retry.async_wait([this, listener](error_code aborted) {
      if (!aborted) Accept(listener);
    });
    return;
  }
  error_code no_peer;
  const tcp::endpoint peer = socket.remote_endpoint(no_peer);
  if (!no_peer) {
    auto session = std::make_shared<Session>(std::move(socket), AddressText(peer), this);
    {
      base::MutexLock lock(&mutex_);
      sessions_.insert(session);
    }
    session->Start();
  }
  Accept(listener);
}

void ServerImpl::Remove(const std::shared_ptr<Session>& session) {
  base::MutexLock lock(&mutex_);
  sessions_.erase(session);
  session_removed_.NotifyAll();
  if (is_stopping()) return;
  for (const auto& listener : listeners_) {
    if (!listener->is_waiting) continue;
    listener->is_waiting = false;
    asio::post(listener->acceptor.get_executor(), [this, raw = listener.get()] { Accept(raw); });
  }
}

void ServerImpl::Stop(int64_t grace_ms) {
  base::MutexLock stop_lock(&stop_mutex_);
  if (is_stopping_.exchange(true)) return;
  for (const auto& listener : listeners_) {
    asio::post(listener->acceptor.get_executor(), [raw = listener.get()] {
      error_code ignored;
      raw->acceptor.close(ignored);
      raw->retry.cancel();
    });
  }
  if (!threads_.empty()) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(grace_ms);
    base::MutexLock lock(&mutex_);
    for (const auto& session : sessions_) session->BeginStop();
    while (!sessions_.empty()) {
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (rest.count() <= 0) break;
      session_removed_.WaitFor(&mutex_, rest);
    }
    for (const auto& session : sessions_) session->Abort();
    while (!sessions_.empty()) session_removed_.Wait(&mutex_);
  }
  work_.reset();
  io_.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  listeners_.clear();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(HttpServerOptions options,
                                                               base::ThreadPool* workers,
                                                               const base::Logger* logger) {
  auto server = std::make_unique<ServerImpl>(std::move(options), workers, logger);
  NX_RETURN_IF_ERROR(server->Bind());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace narthex::net
