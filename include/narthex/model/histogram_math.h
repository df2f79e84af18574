// Arithmetic on float histograms as PromQL needs it (rules and formulas: docs/histograms.md).
// Histograms of different resolution, zero bucket or custom bounds are brought together first;
// equal layouts (by pointer, else by value) take a fast path that keeps the layout shared.
// What Prometheus reports as errors or warnings comes back as flags; nothing here fails.
// Free functions and thread-compatible classes.
#pragma once

#include <cstdint>
#include <vector>

#include "narthex/model/histogram.h"
#include "narthex/model/histogram_view.h"

namespace narthex::model {

// What happened while two histograms were combined.
struct Combined {
  bool compatible = true;          // False: custom with exponential buckets; nothing was changed.
  bool hint_collision = false;     // One says reset, the other not reset.
  bool bounds_reconciled = false;  // Different custom bounds were reduced to the common ones.
};

// target += other, target -= other. Hints: equal ones stay, gauge wins, then unknown; reset against
// not-reset is unknown and a collision. Buckets may end up empty; see Compact().
Combined Add(FloatHistogram* target, const HistogramView& other);
Combined Subtract(FloatHistogram* target, const HistogramView& other);

// Counts, sum and all buckets. A negative factor makes a gauge; division by zero drops all buckets.
void Multiply(FloatHistogram* histogram, double factor);
void Divide(FloatHistogram* histogram, double divisor);

// Removes empty buckets and joins spans; runs of up to `max_empty_buckets` empty buckets within a
// span stay, and gaps up to that length are filled.
void Compact(FloatHistogram* histogram, int max_empty_buckets = 0);

// Whether `current` cannot be what the counter `previous` became by counting on.
bool DetectReset(const HistogramView& current, const HistogramView& previous);

// Keeps the observations <= limit (the operator `</`) or >= limit (`>/`), interpolating within a
// bucket. Count and sum are estimated anew if anything was cut; then the result is compacted.
enum class Trim : uint8_t { kKeepBelow, kKeepAbove };
void TrimBuckets(FloatHistogram* histogram, double limit, Trim trim);

// Whether count, zero count, sum or a bucket is infinite.
bool HasOverflow(const HistogramView& histogram);

// The compensated sum of histograms. Reuse one through Reset(). Thread-compatible.
class HistogramSum {
 public:
  bool empty() const { return empty_; }
  void Reset() { empty_ = true; }

  // The first one is taken as it is. Returns what Add() returns.
  Combined Add(const HistogramView& histogram);

  // The sum, not compacted; this object becomes empty. REQUIRES: !empty().
  FloatHistogram Take();

 private:
  friend class HistogramMean;
  void StartCompensation();
  void Multiply(double factor);
  void Divide(double divisor);

  bool empty_ = true;
  bool compensated_ = false;  // Whether the fields below are set: from the second sample on.
  FloatHistogram sum_;
  double count_compensation_ = 0;
  double zero_count_compensation_ = 0;
  double sum_compensation_ = 0;
  std::vector<double> compensation_;  // As sum_.buckets.
};

// The compensated mean: sums while the sum is finite, then goes on as an incremental mean.
// Thread-compatible.
class HistogramMean {
 public:
  bool empty() const { return sum_.empty(); }
  void Reset();

  Combined Add(const HistogramView& histogram);

  // The mean, not compacted; this object becomes empty. REQUIRES: !empty().
  FloatHistogram Take();

 private:
  HistogramSum sum_;  // The sum, or the mean itself once incremental_.
  double num_samples_ = 0;
  double magnitude_ = 0;  // No field of the sum can be larger.
  bool incremental_ = false;
  FloatHistogram scaled_;  // Scratch.
};

}  // namespace narthex::model
