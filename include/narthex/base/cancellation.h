// A cancellation flag with a deadline, shared between whoever waits for a piece of work and the
// work itself. Long loops call Check() every 1,024 items. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "narthex/base/clock.h"

namespace narthex::base {

class Cancellation {
 public:
  static constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

  // `deadline_ns` is on `clock`'s monotonic scale. `clock` must outlive this.
  explicit Cancellation(const Clock* clock, int64_t deadline_ns = kNoDeadline)
      : clock_(clock), deadline_ns_(deadline_ns) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // kCancelled after Cancel(), kDeadlineExceeded past the deadline, else OK.
  absl::Status Check() const;

 private:
  const Clock* const clock_;
  const int64_t deadline_ns_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace narthex::base
