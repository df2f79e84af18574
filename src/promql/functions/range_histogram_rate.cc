// The increase of native histograms over a range: last minus first, plus the histogram before each
// counter reset. If the second sample is a reset, the first one does not matter at all, so that its
// bucket layout may be of any kind.
#include <algorithm>

#include "narthex/model/histogram_math.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

using model::CounterResetHint;
using model::FloatHistogram;
using model::HistogramView;

// Like `histogram` in kind and bounds, but nothing was observed yet.
FloatHistogram NothingYet(const HistogramView& histogram) {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = histogram.shape().schema;
  layout->custom_bounds = histogram.shape().custom_bounds;
  FloatHistogram nothing;
  nothing.layout = std::move(layout);
  return nothing;
}

// The lowest resolution that counts, if all samples are of one kind.
bool FindLowestSchema(std::span<const HistogramView> histograms, const HistogramView& first,
                      bool is_counter, NoteSet* notes, int32_t* schema) {
  const bool custom = first.has_custom_buckets();
  const HistogramView& last = histograms.back();
  if (last.has_custom_buckets() != custom) return false;
  *schema = std::min(first.shape().schema, last.shape().schema);
  if (!is_counter) return true;
  for (const HistogramView& histogram : histograms.subspan(1, histograms.size() - 2)) {
    if (histogram.hint == CounterResetHint::kGauge) notes->Add(Note::kNotCounter);
    *schema = std::min(*schema, histogram.shape().schema);
    if (histogram.has_custom_buckets() != custom) return false;
  }
  return true;
}

// Adds what each reset took away; false if histograms of different kind meet.
bool AddBackResets(std::span<const HistogramView> histograms, const HistogramView& first,
                   NoteSet* notes, FloatHistogram* increase) {
  const HistogramView* previous = &first;
  for (const HistogramView& histogram : histograms.subspan(1)) {
    if (model::DetectReset(histogram, *previous)) {
      const model::Combined combined = model::Add(increase, *previous);
      if (!combined.compatible) return false;
      if (combined.bounds_reconciled) notes->Add(Note::kReconciledInAddition);
    }
    previous = &histogram;
  }
  return true;
}

}  // namespace

bool HistogramIncrease(const Window& window, bool is_counter, NoteSet* notes, FloatHistogram* out) {
  const std::span<const HistogramView> histograms = window.histograms;
  const HistogramView& last = histograms.back();
  NoteSet found;
  const bool any_gauge =
      histograms.front().hint == CounterResetHint::kGauge || last.hint == CounterResetHint::kGauge;
  const bool both_gauges =
      histograms.front().hint == CounterResetHint::kGauge && last.hint == CounterResetHint::kGauge;
  if (is_counter && any_gauge) found.Add(Note::kNotCounter);
  if (!is_counter && !both_gauges) found.Add(Note::kNotGauge);

  HistogramView first = histograms.front();
  FloatHistogram nothing;
  if (is_counter && model::DetectReset(histograms[1], first)) {
    nothing = NothingYet(histograms[1]);
    first = nothing;
  }
  int32_t schema = 0;
  if (!FindLowestSchema(histograms, first, is_counter, &found, &schema)) {
    notes->Add(Note::kMixedSchemas);
    // Of other notes only this one, and only if it is the ends that do not fit together.
    const bool ends_differ = last.has_custom_buckets() != first.has_custom_buckets();
    if (ends_differ && is_counter && any_gauge) notes->Add(Note::kNotCounter);
    return false;
  }
  model::MaterializeTo(last, out);
  if (schema < last.shape().schema) model::ReduceResolution(out, schema);
  // Resets are dealt with here; that their hints collide says nothing new.
  const model::Combined combined = model::Subtract(out, first);
  if (combined.bounds_reconciled) found.Add(Note::kReconciledInSubtraction);
  if (is_counter && !AddBackResets(histograms, first, &found, out)) {
    notes->Add(Note::kMixedSchemas);
    return false;
  }
  notes->Merge(found);
  out->hint = CounterResetHint::kGauge;
  model::Compact(out);
  return true;
}

}  // namespace narthex::promql
