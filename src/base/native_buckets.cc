#include "base/native_buckets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace narthex::base {
namespace {

// 2^(i/8 - 1): lower borders of the eight buckets between 0.5 and 1 at schema 3. A lower schema
// uses every second, fourth or eighth of them.
constexpr double kBorders[] = {0.5,
                               0.5452538663326288,
                               0.5946035575013605,
                               0.6484197773255048,
                               0.7071067811865475,
                               0.7711054127039704,
                               0.8408964152537144,
                               0.9170040432046711};
static_assert(std::size(kBorders) == size_t{1} << kOwnMetricsSchema);

// Index of a bucket after the schema went down by one: pairs (1,2), (3,4), (-1,0) merge.
int32_t HalvedIndex(int32_t index) { return (index + 1) >> 1; }

void HalveResolution(std::map<int32_t, uint64_t>* buckets) {
  std::map<int32_t, uint64_t> merged;
  for (const auto& [index, count] : *buckets) merged[HalvedIndex(index)] += count;
  *buckets = std::move(merged);
}

}  // namespace

int32_t NativeBucketIndex(double value, int32_t schema) {
  const bool is_infinite = std::isinf(value);
  if (is_infinite) value = std::numeric_limits<double>::max();
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // In [0.5, 1).
  int32_t index = 0;
  if (schema > 0) {
    const int32_t stride = 1 << (kOwnMetricsSchema - schema);
    const int32_t buckets_per_octave = 1 << schema;
    int32_t position = 0;
    while (position < buckets_per_octave && kBorders[position * stride] < fraction) ++position;
    index = position + (exponent - 1) * buckets_per_octave;
  } else {
    // A power of two is the upper border of the bucket below.
    index = fraction == 0.5 ? exponent - 1 : exponent;
    const int32_t shift = -schema;
    index = (index + (1 << shift) - 1) >> shift;
  }
  return is_infinite ? index + 1 : index;
}

void ObserveNative(double value, uint32_t max_buckets, NativeHistogramData* data) {
  const double magnitude = std::fabs(value);
  if (!(magnitude > data->zero_threshold)) {
    ++data->zero_count;
    return;
  }
  ++(value > 0 ? data->positive : data->negative)[NativeBucketIndex(magnitude, data->schema)];
  while (max_buckets > 0 && data->positive.size() + data->negative.size() > max_buckets &&
         data->schema > kCoarsestSchema) {
    --data->schema;
    HalveResolution(&data->positive);
    HalveResolution(&data->negative);
  }
}

}  // namespace narthex::base
