#include "net/response_queue.h"

#include <utility>

namespace narthex::net {

namespace {

// While a maker waits, other answers may give their part of the budget back.
constexpr std::chrono::milliseconds kRecheckTime(50);

}  // namespace

ResponseQueue::ResponseQueue(Limits limits, std::shared_ptr<ResponseBudget> budget,
                             std::function<void()> wake)
    : limits_(limits), budget_(std::move(budget)), wake_(std::move(wake)) {}

ResponseQueue::~ResponseQueue() {
  base::MutexLock lock(&mutex_);
  DropPieces();
}

void ResponseQueue::DropPieces() {
  pieces_.clear();
  budget_->Remove(num_queued_bytes_);
  num_queued_bytes_ = 0;
}

// False if there is none in time.
bool ResponseQueue::WaitForRoom() {
  auto deadline = std::chrono::steady_clock::now() + limits_.stall_timeout;
  uint64_t num_taken = num_taken_;
  while (!is_broken_ && num_queued_bytes_ > limits_.max_queued_bytes && budget_->is_used_up()) {
    const auto now = std::chrono::steady_clock::now();
    if (num_taken_ != num_taken) {
      num_taken = num_taken_;
      deadline = now + limits_.stall_timeout;
    }
    if (now >= deadline) return false;
    drained_.WaitFor(&mutex_, kRecheckTime);
  }
  return true;
}

bool ResponseQueue::Push(std::string bytes) {
  base::MutexLock lock(&mutex_);
  if (!WaitForRoom()) {
    DropPieces();
    is_broken_ = true;
    has_ended_ = true;
    end_ = AnswerEnd::kAbort;
    if (wake_) wake_();
  }
  if (is_broken_) return false;
  if (bytes.empty()) return true;
  num_queued_bytes_ += bytes.size();
  budget_->Add(bytes.size());
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
    budget_->Remove(bytes->size());
    ++num_taken_;
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
    DropPieces();
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
