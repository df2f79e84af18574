#include "promql/functions/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "narthex/model/histogram_buckets.h"
#include "narthex/model/stale.h"

namespace narthex::promql {
namespace {

using model::BucketCursor;
using model::BucketOrder;
using model::HistogramBucket;
using model::HistogramView;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = model::NormalNan();

// Relative difference of neighbouring classic buckets that passes for a rounding error.
constexpr double kSmallDifference = 1e-12;

bool AlmostEqual(double a, double b, double tolerance) {
  if (std::isnan(a) && std::isnan(b)) return true;
  if (a == b) return true;
  const double sum = std::abs(a) + std::abs(b);
  const double difference = std::abs(a - b);
  constexpr double kSmallestNormal = std::numeric_limits<double>::min();
  if (a == 0 || b == 0 || sum < kSmallestNormal) return difference < tolerance * kSmallestNormal;
  return difference / std::min(sum, std::numeric_limits<double>::max()) < tolerance;
}

HistogramBucket LastBucket(const HistogramView& histogram, BucketOrder order) {
  HistogramBucket last;
  BucketCursor cursor(histogram, order);
  while (cursor.Next()) last = cursor.bucket();
  return last;
}

// With buckets on one side only, the zero bucket is taken to have no observations on the other.
void NarrowToPopulatedSide(const HistogramView& histogram, HistogramBucket* bucket) {
  const bool has_positive = !histogram.positive().empty();
  const bool has_negative = !histogram.negative().empty();
  if (has_positive && !has_negative) bucket->lower = 0;
  if (has_negative && !has_positive) bucket->upper = 0;
}

// Where in `bucket` the quantile lies that is `fraction` of the way into it.
double Interpolate(const HistogramBucket& bucket, double fraction, bool custom) {
  if (custom || (bucket.lower <= 0 && bucket.upper >= 0)) {
    return bucket.lower + (bucket.upper - bucket.lower) * fraction;
  }
  const double log_lower = std::log2(std::abs(bucket.lower));
  const double log_upper = std::log2(std::abs(bucket.upper));
  if (bucket.lower > 0) return std::exp2(log_lower + (log_upper - log_lower) * fraction);
  return -std::exp2(log_upper + (log_lower - log_upper) * (1 - fraction));
}

// How many observations are at or below two values: found while the buckets go by in ascending
// order. A value inside a bucket takes the rank that interpolation gives.
struct RankPair {
  double lower_value, upper_value;
  double lower_rank = 0, upper_rank = 0;
  bool lower_set = false, upper_set = false;

  bool done() const { return lower_set && upper_set; }

  // `rank`: observations below the bucket; `interpolate(value)`: rank of a value inside of it.
  template <typename Interpolation>
  void Visit(double bucket_lower, double bucket_upper, double rank, Interpolation interpolate) {
    if (!lower_set && bucket_lower >= lower_value) Set(&lower_rank, &lower_set, rank);
    if (!upper_set && bucket_lower >= upper_value) Set(&upper_rank, &upper_set, rank);
    const auto inside = [&](double value) { return bucket_lower < value && bucket_upper > value; };
    if (!lower_set && inside(lower_value)) Set(&lower_rank, &lower_set, interpolate(lower_value));
    if (!upper_set && inside(upper_value)) Set(&upper_rank, &upper_set, interpolate(upper_value));
  }

  // The observations between, of `total` that have a rank.
  double Between(double total) {
    if (!lower_set || lower_rank > total) lower_rank = total;
    if (!upper_set || upper_rank > total) upper_rank = total;
    return upper_rank - lower_rank;
  }

 private:
  static void Set(double* rank, bool* is_set, double value) {
    *rank = value;
    *is_set = true;
  }
};

void SortByBound(std::span<ClassicBucket> buckets) {
  std::stable_sort(
      buckets.begin(), buckets.end(),
      [](const ClassicBucket& a, const ClassicBucket& b) { return a.upper_bound < b.upper_bound; });
}

// Adds up neighbours of equal bounds; returns the part that remains. REQUIRES: sorted, not empty.
std::span<ClassicBucket> MergeEqualBounds(std::span<ClassicBucket> buckets) {
  size_t last = 0;
  for (size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i].upper_bound == buckets[last].upper_bound) {
      buckets[last].count += buckets[i].count;
    } else {
      buckets[++last] = buckets[i];
    }
  }
  return buckets.first(last + 1);
}

