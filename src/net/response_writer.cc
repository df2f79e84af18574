#include "net/response_writer.h"

#include <charconv>
#include <utility>

#include "narthex/base/check.h"
#include "net/headers.h"

namespace narthex::net {
namespace {

// Compressing less than this saves no packet.
constexpr size_t kMinCompressedBytes = 512;

bool MayHaveBody(int status) { return status >= 200 && status != 204 && status != 304; }

// A value may hold text from outside (a redirect's target): nothing in it may end the header.
void AppendHeader(std::string* out, std::string_view name, std::string_view value) {
  base::StrAppend(out, name, ": ");
  for (const char c : value) {
    out->push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
  }
  out->append("\r\n");
}

std::string StatusLine(int status, int64_t time_ms) {
  return base::StrCat("HTTP/1.1 ", status, " ", ReasonOf(status), "\r\nDate: ", HttpDate(time_ms),
                      "\r\n");
}

}  // namespace

std::string FinalAnswer(int status, int64_t time_ms) {
  const std::string body = base::StrCat(status, " ", ReasonOf(status));
  return base::StrCat(StatusLine(status, time_ms),
                      "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
                      "Content-Length: ",
                      body.size(), "\r\n\r\n", body);
}

QueuedResponseWriter::QueuedResponseWriter(std::shared_ptr<ResponseQueue> queue,
                                           RequestTraits traits, const base::Clock* clock)
    : queue_(std::move(queue)), traits_(traits), clock_(clock) {}

QueuedResponseWriter::~QueuedResponseWriter() {
  if (has_finished_) return;
  if (status_ == 0) {
    Send(500, {{"Content-Type", "text/plain; charset=utf-8"}}, "Internal Server Error\n");
  } else {
    queue_->End(AnswerEnd::kAbort);  // The client must not take it for complete.
  }
}

ContentEncoding QueuedResponseWriter::Negotiate(HeaderList* headers) const {
  if (!allow_compression_) return ContentEncoding::kIdentity;
  headers->emplace_back("Vary", "Accept-Encoding");
  return traits_.is_head ? ContentEncoding::kIdentity : traits_.accepted;
}

std::string QueuedResponseWriter::Head(const HeaderList& headers) {
  std::string out = StatusLine(status_, clock_->NowMs());
  for (const auto& [name, value] : headers) {
    if (EqualsIgnoringCase(name, "Connection")) {
      if (HasToken(value, "close")) traits_.keep_alive = false;
      continue;
    }
    AppendHeader(&out, name, value);
  }
  if (!traits_.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (traits_.is_http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  return out;
}

void QueuedResponseWriter::Send(int status, HeaderList headers, std::string body) {
  NX_DCHECK(status_ == 0);
  status_ = status;
  num_body_bytes_ = body.size();
  if (MayHaveBody(status)) {
    const ContentEncoding encoding = Negotiate(&headers);
    if (encoding != ContentEncoding::kIdentity && body.size() >= kMinCompressedBytes) {
      Compressor compressor(encoding);
      std::string compressed;
      compressor.Append(body, &compressed);
      compressor.Finish(&compressed);
      body = std::move(compressed);
      headers.emplace_back("Content-Encoding", NameOf(encoding));
    }
    headers.emplace_back("Content-Length", base::StrCat(body.size()));
  }
  const bool sends_body = MayHaveBody(status) && !traits_.is_head;
  queue_->ForgetClientGone();
  queue_->Push(Head(headers));
  if (sends_body) queue_->Push(std::move(body));
  has_finished_ = true;
  queue_->End(End());
}

void QueuedResponseWriter::Start(int status, HeaderList headers) {
  NX_DCHECK(status_ == 0);
  status_ = status;
  has_body_ = MayHaveBody(status) && !traits_.is_head;
  if (MayHaveBody(status)) {
    if (const ContentEncoding encoding = Negotiate(&headers);
        encoding != ContentEncoding::kIdentity) {
      compressor_ = std::make_unique<Compressor>(encoding);
      headers.emplace_back("Content-Encoding", NameOf(encoding));
    }
    // HTTP/1.0 has no chunks: there the connection's end is the body's.
    if (traits_.is_http_1_0) {
      traits_.keep_alive = false;
    } else {
      headers.emplace_back("Transfer-Encoding", "chunked");
    }
  }
  queue_->Push(Head(headers));
}

bool QueuedResponseWriter::PushChunk(std::string_view bytes) {
  if (bytes.empty()) return queue_->Push("");
  if (traits_.is_http_1_0) return queue_->Push(std::string(bytes));
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  std::string chunk;
  chunk.reserve(bytes.size() + sizeof size + 4);
  chunk.append(size, end);
  chunk.append("\r\n").append(bytes).append("\r\n");
  return queue_->Push(std::move(chunk));
}

bool QueuedResponseWriter::Write(std::string_view piece) {
  NX_DCHECK(status_ != 0 && !has_finished_);
  num_body_bytes_ += piece.size();
  if (!has_body_) return queue_->Push("");
  if (compressor_ == nullptr) return PushChunk(piece);
  std::string compressed;
  compressor_->Append(piece, &compressed);
  return PushChunk(compressed);
}

void QueuedResponseWriter::Finish() {
  NX_DCHECK(status_ != 0);
  if (has_finished_) return;
  has_finished_ = true;
  queue_->ForgetClientGone();
  if (has_body_) {
    if (compressor_ != nullptr) {
      std::string compressed;
      compressor_->Finish(&compressed);
      PushChunk(compressed);
    }
    if (!traits_.is_http_1_0) queue_->Push("0\r\n\r\n");
  }
  queue_->End(End());
}

void QueuedResponseWriter::OnClientGone(std::function<void()> on_gone) {
  queue_->OnClientGone(std::move(on_gone));
}

}  // namespace narthex::net
