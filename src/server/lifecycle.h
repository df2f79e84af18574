// What the process is asked to do from outside: signals, and their equivalents over HTTP.
// Thread-safe.
#pragma once

#include <cstdint>

namespace narthex::server {

enum class LifecycleEvent : uint8_t { kReload, kTerminate };

class Lifecycle {
 public:
  // Blocks SIGINT, SIGTERM and SIGHUP in the calling thread, and thereby in all threads it starts
  // later; ignores SIGPIPE. Construct one, in main, before any thread.
  Lifecycle();
  ~Lifecycle();
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  // Waits for SIGHUP (kReload), SIGINT, SIGTERM or Terminate() (kTerminate).
  LifecycleEvent Wait();
  // As SIGTERM. False if that was asked for before.
  bool Terminate();

 private:
  const int signal_fd_;
  const int terminate_fd_;
};

}  // namespace narthex::server
