// Mutex with Clang's thread-safety annotations. It wraps std::mutex because a prebuilt absl::Mutex
// is invisible to the thread sanitizer. Lock order stands in docs/locking.md. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define NX_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define NX_THREAD_ANNOTATION(x)
#endif
#define NX_CAPABILITY(x) NX_THREAD_ANNOTATION(capability(x))
#define NX_SCOPED_CAPABILITY NX_THREAD_ANNOTATION(scoped_lockable)
#define NX_GUARDED_BY(x) NX_THREAD_ANNOTATION(guarded_by(x))
#define NX_PT_GUARDED_BY(x) NX_THREAD_ANNOTATION(pt_guarded_by(x))
#define NX_REQUIRES(...) NX_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define NX_REQUIRES_SHARED(...) NX_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define NX_EXCLUDES(...) NX_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define NX_ACQUIRE(...) NX_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define NX_ACQUIRE_SHARED(...) NX_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define NX_RELEASE(...) NX_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define NX_NO_THREAD_SAFETY_ANALYSIS NX_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace narthex::base {

class NX_CAPABILITY("mutex") Mutex {
 public:
  void Lock() NX_ACQUIRE() { mutex_.lock(); }
  void Unlock() NX_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class NX_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) NX_ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() NX_RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Many readers or one writer.
class NX_CAPABILITY("shared_mutex") SharedMutex {
 public:
  void Lock() NX_ACQUIRE() { mutex_.lock(); }
  void Unlock() NX_RELEASE() { mutex_.unlock(); }
  void LockShared() NX_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void UnlockShared() NX_RELEASE() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class NX_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex* mutex) NX_ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~WriterLock() NX_RELEASE() { mutex_->Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex* const mutex_;
};

class NX_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex* mutex) NX_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_->LockShared();
  }
  ~ReaderLock() NX_RELEASE() { mutex_->UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex* const mutex_;
};

// Waits always sit in a loop over their condition.
class CondVar {
 public:
  // REQUIRES: *mutex is held; it is held again on return.
  void Wait(Mutex* mutex) NX_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False on timeout.
  bool WaitFor(Mutex* mutex, std::chrono::milliseconds timeout) NX_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const bool signalled = condition_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return signalled;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace narthex::base
