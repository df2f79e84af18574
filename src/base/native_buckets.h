// Arithmetic of native histogram buckets for the server's own metrics. Bucket `index` of schema s
// holds (2^((index-1) / 2^s), 2^(index / 2^s)]. Pure; free functions.
#pragma once

#include <cstdint>

#include "narthex/base/metrics.h"

namespace narthex::base {

// Growth of at most 1.1 from bucket to bucket.
inline constexpr int32_t kOwnMetricsSchema = 3;
inline constexpr int32_t kCoarsestSchema = -4;
// Values up to this magnitude count as zero: 2^-128.
inline constexpr double kOwnMetricsZeroThreshold = 0x1p-128;

// REQUIRES: value > 0 (may be infinite), kCoarsestSchema <= schema <= kOwnMetricsSchema.
int32_t NativeBucketIndex(double value, int32_t schema);

// Counts one observation (not NaN); halves the resolution as often as it takes to stay within
// `max_buckets` (0: no limit), down to kCoarsestSchema.
void ObserveNative(double value, uint32_t max_buckets, NativeHistogramData* data);

}  // namespace narthex::base
