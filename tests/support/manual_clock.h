// A clock that tests move by hand. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "narthex/base/clock.h"

namespace narthex::support {

class ManualClock final : public base::Clock {
 public:
  explicit ManualClock(int64_t now_ms = 0) : now_ms_(now_ms) {}

  int64_t NowMs() const override { return now_ms_.load(); }
  int64_t MonotonicNs() const override { return monotonic_ns_.load(); }

  // Both scales go on.
  void AdvanceMs(int64_t duration_ms) {
    now_ms_ += duration_ms;
    monotonic_ns_ += duration_ms * 1'000'000;
  }
  // Only the wall clock jumps.
  void SetNowMs(int64_t now_ms) { now_ms_ = now_ms; }

 private:
  std::atomic<int64_t> now_ms_;
  std::atomic<int64_t> monotonic_ns_{0};
};

}  // namespace narthex::support
