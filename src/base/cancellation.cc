#include "narthex/base/cancellation.h"

#include "narthex/base/status.h"

namespace narthex::base {

absl::Status Cancellation::Check() const {
  if (cancelled()) return Cancelled("cancelled");
  if (deadline_ns_ != kNoDeadline && clock_->MonotonicNs() > deadline_ns_) {
    return DeadlineExceeded("deadline exceeded");
  }
  return absl::OkStatus();
}

}  // namespace narthex::base
