#include "net/response_queue.h"

#include <utility>

namespace narthex::net {

ResponseQueue::ResponseQueue(size_t max_queued_bytes, std::function<void()> wake)
    : max_queued_bytes_(max_queued_bytes), wake_(std::move(wake)) {}

bool ResponseQueue::Push(std::string bytes) {
  base::MutexLock lock(&mutex_);
  while (!is_broken_ && num_queued_bytes_ > max_queued_bytes_) drained_.Wait(&mutex_);
  if (is_broken_) return false;
  if (bytes.empty()) return true;
  num_queued_bytes_ += bytes.size();
  pieces_.push_back(std::move(bytes));
  if (wake_) wake_();
  return true;
}

void ResponseQueue::End(AnswerEnd end) {
  base::MutexLock lock(&mutex_);
  if (has_ended_) return;
  has_ended_ = true;
  end_ = end;
  if (wake_) wake_();
}

bool ResponseQueue::client_gone() const {
  base::MutexLock lock(&mutex_);
  return is_gone_;
}

void ResponseQueue::OnClientGone(std::function<void()> on_gone) {
  {
    base::MutexLock lock(&mutex_);
    if (is_made_) return;
    if (!is_gone_) {
      on_gone_ = std::move(on_gone);
      return;
    }
  }
  on_gone();
}

ResponseQueue::Next ResponseQueue::Pop(std::string* bytes, AnswerEnd* end) {
  base::MutexLock lock(&mutex_);
  if (!pieces_.empty()) {
    *bytes = std::move(pieces_.front());
    pieces_.pop_front();
    num_queued_bytes_ -= bytes->size();
    drained_.NotifyAll();
    return Next::kBytes;
  }
  if (!has_ended_) return Next::kWait;
  *end = end_;
  return Next::kEnd;
}

void ResponseQueue::MarkClientGone() {
  std::function<void()> on_gone;
  {
    base::MutexLock lock(&mutex_);
    is_gone_ = true;
    on_gone = std::exchange(on_gone_, nullptr);
  }
  if (on_gone) on_gone();
}

void ResponseQueue::Break() {
  {
    base::MutexLock lock(&mutex_);
    is_broken_ = true;
    wake_ = nullptr;
    pieces_.clear();
    num_queued_bytes_ = 0;
    drained_.NotifyAll();
  }
  MarkClientGone();
}

void ResponseQueue::ForgetClientGone() {
  base::MutexLock lock(&mutex_);
  is_made_ = true;
  on_gone_ = nullptr;
}

void ResponseQueue::Detach() {
  base::MutexLock lock(&mutex_);
  is_made_ = true;
  wake_ = nullptr;
  on_gone_ = nullptr;
}

}  // namespace narthex::net
