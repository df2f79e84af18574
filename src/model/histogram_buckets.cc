#include "narthex/model/histogram_buckets.h"

#include <cmath>
#include <limits>

namespace narthex::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<BucketSpan>& SpansOf(const HistogramLayout& layout, BucketSide side) {
  return side == BucketSide::kPositive ? layout.positive_spans : layout.negative_spans;
}

std::span<const double> CountsOf(const HistogramView& histogram, BucketSide side) {
  return side == BucketSide::kPositive ? histogram.positive() : histogram.negative();
}

// Bounds that reach into the zero bucket end at it.
HistogramBucket CutAtZeroBucket(HistogramBucket bucket, double threshold) {
  if (bucket.upper < 0 && bucket.upper > -threshold) {
    bucket.upper = -threshold;
  } else if (bucket.lower > 0 && bucket.lower < threshold) {
    bucket.lower = threshold;
  }
  return bucket;
}

}  // namespace

double BucketBound(const HistogramLayout& layout, int64_t index) {
  if (!layout.has_custom_buckets()) return ExponentialUpperBound(index, layout.schema);
  if (index < 0) return -kInfinity;
  const size_t position = static_cast<size_t>(index);
  return position < layout.custom_bounds.size() ? layout.custom_bounds[position] : kInfinity;
}

double HistogramBucket::FractionBelow(double value, bool linear) const {
  if (linear) return (value - lower) / (upper - lower);
  // On a logarithmic scale the buckets are equally wide, so the share is linear there.
  const double log_lower = std::log2(std::abs(lower));
  const double log_upper = std::log2(std::abs(upper));
  const double log_value = std::log2(std::abs(value));
  if (value > 0) return (log_value - log_lower) / (log_upper - log_lower);
  return 1 - (log_value - log_upper) / (log_lower - log_upper);
}

SideCursor::SideCursor(const HistogramView& histogram, BucketSide side, bool outward)
    : layout_(&histogram.shape()),
      spans_(SpansOf(*layout_, side)),
      counts_(CountsOf(histogram, side)),
      side_(side),
      outward_(outward) {
  if (outward) {
    if (!spans_.empty()) next_index_ = spans_[0].offset;
    return;
  }
  for (const BucketSpan& span : spans_) next_index_ += int64_t{span.offset} + span.length;
  span_ = spans_.size();
}

bool SideCursor::Next() {
  if (passed_ == counts_.size()) return false;
  if (outward_) {
    while (in_span_ == spans_[span_].length) {
      if (++span_ == spans_.size()) return false;
      in_span_ = 0;
      next_index_ += spans_[span_].offset;
    }
    index_ = static_cast<int32_t>(next_index_++);
    position_ = passed_;
  } else {
    while (in_span_ == 0) {
      // Leaves the span whose first bucket was the last one visited.
      if (span_ < spans_.size()) next_index_ -= spans_[span_].offset;
      if (span_ == 0) return false;
      in_span_ = spans_[--span_].length;
    }
    index_ = static_cast<int32_t>(--next_index_);
    position_ = counts_.size() - 1 - passed_;
  }
  outward_ ? ++in_span_ : --in_span_;
  ++passed_;
  return true;
}

HistogramBucket SideCursor::bucket() const {
  HistogramBucket bucket;
  const double outer = BucketBound(*layout_, index_);
  const double inner = BucketBound(*layout_, int64_t{index_} - 1);
  bucket.lower = side_ == BucketSide::kPositive ? inner : -outer;
  bucket.upper = side_ == BucketSide::kPositive ? outer : -inner;
  const bool custom = layout_->has_custom_buckets();
  bucket.lower_inclusive = custom ? index_ == 0 : bucket.lower < 0;
  bucket.upper_inclusive = custom || bucket.upper > 0;
  bucket.count = count();
  bucket.index = index_;
  return bucket;
}

BucketCursor::BucketCursor(const HistogramView& histogram, BucketOrder order)
    : zero_threshold_(histogram.shape().zero_threshold),
      zero_count_(histogram.zero_count),
      first_(histogram,
             order == BucketOrder::kAscending ? BucketSide::kNegative : BucketSide::kPositive,
             /*outward=*/false),
      second_(histogram,
              order == BucketOrder::kAscending ? BucketSide::kPositive : BucketSide::kNegative,
              /*outward=*/true) {}

bool BucketCursor::Next() {
  if (stage_ == Stage::kFirstSide) {
    if (first_.Next()) return true;
    stage_ = Stage::kZero;
    if (zero_count_ > 0) return true;
  }
  if (stage_ == Stage::kEnd) return false;
  stage_ = Stage::kSecondSide;
  if (second_.Next()) return true;
  stage_ = Stage::kEnd;
  return false;
}

double BucketCursor::count() const {
  switch (stage_) {
    case Stage::kFirstSide:
      return first_.count();
    case Stage::kZero:
      return zero_count_;
    default:
      return second_.count();
  }
}

HistogramBucket BucketCursor::bucket() const {
  switch (stage_) {
    case Stage::kFirstSide:
      return CutAtZeroBucket(first_.bucket(), zero_threshold_);
    case Stage::kZero:
      return {-zero_threshold_, zero_threshold_, true, true, zero_count_, 0};
    default:
      return CutAtZeroBucket(second_.bucket(), zero_threshold_);
  }
}

}  // namespace narthex::model
