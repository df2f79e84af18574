// Brings a head back from its write-ahead log: the newest checkpoint, then the segments after it.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "head/head_core.h"

namespace narthex::head {

// REQUIRES: nobody else uses `core` yet. Damage is cut off, counted and logged; what was read
// before it stays. kDataLoss: the checkpoint is damaged, which cannot be repaired.
absl::Status ReplayWal(const HeadOptions& options, const HeadContext& context, HeadMetrics* metrics,
                       HeadCore* core, const std::function<void(const ReplayProgress&)>& progress);

}  // namespace narthex::head
