// Running float aggregates that range functions and aggregations share. Plain values. Those of
// histograms are model::HistogramSum and model::HistogramMean.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "narthex/model/kahan.h"

namespace narthex::promql {

// The compensated mean: the sum over the count while the sum is finite, an incremental mean after.
class FloatMean {
 public:
  void Add(double value);
  double count() const { return count_; }
  // NaN if nothing was added.
  double value() const;

 private:
  double count_ = 0;
  model::KahanSum sum_;  // Or the mean itself, once incremental_.
  bool incremental_ = false;
};

// Population variance in one pass, as the aggregations stddev and stdvar define it (not
// compensated). A NaN or infinite first value makes it NaN.
class FloatVariance {
 public:
  void Add(double value);
  double variance() const { return squares_ / count_; }
  double deviation() const { return std::sqrt(variance()); }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Population variance in one pass, compensated, as stddev_over_time and stdvar_over_time define it.
double CompensatedVariance(std::span<const double> values);
// The compensated sum as sum_over_time defines it.
double CompensatedSum(std::span<const double> values);

// The mean that FloatMean gives. REQUIRES: not empty.
double CompensatedMean(std::span<const double> values);

// The values compared as max(), min() and their _over_time forms do: NaN gives way to any number.
inline bool ReplacesMax(double candidate, double best) {
  return candidate > best || std::isnan(best);
}
inline bool ReplacesMin(double candidate, double best) {
  return candidate < best || std::isnan(best);
}

}  // namespace narthex::promql
