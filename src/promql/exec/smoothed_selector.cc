#include "promql/exec/smoothed_selector.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"

namespace narthex::promql {

using model::CounterResetHint;
using model::FloatHistogram;
using model::HistogramView;

SmoothedSelector::SmoothedSelector(QueryContext* context, const StepGrid& grid,
                                   const VectorSelector* selector)
    : Operator(context, grid),
      source_(context, grid, selector, /*range_ms=*/0),
      position_(static_cast<uint32_t>(selector->position.begin)) {}

absl::Status SmoothedSelector::Prepare() {
  NX_RETURN_IF_ERROR(source_.Prepare());
  ShareSeries(source_.series());
  return absl::OkStatus();
}

absl::Status SmoothedSelector::Read(size_t index, Column* out) {
  out->Reset(grid().count);
  NX_RETURN_IF_ERROR(source_.Seek(index));
  NX_RETURN_IF_ERROR(context().Tick(1 + grid().count / 8));
  NoteSet notes;
  Window window;
  for (size_t step = 0; step < grid().count; ++step) {
    NX_RETURN_IF_ERROR(source_.MoveTo(grid().TimeAt(step), &window));
    if (window.empty()) continue;
    if (!window.values.empty() && !window.histograms.empty()) {
      notes.Add(Note::kMixedFloatsHistograms);
    } else if (window.histograms.empty()) {
      SmoothFloats(window, step, out);
    } else {
      SmoothHistograms(window, step, &notes, out);
    }
  }
  if (!notes.empty()) {
    context().annotations.AddAll(notes, position_, context().MetricName(series().labels(index)));
  }
  const size_t size = SampleSize(*out);
  context().total_queryable_samples += size;
  context().samples_read += size;
  return context().budget.Visit(size, out->num_bytes() + source_.num_bytes());
}

void SmoothedSelector::SmoothFloats(const Window& window, size_t step, Column* out) const {
  const auto times = window.float_times_ms;
  const auto next = static_cast<size_t>(
      std::lower_bound(times.begin(), times.end(), window.end_ms) - times.begin());
  if (next < times.size() && times[next] == window.end_ms) {
    out->SetFloat(step, window.values[next]);
  } else if (next == times.size()) {
    out->SetFloat(step, window.values[next - 1]);
  } else if (next > 0) {
    const double before = window.values[next - 1];
    const double after = window.values[next];
    out->SetFloat(step, before + (after - before) *
                                     static_cast<double>(window.end_ms - times[next - 1]) /
                                     static_cast<double>(times[next] - times[next - 1]));
  }
}

namespace {

// The histogram `fraction` of the way from one to the next; false if they cannot be combined.
bool Between(const HistogramView& before, const HistogramView& after, double fraction,
             NoteSet* notes, FloatHistogram* out) {
  *out = model::Materialize(after);
  const bool is_counter =
      before.hint != CounterResetHint::kGauge || after.hint != CounterResetHint::kGauge;
  if (is_counter && model::DetectReset(after, before)) {
    model::Multiply(out, fraction);
    return true;
  }
  const model::Combined difference = model::Subtract(out, before);
  if (!difference.compatible) return false;
  model::Multiply(out, fraction);
  const model::Combined sum = model::Add(out, before);
  if (difference.bounds_reconciled) notes->Add(Note::kReconciledInSubtraction);
  if (sum.bounds_reconciled) notes->Add(Note::kReconciledInAddition);
  return sum.compatible;
}

}  // namespace

void SmoothedSelector::SmoothHistograms(const Window& window, size_t step, NoteSet* notes,
                                        Column* out) const {
  const auto times = window.histogram_times_ms;
  const auto next = static_cast<size_t>(
      std::lower_bound(times.begin(), times.end(), window.end_ms) - times.begin());
  FloatHistogram result;
  if (next < times.size() && times[next] == window.end_ms) {
    result = model::Materialize(window.histograms[next]);
  } else if (next == times.size()) {
    result = model::Materialize(window.histograms[next - 1]);
    result.hint = CounterResetHint::kUnknown;
  } else if (next == 0) {
    return;
  } else {
    const HistogramView& before = window.histograms[next - 1];
    const HistogramView& after = window.histograms[next];
    const double fraction = static_cast<double>(window.end_ms - times[next - 1]) /
                            static_cast<double>(times[next] - times[next - 1]);
    if (before.has_custom_buckets() != after.has_custom_buckets() ||
        !Between(before, after, fraction, notes, &result)) {
      notes->Add(Note::kMixedSchemas);
      return;
    }
  }
  out->SetHistogram(step, std::make_shared<const FloatHistogram>(std::move(result)));
}

}  // namespace narthex::promql
