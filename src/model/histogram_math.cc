// Addition goes one of three ways. Equal layouts: the buckets are two runs added in one loop. All
// buckets of the other histogram exist in the target (the common case once a sum has seen its
// series): one loop per span. Otherwise both are taken apart, brought together and rebuilt.
#include "narthex/model/histogram_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "model/histogram_kernels.h"
#include "model/histogram_parts.h"
#include "narthex/base/check.h"
#include "narthex/model/histogram_buckets.h"

namespace narthex::model {
namespace {

// What a combination changes. The compensations are null for a plain one.
struct Target {
  FloatHistogram* histogram;
  double* count_compensation = nullptr;
  double* zero_count_compensation = nullptr;
  double* sum_compensation = nullptr;
  std::vector<double>* compensation = nullptr;

  bool compensated() const { return compensation != nullptr; }
  Summation summation() const {
    return compensated() ? Summation::kCompensated : Summation::kPlain;
  }
};

void AddField(double* field, double* compensation, double value, Sign sign) {
  if (compensation == nullptr) {
    *field = sign == Sign::kPlus ? *field + value : *field - value;
    return;
  }
  KahanSum sum{*field, *compensation};
  sum.Add(value);
  *field = sum.sum;
  *compensation = sum.compensation;
}

// Whether the hints contradict each other.
bool MergeHints(CounterResetHint* target, CounterResetHint other) {
  if (*target == other || *target == CounterResetHint::kGauge) return false;
  if (other == CounterResetHint::kGauge) {
    *target = CounterResetHint::kGauge;
    return false;
  }
  const bool collision =
      *target != CounterResetHint::kUnknown && other != CounterResetHint::kUnknown;
  *target = CounterResetHint::kUnknown;
  return collision;
}

// Whether the first bucket of a side ends within the zero bucket. No sane histogram has such
// buckets; they are left out when they are added, so the fast paths are closed to them.
bool StartsInZeroBucket(const std::vector<BucketSpan>& spans, const HistogramLayout& layout) {
  int64_t index = 0;
  auto span = spans.begin();
  for (; span != spans.end(); ++span) {
    index += span->offset;
    if (span->length > 0) break;
  }
  if (span == spans.end()) return false;
  // The bound is at least 2^exponent, which is known without the exact bound.
  const int64_t exponent =
      layout.schema >= 0 ? index >> layout.schema : index * (int64_t{1} << -layout.schema);
  constexpr int64_t kMinNormal = std::numeric_limits<double>::min_exponent - 1;
  constexpr int64_t kMaxNormal = std::numeric_limits<double>::max_exponent - 1;
  if (exponent >= kMinNormal && exponent <= kMaxNormal) {
    const double at_least =
        std::bit_cast<double>(static_cast<uint64_t>(exponent - kMinNormal + 1) << 52);
    if (at_least > layout.zero_threshold) return false;
  }
  return BucketBound(layout, index) <= layout.zero_threshold;
}

bool StartsInZeroBucket(const HistogramLayout& layout) {
  return !layout.has_custom_buckets() && (StartsInZeroBucket(layout.positive_spans, layout) ||
                                          StartsInZeroBucket(layout.negative_spans, layout));
}

// How many buckets of a side end within the zero bucket.
size_t NumInZeroBucket(const std::vector<BucketSpan>& spans, const HistogramLayout& layout) {
  if (!StartsInZeroBucket(spans, layout)) return 0;
  size_t num = 0;
  int64_t index = 0;
  for (const BucketSpan& span : spans) {
    index += span.offset;
    for (uint32_t i = 0; i < span.length; ++i, ++index, ++num) {
      if (BucketBound(layout, index) > layout.zero_threshold) return num;
    }
  }
  return num;
}

bool SameLayout(const LayoutPtr& a, const LayoutPtr& b) { return a == b || *a == *b; }

// Calls `visit(target position, other position, length)` for every span of `other`; false if one is
// not within one span of `target`.
template <typename Visit>
bool ForEachCoveredSpan(const std::vector<BucketSpan>& target, const std::vector<BucketSpan>& other,
                        Visit visit) {
  size_t span = 0;
  int64_t target_begin = target.empty() ? 0 : target[0].offset;
  size_t target_position = 0;
  int64_t other_begin = 0;
  size_t other_position = 0;
  for (const BucketSpan& wanted : other) {
    other_begin += wanted.offset;
    if (wanted.length == 0) continue;
    while (span < target.size() && target_begin + target[span].length <= other_begin) {
      target_begin += target[span].length;
      target_position += target[span].length;
      if (++span < target.size()) target_begin += target[span].offset;
    }
    if (span == target.size() || other_begin < target_begin ||
        other_begin + wanted.length > target_begin + target[span].length) {
      return false;
    }
    visit(target_position + static_cast<size_t>(other_begin - target_begin), other_position,
          size_t{wanted.length});
    other_begin += wanted.length;
    other_position += wanted.length;
  }
  return true;
}

bool Covers(const HistogramLayout& target, const HistogramLayout& other) {
  const auto ignore = [](size_t, size_t, size_t) {};
  return target.schema == other.schema && target.zero_threshold == other.zero_threshold &&
         target.custom_bounds == other.custom_bounds &&
         ForEachCoveredSpan(target.positive_spans, other.positive_spans, ignore) &&
         ForEachCoveredSpan(target.negative_spans, other.negative_spans, ignore);
}

void CombineRun(const Target& target, size_t position, std::span<const double> values, Sign sign) {
  const std::span<double> run =
      std::span(target.histogram->buckets).subspan(position, values.size());
  if (target.compensated()) {
    AddRunCompensated(run, std::span(*target.compensation).subspan(position, values.size()),
                      values);
  } else if (sign == Sign::kPlus) {
    AddRun(run, values);
  } else {
    SubtractRun(run, values);
  }
}

// Finds a zero bucket for both, widens that of `*mine` to it and returns what that of `theirs`
// would hold.
KahanSum ReconcileZeroBuckets(HistogramParts* mine, const HistogramParts& theirs) {
  KahanSum their_zero = theirs.zero;
  double their_threshold = theirs.zero_threshold;
  if (std::isnan(their_threshold) || std::isnan(mine->zero_threshold)) return their_zero;
  while (their_threshold != mine->zero_threshold) {
    if (mine->zero_threshold > their_threshold) {
      their_threshold = mine->zero_threshold;
      their_zero = WidenedZero(theirs, &their_threshold);
    }
    if (their_threshold > mine->zero_threshold) {
      double threshold = their_threshold;
      mine->zero = WidenedZero(*mine, &threshold);
      SwallowBuckets(mine, threshold);
    }
  }
  return their_zero;
}

// True if custom bounds had to be reconciled.
bool CombineApart(const Target& target, const HistogramView& other, Sign sign) {
  const Summation summation = target.summation();
  const std::span<const double> compensation =
      target.compensated() ? *target.compensation : std::span<const double>();
  HistogramParts mine = TakeApart(*target.histogram, compensation);
  HistogramParts theirs = TakeApart(other, {});
  bool reconciled = false;
  if (other.has_custom_buckets()) {
    reconciled = mine.custom_bounds != theirs.custom_bounds;
    if (reconciled) {
      const std::vector<double> bounds = SharedBounds(mine.custom_bounds, theirs.custom_bounds);
      mine.positive = MergeOverBounds(mine, theirs, sign, bounds);
      mine.custom_bounds = bounds;
    } else {
      mine.positive = MergeSides(mine.positive, theirs.positive, sign, mine.schema, 0, summation);
    }
  } else {
    if (target.compensated()) mine.zero.compensation = *target.zero_count_compensation;
    const KahanSum zero = ReconcileZeroBuckets(&mine, theirs);
    target.histogram->zero_count = mine.zero.sum;
    if (target.compensated()) *target.zero_count_compensation = mine.zero.compensation;
    AddField(&target.histogram->zero_count, target.zero_count_compensation, zero.sum, sign);
    if (target.compensated()) {
      AddField(&target.histogram->zero_count, target.zero_count_compensation, zero.compensation,
               sign);
    }
    if (theirs.schema < mine.schema) ReduceParts(&mine, theirs.schema, summation);
    if (mine.schema < theirs.schema) ReduceParts(&theirs, mine.schema, summation);
    for (const auto side : {&HistogramParts::positive, &HistogramParts::negative}) {
      mine.*side =
          MergeSides(mine.*side, theirs.*side, sign, mine.schema, mine.zero_threshold, summation);
    }
  }
  PutTogether(std::move(mine), *other.layout, target.histogram, target.compensation);
  return reconciled;
}

Combined Combine(const Target& target, const HistogramView& other, Sign sign) {
  Combined result;
  FloatHistogram& histogram = *target.histogram;
  NX_DCHECK(histogram.buckets.size() == histogram.layout->num_buckets());
  NX_DCHECK(other.buckets.size() == other.shape().num_buckets());
  const bool custom = other.has_custom_buckets();
  if (histogram.layout->has_custom_buckets() != custom) {
    result.compatible = false;
    return result;
  }
  result.hint_collision = MergeHints(&histogram.hint, other.hint);
  AddField(&histogram.count, target.count_compensation, other.count, sign);
  AddField(&histogram.sum, target.sum_compensation, other.sum, sign);

  const bool same = SameLayout(histogram.layout, *other.layout);
  if ((!same && !Covers(*histogram.layout, other.shape())) || StartsInZeroBucket(other.shape())) {
    // Slow path: the bucket layout changes, or buckets must be left out.
    result.bounds_reconciled = CombineApart(target, other, sign);
    return result;
  }
  if (!custom) {
    AddField(&histogram.zero_count, target.zero_count_compensation, other.zero_count, sign);
  }
  if (same) {
    // Fast path: one run.
    CombineRun(target, 0, other.buckets, sign);
    return result;
  }
  // Fast path: a run for each span.
  const auto combine_side = [&](const std::vector<BucketSpan>& spans,
                                const std::vector<BucketSpan>& other_spans, size_t offset,
                                std::span<const double> values) {
    ForEachCoveredSpan(spans, other_spans, [&](size_t position, size_t from, size_t length) {
      CombineRun(target, offset + position, values.subspan(from, length), sign);
    });
  };
  const HistogramLayout& layout = *histogram.layout;
  combine_side(layout.positive_spans, other.shape().positive_spans, 0, other.positive());
  combine_side(layout.negative_spans, other.shape().negative_spans, layout.num_positive(),
               other.negative());
  return result;
}

// Whether Compact(0) would change nothing: no empty buckets, no joinable or empty spans.
bool IsCompact(const FloatHistogram& histogram) {
  const auto joinable = [](const std::vector<BucketSpan>& spans) {
    for (size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].length == 0 || (i > 0 && spans[i].offset == 0)) return true;
    }
    return false;
  };
  return !AnyZero(histogram.buckets) && !joinable(histogram.layout->positive_spans) &&
         !joinable(histogram.layout->negative_spans);
}

