#include "server/lifecycle.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "narthex/base/check.h"

namespace narthex::server {
namespace {

int MakeSignalFd() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

Lifecycle::Lifecycle()
    : signal_fd_(MakeSignalFd()), terminate_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  NX_CHECK_GE(signal_fd_, 0);
  NX_CHECK_GE(terminate_fd_, 0);
}

Lifecycle::~Lifecycle() {
  close(signal_fd_);
  close(terminate_fd_);
}

LifecycleEvent Lifecycle::Wait() {
  for (;;) {
    pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {terminate_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return LifecycleEvent::kTerminate;
    signalfd_siginfo info{};
    if (read(signal_fd_, &info, sizeof info) != sizeof info) continue;
    return info.ssi_signo == SIGHUP ? LifecycleEvent::kReload : LifecycleEvent::kTerminate;
  }
}

bool Lifecycle::Terminate() {
  // The counter stays set: nobody reads it off.
  pollfd fd = {terminate_fd_, POLLIN, 0};
  const bool first = poll(&fd, 1, 0) == 0;
  const uint64_t one = 1;
  const bool written = write(terminate_fd_, &one, sizeof one) == sizeof one;
  return first && written;
}

}  // namespace narthex::server
