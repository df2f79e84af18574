#include "narthex/base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/base/mutex.h"

namespace narthex::base {

struct ThreadPool::Impl {
  explicit Impl(size_t max_tasks) : max_queued_tasks(max_tasks) {}

  // The life of one thread: tasks until the pool stops and the queue is empty. A task that throws
  // ends the process.
  void Run() noexcept {
    MutexLock lock(&mutex);
    while (true) {
      while (tasks.empty() && !is_stopping) task_or_stop.Wait(&mutex);
      if (tasks.empty()) return;
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      mutex.Unlock();
      task();
      task = nullptr;  // What it holds is released before the next wait.
      mutex.Lock();
    }
  }

  const size_t max_queued_tasks;
  mutable Mutex mutex;
  CondVar task_or_stop;
  std::deque<std::function<void()>> tasks NX_GUARDED_BY(mutex);
  bool is_stopping NX_GUARDED_BY(mutex) = false;

  Mutex join_mutex;  // Taken first; a second Stop() waits for the first one's joins.
  std::vector<std::thread> threads NX_GUARDED_BY(join_mutex);
};

ThreadPool::ThreadPool(std::string name, size_t num_threads, size_t max_queued_tasks)
    : impl_(std::make_unique<Impl>(max_queued_tasks)) {
  NX_CHECK_GT(num_threads, size_t{0});
  constexpr size_t kMaxNameBytes = 15;  // The kernel's limit.
  name.resize(std::min(name.size(), kMaxNameBytes));
  MutexLock lock(&impl_->join_mutex);
  for (size_t i = 0; i < num_threads; ++i) {
    impl_->threads.emplace_back([impl = impl_.get()] { impl->Run(); });
    pthread_setname_np(impl_->threads.back().native_handle(), name.c_str());
  }
}

ThreadPool::~ThreadPool() {
  MutexLock lock(&impl_->join_mutex);
  NX_CHECK(impl_->threads.empty());
}

bool ThreadPool::TrySubmit(std::function<void()> task) {
  {
    MutexLock lock(&impl_->mutex);
    if (impl_->is_stopping || impl_->tasks.size() >= impl_->max_queued_tasks) return false;
    impl_->tasks.push_back(std::move(task));
  }
  impl_->task_or_stop.NotifyOne();
  return true;
}

void ThreadPool::Stop() {
  MutexLock join_lock(&impl_->join_mutex);
  {
    MutexLock lock(&impl_->mutex);
    impl_->is_stopping = true;
  }
  impl_->task_or_stop.NotifyAll();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
}

size_t ThreadPool::num_queued() const {
  MutexLock lock(&impl_->mutex);
  return impl_->tasks.size();
}

}  // namespace narthex::base
