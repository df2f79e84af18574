// A histogram taken apart, for operations that change which buckets there are: each side is a list
// of spans and of cells, a cell being a bucket's count with its compensation (zero where there is
// none). Private to the arithmetic. Plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "narthex/model/histogram.h"
#include "narthex/model/histogram_view.h"
#include "narthex/model/kahan.h"

namespace narthex::model {

// Whether sums of cells are compensated.
enum class Summation : uint8_t { kPlain, kCompensated };
enum class Sign : uint8_t { kPlus, kMinus };

struct BucketSideParts {
  std::vector<BucketSpan> spans;
  std::vector<KahanSum> cells;

  // Appends a bucket. REQUIRES: `index` is greater than that of any bucket before.
  void Append(int64_t index, KahanSum cell);
  int64_t end_index = 0;  // One past the last bucket's index; only for Append().
};

struct HistogramParts {
  int32_t schema = 0;
  double zero_threshold = 0;
  KahanSum zero;
  BucketSideParts positive;
  BucketSideParts negative;
  std::vector<double> custom_bounds;
};

// `compensation` is empty or as the view's buckets.
HistogramParts TakeApart(const HistogramView& histogram, std::span<const double> compensation);

// Puts layout and buckets (and compensation, unless null) of `parts` into `*histogram`. Keeps the
// layout it has, or takes `candidate`, if that is equal.
void PutTogether(HistogramParts parts, const LayoutPtr& candidate, FloatHistogram* histogram,
                 std::vector<double>* compensation);

// Merges the buckets to the lower resolution `schema`.
void ReduceParts(HistogramParts* parts, int32_t schema, Summation summation);

// Removes cells that are zero with their compensation; see Compact() of histogram_math.h.
void CompactSide(BucketSideParts* side, int64_t max_empty_buckets);

// What the zero bucket holds when it is widened to at least `*threshold` (>= the present one): if
// that lies within a populated bucket, `*threshold` is raised to the bucket's outer bound.
KahanSum WidenedZero(const HistogramParts& parts, double* threshold);

// Widens the zero bucket to `threshold`, which must be one that WidenedZero() gave, and drops the
// buckets it swallowed.
void SwallowBuckets(HistogramParts* parts, double threshold);

// target +- other, bucket by bucket, of one schema. Leading buckets of `other` that end at or below
// `zero_threshold` are left out, being part of its zero bucket (not for custom buckets).
BucketSideParts MergeSides(const BucketSideParts& target, const BucketSideParts& other, Sign sign,
                           int32_t schema, double zero_threshold, Summation summation);

// Custom buckets of different bounds: both are added up over `bounds`, the bounds they share.
BucketSideParts MergeOverBounds(const HistogramParts& target, const HistogramParts& other,
                                Sign sign, const std::vector<double>& bounds);

// What two ascending lists share.
std::vector<double> SharedBounds(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace narthex::model
