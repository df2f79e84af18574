// Upper bounds of exponential buckets: 2^(index * 2^-schema), split into a fraction in [0.5, 1)
// from a table and a power of two.
//
// Other programs read and write the same buckets, so the table must agree with theirs in every bit.
// Theirs is not the correctly rounded one. It comes from a recurrence, repeated here: the table of
// schema s has every second entry from schema s-1, so that schemas share their bounds exactly, and
// between them the entry before times 2^(2^-s). Rounding errors of these products are part of it.
#include <array>
#include <cmath>
#include <limits>

#include "narthex/base/check.h"
#include "narthex/model/histogram.h"

namespace narthex::model {
namespace {

constexpr int kNumSteps = 1 << kMaxExponentialSchema;
using BoundTable = std::array<double, kNumSteps>;

// 2^(2^-s) for s = 1..8; the first is one unit below the nearest double, as in the table to match.
constexpr std::array<double, kMaxExponentialSchema> kGrowthFactors = {
    0x1.6a09e667f3bccp+0, 0x1.306fe0a31b715p+0, 0x1.172b83c7d517bp+0, 0x1.0b5586cf9890fp+0,
    0x1.059b0d3158574p+0, 0x1.02c9a3e778061p+0, 0x1.0163da9fb3335p+0, 0x1.00b1afa5abcbfp+0};

// Entry k is the fraction of 2^(k/256); schema s uses every 2^(8-s)th entry.
constexpr BoundTable MakeBoundTable() {
  BoundTable table{};
  table[0] = 0.5;
  for (int schema = 1; schema <= kMaxExponentialSchema; ++schema) {
    const int step = kNumSteps >> schema;
    for (int k = step; k < kNumSteps; k += 2 * step) {
      table[static_cast<size_t>(k)] =
          table[static_cast<size_t>(k - step)] * kGrowthFactors[static_cast<size_t>(schema - 1)];
    }
  }
  return table;
}

constexpr BoundTable kBoundTable = MakeBoundTable();
static_assert(kBoundTable[128] == 0x1.6a09e667f3bccp-1);
static_assert(kBoundTable[255] == 0x1.fe9d96b2a23d6p-1);

// The bucket with this power of two as its bound holds the largest finite double; the one after it
// is for the infinities.
constexpr int64_t kOverflowExponent = 1024;

double PowerOfTwo(double fraction, int64_t exponent) {
  constexpr int64_t kFarEnough = 4096;  // Beyond any double; keeps the exponent within an int.
  if (exponent > kFarEnough) exponent = kFarEnough;
  if (exponent < -kFarEnough) exponent = -kFarEnough;
  return std::ldexp(fraction, static_cast<int>(exponent));
}

}  // namespace

double ExponentialUpperBound(int64_t index, int32_t schema) {
  NX_DCHECK(schema >= kMinReservedSchema && schema <= kMaxExponentialSchema);
  if (schema < 0) {
    const int64_t exponent = index * (int64_t{1} << -schema);
    if (exponent == kOverflowExponent) return std::numeric_limits<double>::max();
    return PowerOfTwo(1, exponent);
  }
  const int64_t within = index & ((1 << schema) - 1);
  const int64_t exponent = (index >> schema) + 1;
  if (within == 0 && exponent == kOverflowExponent + 1) return std::numeric_limits<double>::max();
  return PowerOfTwo(kBoundTable[static_cast<size_t>(within) << (kMaxExponentialSchema - schema)],
                    exponent);
}

}  // namespace narthex::model
