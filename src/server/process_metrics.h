// process_* metrics, read from /proc at collection time. Thread-safe, free functions.
#pragma once

#include <cstdint>

#include "narthex/base/clock.h"
#include "narthex/base/metrics.h"

namespace narthex::server {

void AddProcessMetrics(base::Registry* registry, int64_t start_time_ms);

// Resident memory of this process in bytes, 0 if it cannot be read.
uint64_t ResidentBytes();
// Threads of this process, 0 if it cannot be read.
uint64_t NumThreads();

}  // namespace narthex::server
