// The rate family over anchored and smoothed ranges. Anchored: from the newest sample at or before
// the start to the last one. Smoothed: from edge to edge, the values at the edges lying on the
// lines between the samples around them; if the counter was reset between those, the line starts at
// zero. Nothing is extrapolated.
#include <algorithm>
#include <optional>

#include "narthex/model/histogram_math.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

using model::CounterResetHint;
using model::FloatHistogram;
using model::HistogramView;

// The samples that the result is made of, first and last included; none if they miss the range.
struct Edges {
  size_t first;
  size_t last;
};

std::optional<Edges> FindEdges(std::span<const int64_t> times, const Window& window) {
  Edges edges = {FirstOfExtended(times, window.start_ms), times.size() - 1};
  const bool smoothed = window.mode == RangeMode::kSmoothed;
  if (smoothed) {
    edges.last = static_cast<size_t>(
        std::lower_bound(times.begin(), times.end() - 1, window.end_ms) - times.begin());
  }
  if (times[edges.last] <= window.start_ms) return std::nullopt;
  if (smoothed && times[edges.first] > window.end_ms) return std::nullopt;
  return edges;
}

// Where an edge lies between two samples.
struct Between {
  int64_t earlier_ms, later_ms, edge_ms;
};

double Interpolated(double earlier, double later, const Between& at, bool is_counter) {
  if (is_counter && later < earlier) earlier = 0;
  return earlier + (later - earlier) * static_cast<double>(at.edge_ms - at.earlier_ms) /
                       static_cast<double>(at.later_ms - at.earlier_ms);
}

double LostToResets(double left, double right, std::span<const double> inner) {
  double lost = 0;
  double previous = left;
  for (const double value : inner) {
    if (value < previous) lost += previous;
    previous = value;
  }
  if (right < previous) lost += previous;
  return lost;
}

// Adds to or subtracts from `*target`; false if the kinds differ.
enum class Operation : uint8_t { kAdd, kSubtract };
bool Combine(FloatHistogram* target, const HistogramView& other, Operation operation,
             NoteSet* notes) {
  const bool add = operation == Operation::kAdd;
  const model::Combined combined = add ? model::Add(target, other) : model::Subtract(target, other);
  if (!combined.compatible) {
    notes->Add(Note::kMixedSchemas);
    return false;
  }
  if (combined.bounds_reconciled) {
    notes->Add(add ? Note::kReconciledInAddition : Note::kReconciledInSubtraction);
  }
  return true;
}

bool Interpolate(const HistogramView& earlier, const HistogramView& later, const Between& at,
                 bool is_counter, NoteSet* notes, FloatHistogram* out) {
  if (at.edge_ms == at.earlier_ms) {
    model::MaterializeTo(earlier, out);
    return true;
  }
  model::MaterializeTo(later, out);
  if (at.edge_ms == at.later_ms) return true;
  const double fraction = static_cast<double>(at.edge_ms - at.earlier_ms) /
                          static_cast<double>(at.later_ms - at.earlier_ms);
  if (is_counter && model::DetectReset(later, earlier)) {
    model::Multiply(out, fraction);
    return true;
  }
  if (!Combine(out, earlier, Operation::kSubtract, notes)) return false;
  model::Multiply(out, fraction);
  return Combine(out, earlier, Operation::kAdd, notes);
}

// False if histograms of different kind are among `histograms`.
bool AreOfOneKind(std::span<const HistogramView> histograms, bool is_counter, NoteSet* notes) {
  for (const HistogramView& histogram : histograms) {
    if (histogram.has_custom_buckets() != histograms[0].has_custom_buckets()) {
      notes->Add(Note::kMixedSchemas);
      return false;
    }
    if (is_counter && histogram.hint == CounterResetHint::kGauge) notes->Add(Note::kNotCounter);
  }
  return true;
}

// What resets between the edges took away, into `*lost`, if anything. False if kinds differ.
bool LostToResets(const Window& window, const Edges& edges, const HistogramView& left,
                  const HistogramView& right, NoteSet* notes, std::optional<FloatHistogram>* lost) {
  const std::span<const HistogramView> histograms = window.histograms;
  const HistogramView* previous = &left;
  size_t next = edges.first + 1;
  if (window.mode == RangeMode::kSmoothed &&
      window.histogram_times_ms[edges.first] < window.start_ms &&
      model::DetectReset(histograms[edges.first + 1], histograms[edges.first])) {
    // The line to the left edge already started at zero because of this reset.
    previous = &histograms[next++];
  }
  if (next > edges.last) return true;
  const auto add = [&](const HistogramView& histogram) {
    if (lost->has_value()) return Combine(&**lost, histogram, Operation::kAdd, notes);
    *lost = model::Materialize(histogram);
    return true;
  };
  for (; next < edges.last; ++next) {
    if (model::DetectReset(histograms[next], *previous) && !add(*previous)) return false;
    previous = &histograms[next];
  }
  return !model::DetectReset(right, *previous) || add(*previous);
}

}  // namespace

