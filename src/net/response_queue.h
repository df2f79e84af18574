// The bytes of one answer on their way from the thread that makes them to the connection that sends
// them, and the news that the client went away on its way back. Bounded: all answers share a
// budget; within it a slow client costs memory and nobody's time, beyond it the maker of an answer
// waits for its client, and a client that takes nothing for long loses the answer. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "narthex/base/mutex.h"

namespace narthex::net {

// What becomes of the connection after the answer.
enum class AnswerEnd : uint8_t { kKeepAlive, kClose, kAbort };

// Bytes queued by all answers. Thread-safe.
class ResponseBudget {
 public:
  explicit ResponseBudget(uint64_t max_bytes) : max_bytes_(max_bytes) {}
  void Add(size_t num_bytes) { num_bytes_ += num_bytes; }
  void Remove(size_t num_bytes) { num_bytes_ -= num_bytes; }
  bool is_used_up() const { return num_bytes_ > max_bytes_; }

 private:
  const uint64_t max_bytes_;
  std::atomic<uint64_t> num_bytes_{0};
};

class ResponseQueue {
 public:
  enum class Next : uint8_t { kBytes, kWait, kEnd };

  struct Limits {
    size_t max_queued_bytes = 0;  // Of this answer, whatever the others have.
    std::chrono::milliseconds stall_timeout{0};
  };

  // `wake` is called, under the queue's lock, whenever the connection has something to do; it must
  // not block. It is not called any more after Break() or Detach().
  ResponseQueue(Limits limits, std::shared_ptr<ResponseBudget> budget, std::function<void()> wake);
  ~ResponseQueue();

  // The maker's side. Blocks while more than the limit is queued and the budget is used up; false
  // once the connection broke, or nothing was taken for the stall timeout: the answer is then cut
  // off.
  bool Push(std::string bytes);
  // No Push() may follow. A second end is ignored.
  void End(AnswerEnd end);
  // The client closed its side or the connection broke; it may still read the answer.
  bool client_gone() const;
  // As ResponseWriter::OnClientGone().
  void OnClientGone(std::function<void()> on_gone);
  // The answer is made: whether the client goes away concerns its maker no more. To be called
  // before the last Push(), since the client may leave as soon as it has that.
  void ForgetClientGone();

  // The connection's side. kBytes: `*bytes` is to be sent. kEnd: all is sent, `*end` is set.
  Next Pop(std::string* bytes, AnswerEnd* end);
  // The client closed its side.
  void MarkClientGone();
  // Nothing can be sent any more.
  void Break();
  // All is sent; the connection goes on without this queue.
  void Detach();

 private:
  bool WaitForRoom() NX_REQUIRES(mutex_);
  void DropPieces() NX_REQUIRES(mutex_);

  const Limits limits_;
  const std::shared_ptr<ResponseBudget> budget_;
  mutable base::Mutex mutex_;
  base::CondVar drained_;
  std::function<void()> wake_ NX_GUARDED_BY(mutex_);
  std::function<void()> on_gone_ NX_GUARDED_BY(mutex_);
  std::deque<std::string> pieces_ NX_GUARDED_BY(mutex_);
  size_t num_queued_bytes_ NX_GUARDED_BY(mutex_) = 0;
  uint64_t num_taken_ NX_GUARDED_BY(mutex_) = 0;  // Pieces that Pop() handed out.
  bool has_ended_ NX_GUARDED_BY(mutex_) = false;
  bool is_gone_ NX_GUARDED_BY(mutex_) = false;
  bool is_broken_ NX_GUARDED_BY(mutex_) = false;
  bool is_made_ NX_GUARDED_BY(mutex_) = false;
  AnswerEnd end_ NX_GUARDED_BY(mutex_) = AnswerEnd::kKeepAlive;
};

}  // namespace narthex::net
