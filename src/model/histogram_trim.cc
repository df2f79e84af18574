// Trimming: what remains of a histogram of the observations on one side of a limit. A bucket that
// straddles the limit keeps the share that interpolation gives it. Count and sum are then estimated
// anew, each bucket's observations standing at the middle of the interval that survived: the
// arithmetic mean in custom buckets and the zero bucket, the geometric mean elsewhere.
#include <cmath>
#include <span>

#include "narthex/model/histogram_buckets.h"
#include "narthex/model/histogram_math.h"

namespace narthex::model {
namespace {

// What remains of one bucket: so many observations, standing at `middle`.
struct Remainder {
  double count = 0;
  double middle = 0;
};

double FiniteOrZero(double value) { return std::isinf(value) ? 0 : value; }

double Middle(double lower, double upper, BucketSide side, bool linear) {
  if (std::isinf(lower)) {
    if (std::isinf(upper)) return 0;
    return upper > 0 ? upper / 2 : upper;
  }
  if (std::isinf(upper)) return lower;
  if (linear) return (lower + upper) / 2;
  const double geometric = std::sqrt(std::abs(lower * upper));
  return side == BucketSide::kPositive ? geometric : -geometric;
}

// A straddling bucket without lower bound, which only custom buckets have. Up to a positive upper
// bound it counts as starting at 0; otherwise there is no telling, and it goes as a whole.
Remainder CutOpenBelow(const HistogramBucket& bucket, double limit, Trim trim) {
  const bool finite_upper = !std::isinf(bucket.upper);
  if (trim == Trim::kKeepBelow) {
    if (limit >= bucket.upper) return {bucket.count, 0};
    if (limit > 0 && bucket.upper > 0 && finite_upper) {
      return {bucket.count * limit / bucket.upper, limit / 2};
    }
    if (bucket.upper <= 0) return {bucket.count, limit};
    return {0, FiniteOrZero(bucket.upper)};
  }
  if (limit <= bucket.lower) return {bucket.count, 0};
  if (limit >= 0 && bucket.upper > limit && finite_upper) {
    return {bucket.count * (1 - limit / bucket.upper), (limit + bucket.upper) / 2};
  }
  return {0, FiniteOrZero(bucket.upper)};
}

// A straddling bucket without upper bound.
Remainder CutOpenAbove(const HistogramBucket& bucket, double limit, Trim trim) {
  if (trim == Trim::kKeepAbove && limit >= bucket.lower) return {bucket.count, limit};
  return {0, FiniteOrZero(bucket.lower)};
}

Remainder CutBucket(const HistogramBucket& bucket, double limit, Trim trim, BucketSide side,
                    bool linear) {
  if (std::isinf(bucket.lower) && bucket.lower < 0) return CutOpenBelow(bucket, limit, trim);
  if (std::isinf(bucket.upper) && bucket.upper > 0) return CutOpenAbove(bucket, limit, trim);
  double below = 0;
  if (limit >= bucket.upper) {
    below = bucket.count;
  } else if (limit > bucket.lower) {
    below = bucket.count * bucket.FractionBelow(limit, linear);
  }
  if (trim == Trim::kKeepBelow) return {below, Middle(bucket.lower, limit, side, linear)};
  return {bucket.count - below, Middle(limit, bucket.upper, side, linear)};
}

Remainder CutZeroBucket(double count, double lower, double upper, double limit, Trim trim) {
  const bool below = trim == Trim::kKeepBelow;
  if (limit <= lower) {
    return below ? Remainder{} : Remainder{count, (lower + upper) / 2};
  }
  if (limit >= upper) {
    return below ? Remainder{count, (lower + upper) / 2} : Remainder{};
  }
  if (below) return {count * ((limit - lower) / (upper - lower)), (lower + limit) / 2};
  return {count * ((upper - limit) / (upper - lower)), (limit + upper) / 2};
}

// The new totals, and whether any bucket changed.
struct Totals {
  double count = 0;
  double sum = 0;
  bool trimmed = false;

  void Add(Remainder remainder) {
    count += remainder.count;
    sum += remainder.middle * remainder.count;
  }
};

// Trims one side; true if it has a populated bucket at all. `counts` are the buckets that `cursor`
// walks.
bool TrimSide(SideCursor cursor, BucketSide side, bool linear, double limit, Trim trim,
              std::span<double> counts, Totals* totals) {
  bool populated = false;
  while (cursor.Next()) {
    if (cursor.count() == 0) continue;
    populated = true;
    const HistogramBucket bucket = cursor.bucket();
    const bool kept = trim == Trim::kKeepBelow ? bucket.upper <= limit : bucket.lower >= limit;
    const bool straddles = trim == Trim::kKeepBelow ? bucket.lower < limit : bucket.upper > limit;
    if (kept) {
      totals->Add({bucket.count, Middle(bucket.lower, bucket.upper, side, linear)});
      continue;
    }
    Remainder remainder;
    if (straddles) {
      remainder = CutBucket(bucket, limit, trim, side, linear);
      totals->Add(remainder);
    }
    if (!straddles || remainder.count != bucket.count) totals->trimmed = true;
    counts[cursor.position()] = remainder.count;
  }
  return populated;
}

}  // namespace

void TrimBuckets(FloatHistogram* histogram, double limit, Trim trim) {
  const HistogramLayout& layout = *histogram->layout;
  const bool linear = layout.has_custom_buckets();
  const size_t num_positive = layout.num_positive();
  const std::span<double> counts = histogram->buckets;
  Totals totals;
  const bool has_positive =
      TrimSide(SideCursor(*histogram, BucketSide::kPositive), BucketSide::kPositive, linear, limit,
               trim, counts.first(num_positive), &totals);
  const bool has_negative =
      TrimSide(SideCursor(*histogram, BucketSide::kNegative), BucketSide::kNegative, linear, limit,
               trim, counts.subspan(num_positive), &totals);
  if (histogram->zero_count > 0) {
    // With observations on one side only, the zero bucket is taken to have none on the other.
    const double lower = has_positive && !has_negative ? 0 : -layout.zero_threshold;
    const double upper = has_negative && !has_positive ? 0 : layout.zero_threshold;
    const Remainder remainder = CutZeroBucket(histogram->zero_count, lower, upper, limit, trim);
    if (histogram->zero_count != remainder.count) totals.trimmed = true;
    histogram->zero_count = remainder.count;
    totals.Add(remainder);
  }
  if (!totals.trimmed) return;
  histogram->count = totals.count;
  histogram->sum = totals.sum;
  Compact(histogram);
}

}  // namespace narthex::model
