// Quantiles and fractions: of plain values, of native histograms, of classic histograms. Pure
// kernels; thread-safe.
#pragma once

#include <span>

#include "narthex/model/histogram_view.h"
#include "promql/functions/annotations.h"

namespace narthex::promql {

// Whether a quantile argument deserves Annotations::AddInvalidQuantile().
bool IsInvalidQuantile(double quantile);

// The quantile of `values`, linear between ranks; NaNs rank lowest. Reorders `values`. NaN if there
// are none or `quantile` is NaN; -Inf below 0, +Inf above 1.
double Quantile(double quantile, std::span<double> values);

// Of a native histogram. Notes: kQuantileNanResult, kQuantileNanSkew; kFractionNans.
double HistogramQuantile(double quantile, const model::HistogramView& histogram, NoteSet* notes);
double HistogramFraction(double lower, double upper, const model::HistogramView& histogram,
                         NoteSet* notes);

// One cumulative bucket of a classic histogram.
struct ClassicBucket {
  double upper_bound = 0;
  double count = 0;
};

struct ClassicQuantileResult {
  double value = 0;
  // Set if counts decreased from a bucket to the next and were raised; then the fields below count,
  // for Annotations::AddForcedMonotonicity().
  bool forced_monotonic = false;
  double min_bucket = 0;
  double max_bucket = 0;
  double max_difference = 0;
};

// Sort, merge and repair `buckets` in place. REQUIRES: !buckets.empty().
ClassicQuantileResult ClassicQuantile(double quantile, std::span<ClassicBucket> buckets);
double ClassicFraction(double lower, double upper, std::span<ClassicBucket> buckets);

}  // namespace narthex::promql
