// A fixed number of threads over a bounded queue of tasks. A task that throws ends the process:
// whoever submits it catches. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace narthex::base {

class ThreadPool {
 public:
  // `name` names the threads (15 bytes are kept). REQUIRES: num_threads > 0.
  ThreadPool(std::string name, size_t num_threads, size_t max_queued_tasks);
  // REQUIRES: Stop() was called.
  ~ThreadPool();

  // Queues `task`; false when the queue is full or the pool stopped. Never blocks.
  [[nodiscard]] bool TrySubmit(std::function<void()> task);
  // Refuses new tasks, runs what is queued, joins the threads. Idempotent. Not from a task.
  void Stop();
  // Tasks that no thread has taken yet.
  size_t num_queued() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace narthex::base