size_t FirstOfExtended(std::span<const int64_t> times, int64_t start_ms) {
  const auto after = std::upper_bound(times.begin(), times.end() - 1, start_ms);
  return after == times.begin() ? 0 : static_cast<size_t>(after - times.begin()) - 1;
}

Outcome ExtendedFloatRate(const Window& window, RateKind kind, RangeResult* result) {
  const std::span<const int64_t> times = window.float_times_ms;
  const std::span<const double> values = window.values;
  const std::optional<Edges> edges = FindEdges(times, window);
  if (!edges.has_value()) return Outcome::kNone;
  size_t first = edges->first;
  size_t last = edges->last;
  const bool smoothed = window.mode == RangeMode::kSmoothed;
  double left = values[first];
  if (smoothed && times[first] < window.start_ms) {
    left = Interpolated(left, values[first + 1], {times[first], times[first + 1], window.start_ms},
                        kind.is_counter);
  }
  double right = values[last];
  if (smoothed && last > 0 && times[last] > window.end_ms) {
    right = Interpolated(values[last - 1], right, {times[last - 1], times[last], window.end_ms},
                         kind.is_counter);
  }
  double increase = right - left;
  if (kind.is_counter) {
    // Samples at or beyond the edges are already part of the values there.
    if (times[first] <= window.start_ms) ++first;
    const size_t end = times[last] >= window.end_ms ? last : last + 1;
    const size_t num_inner = end > first ? end - first : 0;
    increase += LostToResets(left, right, values.subspan(first, num_inner));
  }
  return FloatResult(kind.is_per_second ? increase / window.range_seconds() : increase, result);
}

Outcome ExtendedHistogramRate(const Window& window, RateKind kind, NoteSet* notes,
                              RangeResult* result) {
  const std::span<const int64_t> times = window.histogram_times_ms;
  const std::span<const HistogramView> histograms = window.histograms;
  const std::optional<Edges> edges = FindEdges(times, window);
  if (!edges.has_value()) return Outcome::kNone;
  const size_t first = edges->first;
  const size_t last = edges->last;
  if (!AreOfOneKind(histograms.subspan(first, last - first + 1), kind.is_counter, notes)) {
    return Outcome::kNone;
  }
  const bool smoothed = window.mode == RangeMode::kSmoothed;
  FloatHistogram left = model::Materialize(histograms[first]);
  if (smoothed && times[first] < window.start_ms &&
      !Interpolate(histograms[first], histograms[first + 1],
                   {times[first], times[first + 1], window.start_ms}, kind.is_counter, notes,
                   &left)) {
    return Outcome::kNone;
  }
  FloatHistogram right = model::Materialize(histograms[last]);
  if (smoothed && last > 0 && times[last] > window.end_ms &&
      !Interpolate(histograms[last - 1], histograms[last],
                   {times[last - 1], times[last], window.end_ms}, kind.is_counter, notes, &right)) {
    return Outcome::kNone;
  }
  if (!kind.is_counter &&
      (left.hint != CounterResetHint::kGauge || right.hint != CounterResetHint::kGauge)) {
    notes->Add(Note::kNotGauge);
  }
  FloatHistogram& increase = result->histogram;
  model::MaterializeTo(right, &increase);
  if (!Combine(&increase, left, Operation::kSubtract, notes)) return Outcome::kNone;
  if (kind.is_counter) {
    std::optional<FloatHistogram> lost;
    if (!LostToResets(window, *edges, left, right, notes, &lost)) return Outcome::kNone;
    if (lost.has_value() && !Combine(&increase, *lost, Operation::kAdd, notes)) {
      return Outcome::kNone;
    }
  }
  if (kind.is_per_second) model::Divide(&increase, window.range_seconds());
  increase.hint = CounterResetHint::kGauge;
  model::Compact(&increase);
  return Outcome::kHistogram;
}

}  // namespace narthex::promql
