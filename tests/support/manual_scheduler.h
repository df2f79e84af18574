// A scheduler that runs when a test moves time, on the test's thread. Tasks may schedule others.
// Thread-safe, but for AdvanceMs(), which one thread calls.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "narthex/base/mutex.h"
#include "narthex/base/scheduler.h"
#include "tests/support/manual_clock.h"

namespace narthex::support {

class ManualScheduler final : public base::Scheduler {
 public:
  // `clock` must outlive this.
  explicit ManualScheduler(ManualClock* clock) : clock_(clock) {}

  void RunAt(int64_t due_ns, std::function<void()> task) override {
    base::MutexLock lock(&mutex_);
    tasks_.emplace(due_ns, std::move(task));
  }

  // Moves the clock on, stopping at each task that falls due.
  void AdvanceMs(int64_t duration_ms) {
    const int64_t end_ns = clock_->MonotonicNs() + duration_ms * kNsPerMs;
    while (const std::function<void()> task = TakeDue(end_ns)) task();
    clock_->AdvanceMs((end_ns - clock_->MonotonicNs()) / kNsPerMs);
  }

  size_t num_tasks() const {
    base::MutexLock lock(&mutex_);
    return tasks_.size();
  }

 private:
  static constexpr int64_t kNsPerMs = 1'000'000;

  // The next task due by `end_ns`, with the clock moved to its time; empty if there is none.
  std::function<void()> TakeDue(int64_t end_ns) {
    base::MutexLock lock(&mutex_);
    if (tasks_.empty() || tasks_.begin()->first > end_ns) return nullptr;
    const int64_t wait_ns = tasks_.begin()->first - clock_->MonotonicNs();
    if (wait_ns > 0) clock_->AdvanceMs((wait_ns + kNsPerMs - 1) / kNsPerMs);
    std::function<void()> task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    return task;
  }

  ManualClock* const clock_;
  mutable base::Mutex mutex_;
  std::multimap<int64_t, std::function<void()>> tasks_ NX_GUARDED_BY(mutex_);
};

}  // namespace narthex::support