void MultiplyFields(FloatHistogram* histogram, double factor) {
  histogram->zero_count *= factor;
  histogram->count *= factor;
  histogram->sum *= factor;
}

void DivideFields(FloatHistogram* histogram, double divisor) {
  histogram->zero_count /= divisor;
  histogram->count /= divisor;
  histogram->sum /= divisor;
}

// An upper limit of what any field of a sum can gain by adding `histogram`, whatever buckets merge.
double MagnitudeOf(const HistogramView& histogram) {
  const double fields[] = {histogram.count, histogram.zero_count, histogram.sum};
  const double largest = std::max(LargestMagnitude(fields), LargestMagnitude(histogram.buckets));
  return largest * static_cast<double>(histogram.buckets.size() + 1);
}

}  // namespace

Combined Add(FloatHistogram* target, const HistogramView& other) {
  return Combine({target}, other, Sign::kPlus);
}

Combined Subtract(FloatHistogram* target, const HistogramView& other) {
  return Combine({target}, other, Sign::kMinus);
}

void Multiply(FloatHistogram* histogram, double factor) {
  MultiplyFields(histogram, factor);
  MultiplyRun(histogram->buckets, factor);
  if (factor < 0) histogram->hint = CounterResetHint::kGauge;
}

void Divide(FloatHistogram* histogram, double divisor) {
  DivideFields(histogram, divisor);
  if (divisor == 0) {
    if (histogram->buckets.empty()) return;
    auto layout = std::make_shared<HistogramLayout>(*histogram->layout);
    layout->positive_spans.clear();
    layout->negative_spans.clear();
    histogram->layout = std::move(layout);
    histogram->buckets.clear();
    return;
  }
  DivideRun(histogram->buckets, divisor);
  if (divisor < 0) histogram->hint = CounterResetHint::kGauge;
}

