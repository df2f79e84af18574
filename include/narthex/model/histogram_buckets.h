// The buckets of a float histogram one by one, with their bounds. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narthex/model/histogram.h"
#include "narthex/model/histogram_view.h"

namespace narthex::model {

struct HistogramBucket {
  double lower = 0;
  double upper = 0;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  double count = 0;
  int32_t index = 0;  // Within the schema; 0 for the zero bucket.

  // The HTTP API's number of the interval's kind: 0 (l,u], 1 [l,u), 2 (l,u), 3 [l,u].
  int interval_kind() const {
    return lower_inclusive ? (upper_inclusive ? 3 : 1) : (upper_inclusive ? 0 : 2);
  }
  // The share of the bucket's width at or below `value`, for lower < value < upper, both finite.
  double FractionBelow(double value, bool linear) const;
};

enum class BucketSide : uint8_t { kPositive, kNegative };
enum class BucketOrder : uint8_t { kAscending, kDescending };

// Walks one side by index: `outward` (ascending index) or back. Empty buckets are visited too.
class SideCursor {
 public:
  SideCursor(const HistogramView& histogram, BucketSide side, bool outward = true);
  // Moves to the next bucket; false at the end.
  bool Next();
  // REQUIRES: the last Next() returned true.
  int32_t index() const { return index_; }
  double count() const { return counts_[position_]; }
  size_t position() const { return position_; }  // Within the side's buckets.
  // With bounds, which cost more to know.
  HistogramBucket bucket() const;

 private:
  const HistogramLayout* layout_;
  std::span<const BucketSpan> spans_;
  std::span<const double> counts_;
  BucketSide side_;
  bool outward_;
  size_t span_ = 0;
  uint32_t in_span_ = 0;  // Buckets of the current span already passed.
  size_t passed_ = 0;     // Buckets passed in all.
  int64_t next_index_ = 0;
  size_t position_ = 0;
  int32_t index_ = 0;
};

// Walks all buckets by value: negative side, zero bucket (if its count is positive), positive side,
// or back. Bounds that reach into the zero bucket are cut to it. Empty buckets are visited too.
class BucketCursor {
 public:
  BucketCursor(const HistogramView& histogram, BucketOrder order);
  // Moves to the next bucket; false at the end.
  bool Next();
  // REQUIRES: the last Next() returned true.
  double count() const;
  // With bounds, which cost more to know.
  HistogramBucket bucket() const;

 private:
  enum class Stage : uint8_t { kFirstSide, kZero, kSecondSide, kEnd };

  double zero_threshold_;
  double zero_count_;
  SideCursor first_;
  SideCursor second_;
  Stage stage_ = Stage::kFirstSide;
};

// Bound `index` of a layout: the upper bound of positive bucket `index`; -Inf and +Inf outside the
// custom bounds.
double BucketBound(const HistogramLayout& layout, int64_t index);

}  // namespace narthex::model
