// rate, increase, delta: the difference of the last and the first sample in the range, with what
// counter resets took away added back, extrapolated towards the edges of the range. irate, idelta:
// the difference of the last two samples.
#include <algorithm>
#include <cmath>

#include "narthex/model/histogram_math.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

using model::CounterResetHint;
using model::HistogramView;

double SecondsBetween(int64_t from_ms, int64_t to_ms) {
  return static_cast<double>(to_ms - from_ms) / 1000;
}

// Last minus first, with the value before each decrease added.
double FloatIncrease(std::span<const double> values, bool is_counter) {
  double increase = values.back() - values.front();
  if (!is_counter) return increase;
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1]) increase += values[i - 1];
  }
  return increase;
}

// What extrapolation needs to know of the samples.
struct Sampled {
  int64_t first_ms, last_ms;
  size_t num_samples;
  double first_count;  // Of a histogram the number of observations.
  double increase;
};

// By how much the increase between the samples grows when it is taken to go on to the edges: all
// the way if they are about as near as the next sample would be, else by half a sampling interval.
// A counter is not taken back beyond its zero.
double ExtrapolationFactor(const Window& window, const Sampled& sampled, RateKind kind) {
  double to_start = SecondsBetween(window.start_ms, sampled.first_ms);
  double to_end = SecondsBetween(sampled.last_ms, window.end_ms);
  const double interval = SecondsBetween(sampled.first_ms, sampled.last_ms);
  const double average = interval / static_cast<double>(sampled.num_samples - 1);
  const double threshold = average * 1.1;
  if (to_start >= threshold) to_start = average / 2;
  if (kind.is_counter && sampled.increase > 0 && sampled.first_count >= 0) {
    const double to_zero = interval * (sampled.first_count / sampled.increase);
    if (to_zero < to_start) to_start = to_zero;
  }
  if (to_end >= threshold) to_end = average / 2;
  double factor = 1;
  if (interval != 0) factor = (interval + to_start + to_end) / interval;
  return kind.is_per_second ? factor / window.range_seconds() : factor;
}

Outcome ExtrapolatedRate(const Window& window, RateKind kind, NoteSet* notes, RangeResult* result) {
  if (!window.histograms.empty() && !window.values.empty()) {
    notes->Add(Note::kMixedFloatsHistograms);
    return Outcome::kNone;
  }
  if (window.mode != RangeMode::kPlain) {
    if (!window.histograms.empty()) return ExtendedHistogramRate(window, kind, notes, result);
    if (!window.values.empty()) return ExtendedFloatRate(window, kind, result);
    return Outcome::kNone;
  }
  if (window.values.size() >= 2) {
    const double increase = FloatIncrease(window.values, kind.is_counter);
    return ExtrapolatedFloatRate(window, increase, kind, result);
  }
  if (window.histograms.size() < 2) return Outcome::kNone;
  if (!HistogramIncrease(window, kind.is_counter, notes, &result->histogram)) {
    return Outcome::kNone;
  }
  const Sampled sampled = {window.histogram_times_ms.front(), window.histogram_times_ms.back(),
                           window.histograms.size(), window.histograms.front().count,
                           result->histogram.count};
  model::Multiply(&result->histogram, ExtrapolationFactor(window, sampled, kind));
  return Outcome::kHistogram;
}

// One of the last two samples of a range, of either kind.
struct Recent {
  int64_t time_ms = 0;
  double value = 0;
  const HistogramView* histogram = nullptr;
};

// The last two samples in `*older`, `*newer`. REQUIRES: there are two.
void FindLastTwo(const Window& window, Recent* older, Recent* newer) {
  size_t num_floats = window.values.size();
  size_t num_histograms = window.histograms.size();
  const auto take_last = [&]() -> Recent {
    const bool is_float = num_histograms == 0 ||
                          (num_floats > 0 && window.float_times_ms[num_floats - 1] >
                                                 window.histogram_times_ms[num_histograms - 1]);
    if (is_float) {
      --num_floats;
      return {window.float_times_ms[num_floats], window.values[num_floats], nullptr};
    }
    --num_histograms;
    return {window.histogram_times_ms[num_histograms], 0, &window.histograms[num_histograms]};
  };
  *newer = take_last();
  *older = take_last();
}

// The difference of two histograms in a row. True with the result in `*out`.
bool HistogramDifference(const HistogramView& older, const HistogramView& newer, bool is_rate,
                         NoteSet* notes, model::FloatHistogram* out) {
  const bool both_gauges =
      older.hint == CounterResetHint::kGauge && newer.hint == CounterResetHint::kGauge;
  const bool any_gauge =
      older.hint == CounterResetHint::kGauge || newer.hint == CounterResetHint::kGauge;
  if (is_rate && any_gauge) notes->Add(Note::kNotCounter);
  if (!is_rate && !both_gauges) notes->Add(Note::kNotGauge);
  model::MaterializeTo(newer, out);
  if (!is_rate || !model::DetectReset(newer, older)) {
    const model::Combined combined = model::Subtract(out, older);
    if (!combined.compatible) {
      notes->Add(Note::kMixedSchemas);
      return false;
    }
    if (combined.bounds_reconciled) notes->Add(Note::kReconciledInSubtraction);
  }
  out->hint = CounterResetHint::kGauge;
  model::Compact(out);
  return true;
}

Outcome InstantDifference(const Window& window, bool is_rate, NoteSet* notes, RangeResult* result) {
  if (window.values.size() + window.histograms.size() < 2) return Outcome::kNone;
  Recent older, newer;
  FindLastTwo(window, &older, &newer);
  if (older.time_ms == newer.time_ms) return Outcome::kNone;
  const double seconds = SecondsBetween(older.time_ms, newer.time_ms);
  if ((older.histogram == nullptr) != (newer.histogram == nullptr)) {
    notes->Add(Note::kMixedFloatsHistograms);
    return Outcome::kNone;
  }
  if (newer.histogram == nullptr) {
    // After a reset the counter began at zero.
    const bool was_reset = is_rate && newer.value < older.value;
    const double difference = was_reset ? newer.value : newer.value - older.value;
    return FloatResult(is_rate ? difference / seconds : difference, result);
  }
  if (!HistogramDifference(*older.histogram, *newer.histogram, is_rate, notes,
                           &result->histogram)) {
    return Outcome::kNone;
  }
  if (is_rate) model::Divide(&result->histogram, seconds);
  return Outcome::kHistogram;
}

}  // namespace

Outcome ExtrapolatedFloatRate(const Window& window, double increase, RateKind kind,
                              RangeResult* result) {
  const Sampled sampled = {window.float_times_ms.front(), window.float_times_ms.back(),
                           window.values.size(), window.values.front(), increase};
  return FloatResult(increase * ExtrapolationFactor(window, sampled, kind), result);
}

Outcome RateKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                   RangeResult* result) {
  return ExtrapolatedRate(window, {.is_counter = true, .is_per_second = true}, notes, result);
}

Outcome IncreaseKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                       RangeResult* result) {
  return ExtrapolatedRate(window, {.is_counter = true, .is_per_second = false}, notes, result);
}

Outcome DeltaKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                    RangeResult* result) {
  return ExtrapolatedRate(window, {.is_counter = false, .is_per_second = false}, notes, result);
}

Outcome InstantRateKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                          RangeResult* result) {
  return InstantDifference(window, /*is_rate=*/true, notes, result);
}

Outcome InstantDeltaKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                           RangeResult* result) {
  return InstantDifference(window, /*is_rate=*/false, notes, result);
}

}  // namespace narthex::promql