// Raises counts that decrease from one bucket to the next, silently if only by a rounding error.
void MakeMonotonic(std::span<ClassicBucket> buckets, ClassicQuantileResult* result) {
  result->min_bucket = kInfinity;
  result->max_bucket = -kInfinity;
  double previous = buckets[0].count;
  for (ClassicBucket& bucket : buckets.subspan(1)) {
    const double count = bucket.count;
    if (count == previous) continue;
    if (AlmostEqual(previous, count, kSmallDifference)) {
      bucket.count = previous;
    } else if (count < previous) {
      bucket.count = previous;
      result->forced_monotonic = true;
      result->min_bucket = std::min(result->min_bucket, bucket.upper_bound);
      result->max_bucket = std::max(result->max_bucket, bucket.upper_bound);
      result->max_difference = std::max(result->max_difference, previous - count);
    } else {
      previous = count;
    }
  }
}

// The quantile over sorted, merged, monotonic buckets of which the last has no upper bound.
double QuantileOfBuckets(double quantile, std::span<const ClassicBucket> buckets) {
  if (buckets.size() < 2) return kNan;
  const double total = buckets.back().count;
  if (total == 0) return kNan;
  double rank = quantile * total;
  const auto found =
      std::partition_point(buckets.begin(), buckets.end() - 1,
                           [rank](const ClassicBucket& bucket) { return !(bucket.count >= rank); });
  const size_t index = static_cast<size_t>(found - buckets.begin());
  if (index + 1 == buckets.size()) return buckets[index - 1].upper_bound;
  if (index == 0 && buckets[0].upper_bound <= 0) return buckets[0].upper_bound;
  double start = 0;
  double count = buckets[index].count;
  if (index > 0) {
    start = buckets[index - 1].upper_bound;
    count -= buckets[index - 1].count;
    rank -= buckets[index - 1].count;
  }
  return start + (buckets[index].upper_bound - start) * (rank / count);
}

}  // namespace

bool IsInvalidQuantile(double quantile) { return !(quantile >= 0 && quantile <= 1); }