void Compact(FloatHistogram* histogram, int max_empty_buckets) {
  if (max_empty_buckets == 0 && IsCompact(*histogram)) return;
  HistogramParts parts = TakeApart(*histogram, {});
  CompactSide(&parts.positive, max_empty_buckets);
  CompactSide(&parts.negative, max_empty_buckets);
  PutTogether(std::move(parts), histogram->layout, histogram, nullptr);
}

bool HasOverflow(const HistogramView& histogram) {
  const double fields[] = {histogram.count, histogram.zero_count, histogram.sum};
  return std::isinf(LargestMagnitude(fields)) || std::isinf(LargestMagnitude(histogram.buckets));
}

Combined HistogramSum::Add(const HistogramView& histogram) {
  if (empty_) {
    MaterializeTo(histogram, &sum_);
    empty_ = false;
    compensated_ = false;
    return {};
  }
  if (!compensated_) StartCompensation();
  return Combine(
      {&sum_, &count_compensation_, &zero_count_compensation_, &sum_compensation_, &compensation_},
      histogram, Sign::kPlus);
}

void HistogramSum::StartCompensation() {
  compensated_ = true;
  count_compensation_ = zero_count_compensation_ = sum_compensation_ = 0;
  compensation_.assign(sum_.buckets.size(), 0);
}

