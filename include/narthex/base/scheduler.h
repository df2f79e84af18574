// Runs tasks at given times, so that no thread sleeps per target or per rule group. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "narthex/base/clock.h"

namespace narthex::base {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Runs `task` once, when the clock's monotonic time reaches `due_ns` (at once if it has). Tasks
  // run one at a time, in order of their time, and must not block: they hand their work to a pool.
  // After the scheduler stopped, tasks are dropped unrun.
  virtual void RunAt(int64_t due_ns, std::function<void()> task) = 0;
};

// A scheduler with one thread of its own.
class TimerThread final : public Scheduler {
 public:
  // `name` names the thread. `clock` must outlive this.
  TimerThread(std::string name, const Clock* clock);
  // REQUIRES: Stop() was called.
  ~TimerThread() override;

  void RunAt(int64_t due_ns, std::function<void()> task) override;
  // Waits for a running task, drops the others, joins the thread. Idempotent. Not from a task.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace narthex::base
