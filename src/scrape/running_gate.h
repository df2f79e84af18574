// Counts work that runs and waits until none is left. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

#include "narthex/base/mutex.h"

namespace narthex::scrape {

class RunningGate : public std::enable_shared_from_this<RunningGate> {
 public:
  // Work runs until the last copy of the pass is gone. Null once the gate is closed.
  std::shared_ptr<void> Enter() {
    base::MutexLock lock(&mutex_);
    if (closed_) return nullptr;
    ++num_running_;
    return std::shared_ptr<void>(this, [self = shared_from_this()](void*) { self->Leave(); });
  }

  // Lets nobody in any more and waits for the others to leave. Idempotent.
  void CloseAndWait() {
    base::MutexLock lock(&mutex_);
    closed_ = true;
    while (num_running_ > 0) idle_.Wait(&mutex_);
  }

 private:
  void Leave() {
    base::MutexLock lock(&mutex_);
    if (--num_running_ == 0) idle_.NotifyAll();
  }

  base::Mutex mutex_;
  base::CondVar idle_;
  bool closed_ NX_GUARDED_BY(mutex_) = false;
  size_t num_running_ NX_GUARDED_BY(mutex_) = 0;
};

}  // namespace narthex::scrape
