// Time as an injected interface, so that tests move it by hand. Implementations are thread-safe.
#pragma once

#include <cstdint>

namespace narthex::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Unix time in milliseconds; may jump.
  virtual int64_t NowMs() const = 0;
  // Nanoseconds from an unspecified start; never goes back. For durations.
  virtual int64_t MonotonicNs() const = 0;
};

// The machine's clocks. Immutable; lives for the whole process.
const Clock& SystemClock();

}  // namespace narthex::base
