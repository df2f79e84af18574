#include "narthex/base/scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/base/mutex.h"

namespace narthex::base {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// Wake-ups are this far apart at most, so that a clock which jumps is noticed.
constexpr int64_t kMaxWaitMs = 1'000;

struct TimedTask {
  int64_t due_ns;
  uint64_t sequence;  // Keeps the order of tasks due at the same time.
  std::function<void()> run;
};

bool IsLater(const TimedTask& a, const TimedTask& b) {
  return std::pair(a.due_ns, a.sequence) > std::pair(b.due_ns, b.sequence);
}

}  // namespace

struct TimerThread::Impl {
  explicit Impl(const Clock* used_clock) : clock(used_clock) {}

  const Clock* const clock;
  Mutex mutex;
  CondVar changed;
  bool stopped NX_GUARDED_BY(mutex) = false;
  uint64_t next_sequence NX_GUARDED_BY(mutex) = 0;
  std::vector<TimedTask> heap NX_GUARDED_BY(mutex);  // The earliest task in front.
  std::thread thread;

  void Loop();
  // The next due task; empty when the scheduler stopped. Blocks.
  std::function<void()> WaitForTask();
};

std::function<void()> TimerThread::Impl::WaitForTask() {
  MutexLock lock(&mutex);
  while (!stopped) {
    if (heap.empty()) {
      changed.Wait(&mutex);
      continue;
    }
    const int64_t wait_ns = heap.front().due_ns - clock->MonotonicNs();
    if (wait_ns <= 0) {
      std::pop_heap(heap.begin(), heap.end(), IsLater);
      std::function<void()> task = std::move(heap.back().run);
      heap.pop_back();
      return task;
    }
    const int64_t wait_ms = std::min((wait_ns + kNsPerMs - 1) / kNsPerMs, kMaxWaitMs);
    changed.WaitFor(&mutex, std::chrono::milliseconds(wait_ms));
  }
  return nullptr;
}

void TimerThread::Impl::Loop() {
  while (const std::function<void()> task = WaitForTask()) task();
}

TimerThread::TimerThread(std::string name, const Clock* clock)
    : impl_(std::make_unique<Impl>(clock)) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->Loop(); });
  pthread_setname_np(impl_->thread.native_handle(), name.substr(0, 15).c_str());
}

TimerThread::~TimerThread() { NX_CHECK(!impl_->thread.joinable()); }

void TimerThread::RunAt(int64_t due_ns, std::function<void()> task) {
  MutexLock lock(&impl_->mutex);
  if (impl_->stopped) return;
  impl_->heap.push_back({due_ns, impl_->next_sequence++, std::move(task)});
  std::push_heap(impl_->heap.begin(), impl_->heap.end(), IsLater);
  impl_->changed.NotifyOne();
}

void TimerThread::Stop() {
  std::vector<TimedTask> dropped;
  {
    MutexLock lock(&impl_->mutex);
    impl_->stopped = true;
    dropped.swap(impl_->heap);
    impl_->changed.NotifyAll();
  }
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace narthex::base
