// Makes the bytes of one HTTP/1 answer: status line, headers, chunks, compression. Knows the
// connection only as a ResponseQueue. Thread-compatible.
#pragma once

#include <memory>
#include <string>

#include "narthex/base/clock.h"
#include "narthex/net/http_server.h"
#include "net/content_encoding.h"
#include "net/response_queue.h"

namespace narthex::net {

// What the answer has to know of its request.
struct RequestTraits {
  bool is_head = false;
  bool is_http_1_0 = false;
  bool keep_alive = true;
  ContentEncoding accepted = ContentEncoding::kIdentity;
};

// A whole plain-text answer that ends the connection, for requests that never reach a handler.
std::string FinalAnswer(int status, int64_t time_ms);

class QueuedResponseWriter final : public ResponseWriter {
 public:
  // `clock` must outlive this.
  QueuedResponseWriter(std::shared_ptr<ResponseQueue> queue, RequestTraits traits,
                       const base::Clock* clock);
  ~QueuedResponseWriter() override;

  void Send(int status, HeaderList headers, std::string body) override;
  void Start(int status, HeaderList headers) override;
  bool Write(std::string_view piece) override;
  void Finish() override;
  bool client_gone() const override { return queue_->client_gone(); }
  void OnClientGone(std::function<void()> on_gone) override;
  void set_allow_compression(bool allow) override { allow_compression_ = allow; }
  int status() const override { return status_; }
  uint64_t num_body_bytes() const override { return num_body_bytes_; }

 private:
  // The encoding of this answer; adds the headers that tell of it.
  ContentEncoding Negotiate(HeaderList* headers) const;
  // Status line and headers with the empty line.
  std::string Head(const HeaderList& headers);
  bool PushChunk(std::string_view bytes);
  AnswerEnd End() const { return traits_.keep_alive ? AnswerEnd::kKeepAlive : AnswerEnd::kClose; }

  const std::shared_ptr<ResponseQueue> queue_;
  RequestTraits traits_;
  const base::Clock* const clock_;
  bool allow_compression_ = true;
  bool has_finished_ = false;
  bool has_body_ = true;  // Of a streamed answer; not of HEAD, 204 and 304.
  int status_ = 0;        // 0: not started.
  uint64_t num_body_bytes_ = 0;
  std::unique_ptr<Compressor> compressor_;  // Of a streamed answer.
};

}  // namespace narthex::net
