// The _over_time family: one number (or histogram) for all samples of a range.
#include <algorithm>
#include <cmath>
#include <limits>

#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"
#include "promql/functions/accumulators.h"
#include "promql/functions/quantile.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

using model::CounterResetHint;
using model::HistogramView;

double Seconds(int64_t time_ms) { return static_cast<double>(time_ms) / 1000; }

// For functions of either kind but not both. False: no result.
bool IsOfOneKind(const Window& window, NoteSet* notes) {
  if (window.empty()) return false;
  if (window.values.empty() || window.histograms.empty()) return true;
  notes->Add(Note::kMixedFloatsHistograms);
  return false;
}

// Sums up or averages histograms; Accumulator is model::HistogramSum or HistogramMean.
template <typename Accumulator>
Outcome Accumulate(std::span<const HistogramView> histograms, NoteSet* notes, RangeResult* result) {
  Accumulator accumulator;
  NoteSet found;
  bool reset_seen = false;
  bool no_reset_seen = false;
  for (const HistogramView& histogram : histograms) {
    reset_seen |= histogram.hint == CounterResetHint::kReset;
    no_reset_seen |= histogram.hint == CounterResetHint::kNotReset;
    const model::Combined combined = accumulator.Add(histogram);
    if (!combined.compatible) {
      notes->Add(Note::kMixedSchemas);
      return Outcome::kNone;
    }
    if (combined.bounds_reconciled) found.Add(Note::kReconciledInAggregation);
  }
  if (reset_seen && no_reset_seen) found.Add(Note::kCollisionInAggregation);
  notes->Merge(found);
  result->histogram = accumulator.Take();
  return Outcome::kHistogram;
}

// The position of the best value, `replaces(candidate, best)` saying what is better.
template <typename Replaces>
size_t BestOf(std::span<const double> values, Replaces replaces) {
  size_t best = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (replaces(values[i], values[best])) best = i;
  }
  return best;
}

template <typename Replaces>
Outcome BestValue(const Window& window, NoteSet* notes, RangeResult* result, Replaces replaces) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  return FloatResult(window.values[BestOf(window.values, replaces)], result);
}

template <typename Replaces>
Outcome TimeOfBest(const Window& window, NoteSet* notes, RangeResult* result, Replaces replaces) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  return FloatResult(Seconds(window.float_times_ms[BestOf(window.values, replaces)]), result);
}

Outcome HistogramResult(const HistogramView& histogram, RangeResult* result) {
  model::MaterializeTo(histogram, &result->histogram);
  return Outcome::kHistogram;
}

}  // namespace

Outcome AvgOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  if (!IsOfOneKind(window, notes)) return Outcome::kNone;
  if (window.values.empty()) {
    return Accumulate<model::HistogramMean>(window.histograms, notes, result);
  }
  return FloatResult(CompensatedMean(window.values), result);
}

Outcome SumOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  if (!IsOfOneKind(window, notes)) return Outcome::kNone;
  if (window.values.empty()) {
    return Accumulate<model::HistogramSum>(window.histograms, notes, result);
  }
  return FloatResult(CompensatedSum(window.values), result);
}

Outcome CountOverTimeKernel(const Window& window, const RangeArguments&, NoteSet*,
                            RangeResult* result) {
  if (window.empty()) return Outcome::kNone;
  return FloatResult(static_cast<double>(window.values.size() + window.histograms.size()), result);
}

Outcome PresentOverTimeKernel(const Window& window, const RangeArguments&, NoteSet*,
                              RangeResult* result) {
  return window.empty() ? Outcome::kNone : FloatResult(1, result);
}

Outcome MinOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  return BestValue(window, notes, result, ReplacesMin);
}

Outcome MaxOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  return BestValue(window, notes, result, ReplacesMax);
}

Outcome TimeOfMaxKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                        RangeResult* result) {
  // The last one of equals.
  return TimeOfBest(window, notes, result, [](double candidate, double best) {
    return candidate >= best || std::isnan(best);
  });
}

Outcome TimeOfMinKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                        RangeResult* result) {
  return TimeOfBest(window, notes, result, [](double candidate, double best) {
    return candidate <= best || std::isnan(best);
  });
}

Outcome FirstOverTimeKernel(const Window& window, const RangeArguments&, NoteSet*,
                            RangeResult* result) {
  if (window.empty()) return Outcome::kNone;
  const bool is_float =
      window.histograms.empty() ||
      (!window.values.empty() && window.float_times_ms[0] < window.histogram_times_ms[0]);
  if (is_float) return FloatResult(window.values[0], result);
  return HistogramResult(window.histograms[0], result);
}

Outcome LastOverTimeKernel(const Window& window, const RangeArguments&, NoteSet*,
                           RangeResult* result) {
  if (window.empty()) return Outcome::kNone;
  const bool is_float =
      window.histograms.empty() ||
      (!window.values.empty() && window.float_times_ms.back() > window.histogram_times_ms.back());
  if (is_float) return FloatResult(window.values.back(), result);
  return HistogramResult(window.histograms.back(), result);
}

Outcome TimeOfFirstKernel(const Window& window, const RangeArguments&, NoteSet*,
                          RangeResult* result) {
  if (window.empty()) return Outcome::kNone;
  int64_t first_ms = std::numeric_limits<int64_t>::max();
  if (!window.values.empty()) first_ms = window.float_times_ms.front();
  if (!window.histograms.empty()) first_ms = std::min(first_ms, window.histogram_times_ms.front());
  return FloatResult(Seconds(first_ms), result);
}

Outcome TimeOfLastKernel(const Window& window, const RangeArguments&, NoteSet*,
                         RangeResult* result) {
  if (window.empty()) return Outcome::kNone;
  int64_t last_ms = 0;  // A last sample before 1970 is told as 1970 if it stands alone.
  if (!window.values.empty()) last_ms = std::max(last_ms, window.float_times_ms.back());
  if (!window.histograms.empty()) last_ms = std::max(last_ms, window.histogram_times_ms.back());
  return FloatResult(Seconds(last_ms), result);
}

Outcome StdvarOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                             RangeResult* result) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  return FloatResult(CompensatedVariance(window.values), result);
}

Outcome StddevOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                             RangeResult* result) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  return FloatResult(std::sqrt(CompensatedVariance(window.values)), result);
}

Outcome QuantileOverTimeKernel(const Window& window, const RangeArguments& arguments,
                               NoteSet* notes, RangeResult* result) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  if (IsInvalidQuantile(arguments.first)) notes->Add(Note::kInvalidQuantile);
  result->scratch.assign(window.values.begin(), window.values.end());
  return FloatResult(Quantile(arguments.first, result->scratch), result);
}

Outcome MadOverTimeKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  if (!HasFloats(window, notes)) return Outcome::kNone;
  std::vector<double>& values = result->scratch;
  values.assign(window.values.begin(), window.values.end());
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::any_of(values.begin(), values.end(), is_nan)) {
    return FloatResult(model::NormalNan(), result);
  }
  const double median = Quantile(0.5, values);
  for (double& value : values) value = std::abs(value - median);
  return FloatResult(Quantile(0.5, values), result);
}

}  // namespace narthex::promql