void HistogramSum::Multiply(double factor) {
  model::Multiply(&sum_, factor);
  if (!compensated_) return;
  count_compensation_ *= factor;
  zero_count_compensation_ *= factor;
  sum_compensation_ *= factor;
  MultiplyRun(compensation_, factor);
}

void HistogramSum::Divide(double divisor) {
  model::Divide(&sum_, divisor);
  if (!compensated_) return;
  count_compensation_ /= divisor;
  zero_count_compensation_ /= divisor;
  sum_compensation_ /= divisor;
  DivideRun(compensation_, divisor);
}

FloatHistogram HistogramSum::Take() {
  NX_CHECK(!empty_);
  empty_ = true;
  if (compensated_) {
    sum_.count += count_compensation_;
    sum_.zero_count += zero_count_compensation_;
    sum_.sum += sum_compensation_;
    const HistogramLayout& layout = *sum_.layout;
    const size_t num_positive = layout.num_positive();
    const auto add_side = [this, &layout](const std::vector<BucketSpan>& spans, size_t begin,
                                          size_t end) {
      // Buckets within the zero bucket are left out here too.
      if (!layout.has_custom_buckets()) begin += NumInZeroBucket(spans, layout);
      AddRun(std::span(sum_.buckets).subspan(begin, end - begin),
             std::span(compensation_).subspan(begin, end - begin));
    };
    add_side(layout.positive_spans, 0, num_positive);
    add_side(layout.negative_spans, num_positive, sum_.buckets.size());
  }
  return std::move(sum_);
}

void HistogramMean::Reset() {
  sum_.Reset();
  num_samples_ = 0;
  magnitude_ = 0;
  incremental_ = false;
}

Combined HistogramMean::Add(const HistogramView& histogram) {
  // Far enough from the largest double for rounding not to matter.
  constexpr double kSafeMagnitude = std::numeric_limits<double>::max() / 4;
  num_samples_ += 1;
  if (!incremental_) {
    magnitude_ += MagnitudeOf(histogram);
    // Fast path: no overflow is possible.
    if (num_samples_ == 1 || magnitude_ < kSafeMagnitude) return sum_.Add(histogram);
    HistogramSum attempt = sum_;
    const Combined combined = attempt.Add(histogram);
    if (!combined.compatible || !HasOverflow(attempt.sum_)) {
      sum_ = std::move(attempt);
      return combined;
    }
    incremental_ = true;
    sum_.Divide(num_samples_ - 1);
  }
  sum_.Multiply((num_samples_ - 1) / num_samples_);
  MaterializeTo(histogram, &scaled_);
  Divide(&scaled_, num_samples_);
  return sum_.Add(scaled_);
}

FloatHistogram HistogramMean::Take() {
  if (!incremental_) sum_.Divide(num_samples_);
  FloatHistogram mean = sum_.Take();
  Reset();
  return mean;
}

}  // namespace narthex::model