double Quantile(double quantile, std::span<double> values) {
  if (values.empty() || std::isnan(quantile)) return kNan;
  if (quantile < 0) return -kInfinity;
  if (quantile > 1) return kInfinity;
  const double rank = quantile * static_cast<double>(values.size() - 1);
  const double weight = rank - std::floor(rank);
  const auto less = [](double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
  // Two neighbours in the order are needed, not the whole order.
  const auto lower = values.begin() + static_cast<ptrdiff_t>(rank);
  std::nth_element(values.begin(), lower, values.end(), less);
  const auto upper =
      lower + 1 == values.end() ? lower : std::min_element(lower + 1, values.end(), less);
  return *lower * (1 - weight) + *upper * weight;
}

double HistogramQuantile(double quantile, const HistogramView& histogram, NoteSet* notes) {
  if (quantile < 0) return -kInfinity;
  if (quantile > 1) return kInfinity;
  if (histogram.count == 0 || std::isnan(quantile)) return kNan;

  // NaN observations are in the count but in no bucket; they rank highest, so that ranks can only
  // be counted from below then.
  const bool has_nans = std::isnan(histogram.sum);
  const bool ascending = has_nans || quantile < 0.5;
  const BucketOrder order = ascending ? BucketOrder::kAscending : BucketOrder::kDescending;
  double rank = (ascending ? quantile : 1 - quantile) * histogram.count;
  double count = 0;
  BucketCursor cursor(histogram, order);
  bool found = false;
  while (!found && cursor.Next()) {
    if (cursor.count() == 0) continue;
    count += cursor.count();
    found = count >= rank;
  }
  HistogramBucket bucket = found ? cursor.bucket() : LastBucket(histogram, order);

  const bool custom = histogram.has_custom_buckets();
  if (custom) {
    if (bucket.lower == -kInfinity) {
      if (bucket.upper <= 0) return bucket.upper;
      bucket.lower = 0;
    } else if (bucket.upper == kInfinity) {
      return bucket.lower;
    }
  } else if (bucket.lower < 0 && bucket.upper > 0) {
    NarrowToPopulatedSide(histogram, &bucket);
  }
  // Rounding may have taken the sum of the buckets above the count.
  count = count > histogram.count ? histogram.count : count;
  if (count < rank) {
    if (!has_nans) return bucket.upper;
    notes->Add(Note::kQuantileNanResult);
    return kNan;
  }
  rank = ascending ? rank - (count - bucket.count) : count - rank;
  if (has_nans) {
    // That the last bucket takes the place of the one found cannot be right, but it is how
    // Prometheus 3.14 answers, and dashboards compare.
    while (cursor.Next()) {
      bucket = cursor.bucket();
      count += bucket.count;
    }
    if (count < histogram.count) notes->Add(Note::kQuantileNanSkew);
  }
  return Interpolate(bucket, rank / bucket.count, custom);
}

double HistogramFraction(double lower, double upper, const HistogramView& histogram,
                         NoteSet* notes) {
  if (histogram.count == 0 || std::isnan(lower) || std::isnan(upper)) return kNan;
  if (lower >= upper) return 0;

  RankPair ranks{lower, upper};
  double rank = 0;
  double count = 0;
  BucketCursor cursor(histogram, BucketOrder::kAscending);
  while (cursor.Next()) {
    HistogramBucket bucket = cursor.bucket();
    count += bucket.count;
    const bool touches_zero = bucket.lower <= 0 && bucket.upper >= 0;
    if (touches_zero) NarrowToPopulatedSide(histogram, &bucket);
    const bool linear = histogram.has_custom_buckets() || touches_zero;
    ranks.Visit(bucket.lower, bucket.upper, rank, [&](double value) {
      // There is no way to interpolate in a bucket without lower bound.
      if (linear && bucket.lower == -kInfinity) return bucket.count;
      return rank + bucket.count * bucket.FractionBelow(value, linear);
    });
    if (ranks.done()) break;
    rank += bucket.count;
  }
  double total = histogram.count;
  if (std::isnan(histogram.sum)) {
    // NaN observations are in the count but in no bucket.
    while (cursor.Next()) count += cursor.count();
    if (count < histogram.count) notes->Add(Note::kFractionNans);
    total = count;
  }
  return ranks.Between(total) / histogram.count;
}

ClassicQuantileResult ClassicQuantile(double quantile, std::span<ClassicBucket> buckets) {
  ClassicQuantileResult result;
  result.value = kNan;
  if (std::isnan(quantile)) return result;
  if (quantile < 0 || quantile > 1) {
    result.value = quantile < 0 ? -kInfinity : kInfinity;
    return result;
  }
  SortByBound(buckets);
  if (buckets.back().upper_bound != kInfinity) return result;
  buckets = MergeEqualBounds(buckets);
  MakeMonotonic(buckets, &result);
  result.value = QuantileOfBuckets(quantile, buckets);
  return result;
}

double ClassicFraction(double lower, double upper, std::span<ClassicBucket> buckets) {
  SortByBound(buckets);
  if (buckets.back().upper_bound != kInfinity) return kNan;
  buckets = MergeEqualBounds(buckets);
  const double total = buckets.back().count;
  if (total == 0 || std::isnan(lower) || std::isnan(upper)) return kNan;
  if (lower >= upper) return 0;

  RankPair ranks{lower, upper};
  double rank = 0;
  double start = buckets[0].upper_bound <= 0 ? -kInfinity : 0;
  for (const ClassicBucket& bucket : buckets) {
    ranks.Visit(start, bucket.upper_bound, rank, [&](double value) {
      if (start == -kInfinity) return bucket.count;
      return rank + (bucket.count - rank) * (value - start) / (bucket.upper_bound - start);
    });
    if (ranks.done()) break;
    rank = bucket.count;
    start = bucket.upper_bound;
  }
  return ranks.Between(total) / total;
}

}  // namespace narthex::promql
