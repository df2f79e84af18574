#include "promql/exec/instant_selector.h"

#include <algorithm>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::promql {

using model::ColumnBatch;
using model::SampleKind;

DataTime DataTimeOf(const AtModifier& at, const Duration& offset) {
  return {.fixed = at.kind != AtKind::kNone, .at_ms = at.time_ms, .offset_ms = offset.ms};
}

absl::StatusOr<std::unique_ptr<model::SeriesSelection>> SelectSeries(const VectorSelector& selector,
                                                                     QueryContext* context) {
  auto selection = context->querier->Select(selector.matchers, selector.hints);
  if (!selection.ok()) return base::WithContext(selection.status(), "expanding series");
  return selection;
}

void ListSeries(const model::SeriesSelection& selection, SeriesList* list) {
  list->Reserve(selection.size());
  for (size_t i = 0; i < selection.size(); ++i) {
    list->AddWith([&](std::vector<model::SymbolLabel>* out) { selection.AppendLabels(i, out); });
  }
}

model::LayoutPtr LayoutWithoutBuckets(const model::LayoutPtr& layout) {
  if (layout == nullptr || !layout->has_custom_buckets()) return model::EmptyLayout();
  static const model::LayoutPtr kCustom = [] {
    auto custom = std::make_shared<model::HistogramLayout>();
    custom->schema = model::kCustomBucketsSchema;
    return custom;
  }();
  return kCustom;
}

model::FloatHistogram HistogramOfRow(const ColumnBatch& batch, size_t row) {
  model::FloatHistogram histogram;
  histogram.hint = batch.hints[row];
  histogram.count = batch.counts[row];
  histogram.zero_count = batch.zero_counts[row];
  histogram.sum = batch.sums[row];
  const size_t num_buckets = batch.layout == nullptr ? 0 : batch.layout->num_buckets();
  if (batch.layout == nullptr || (batch.buckets.empty() && num_buckets != 0)) {
    histogram.layout = LayoutWithoutBuckets(batch.layout);
  } else {
    histogram.layout = batch.layout;
    const auto buckets = batch.buckets.subspan(row * num_buckets, num_buckets);
    histogram.buckets.assign(buckets.begin(), buckets.end());
  }
  return histogram;
}

InstantSelector::InstantSelector(QueryContext* context, const StepGrid& grid,
                                 const VectorSelector* selector, Yield yield)
    : Operator(context, grid),
      selector_(*selector),
      yield_(yield),
      data_time_(DataTimeOf(selector->at, selector->offset)) {
  range_.min_time_ms = data_time_.At(grid.start_ms) - context->lookback_ms + 1;
  range_.max_time_ms = data_time_.At(grid.end_ms());
}

absl::Status InstantSelector::Prepare() {
  NX_ASSIGN_OR_RETURN(selection_, SelectSeries(selector_, &context()));
  ListSeries(*selection_, OwnSeries());
  return context().Tick(selection_->size());
}

absl::Status InstantSelector::Read(size_t index, Column* out) {
  const size_t num_steps = grid().count;
  out->Reset(num_steps);
  if (num_steps == 0) return absl::OkStatus();
  NX_RETURN_IF_ERROR(context().Tick(16));
  newest_ = Newest();
  bool done = false;
  if (num_steps == 1 || data_time_.fixed) NX_RETURN_IF_ERROR(ReadLatest(index, out, &done));
  if (!done) {
    if (cursor_ == nullptr) cursor_ = selection_->NewCursor(selector_.hints.detail);
    cursor_->Seek(index, range_);
    size_t step = 0;
    while (step < num_steps && cursor_->Next()) {
      NX_RETURN_IF_ERROR(context().Tick(cursor_->batch().times_ms.size()));
      const ColumnBatch& batch = cursor_->batch();
      const bool simple = batch.kind == SampleKind::kFloat && yield_ == Yield::kSample &&
                          !data_time_.fixed && newest_.histogram == nullptr;
      if (simple) {
        AbsorbFloats(batch, &step, out);
      } else {
        Absorb(batch, &step, out);
        if (batch.kind == SampleKind::kHistogram) newest_.last_count = batch.counts.back();
      }
    }
    NX_RETURN_IF_ERROR(cursor_->status());
    Emit(step, num_steps, out);
  }
  const size_t size = SampleSize(*out);
  context().total_queryable_samples += size;
  context().samples_read += size;
  return context().budget.Visit(size, out->num_bytes());
}

// Fast path: one moment only, and the storage may know the newest sample without reading chunks.
absl::Status InstantSelector::ReadLatest(size_t index, Column* out, bool* done) {
  switch (selection_->FindLatest(index, range_, &latest_)) {
    case model::SeriesSelection::Latest::kAskCursor:
      return absl::OkStatus();
    case model::SeriesSelection::Latest::kNone:
      *done = true;
      return absl::OkStatus();
    case model::SeriesSelection::Latest::kHave:
      break;
  }
  *done = true;
  newest_.valid = true;
  newest_.time_ms = latest_.time_ms;
  if (latest_.kind == SampleKind::kFloat) {
    newest_.value = latest_.value;
    newest_.stale = model::IsStaleNan(latest_.value);
  } else {
    newest_.stale = model::IsStaleNan(latest_.histogram.sum);
    if (!newest_.stale) {
      if (selector_.hints.detail == model::HistogramDetail::kCountAndSum) {
        latest_.histogram.layout = LayoutWithoutBuckets(latest_.histogram.layout);
        latest_.histogram.buckets.clear();
      }
      newest_.histogram =
          std::make_shared<const model::FloatHistogram>(std::move(latest_.histogram));
      latest_.histogram = model::FloatHistogram();
    }
  }
  Emit(0, grid().count, out);
  return absl::OkStatus();
}

size_t InstantSelector::StepAtOrAfter(size_t step, int64_t time_ms) const {
  if (data_time_.fixed) return data_time_.At(0) >= time_ms ? step : grid().count;
  const int64_t wanted = time_ms + data_time_.offset_ms - grid().start_ms;
  if (wanted <= 0) return step;
  const auto at = static_cast<size_t>((wanted + grid().step_ms - 1) / grid().step_ms);
  return std::min(std::max(step, at), grid().count);
}

// Sets the points of steps begin..end-1 from the newest sample, as far as it reaches.
void InstantSelector::Emit(size_t begin, size_t end, Column* out) {
  if (!newest_.valid || newest_.stale || begin >= end) return;
  end = std::min(end, StepAtOrAfter(begin, newest_.time_ms + context().lookback_ms));
  const bool is_float = newest_.histogram == nullptr;
  if (yield_ == Yield::kTimestamp || (yield_ == Yield::kFloatTimestamp && is_float)) {
    out->FillFloats(begin, end, static_cast<double>(newest_.time_ms) / 1000);
  } else if (is_float) {
    out->FillFloats(begin, end, newest_.value);
  } else {
    for (size_t step = begin; step < end; ++step) out->SetHistogram(step, newest_.histogram);
  }
}

void InstantSelector::Take(const ColumnBatch& batch, size_t row) {
  newest_.valid = true;
  newest_.time_ms = batch.times_ms[row];
  if (batch.kind == SampleKind::kFloat) {
    newest_.value = batch.values[row];
    newest_.stale = model::IsStaleNan(newest_.value);
    newest_.histogram = nullptr;
  } else {
    TakeHistogram(batch, row);
  }
}

void InstantSelector::TakeHistogram(const ColumnBatch& batch, size_t row) {
  newest_.stale = model::IsStaleNan(batch.sums[row]);
  newest_.histogram = nullptr;
  if (newest_.stale) return;
  model::FloatHistogram histogram = HistogramOfRow(batch, row);
  // Where only counts and sums are wanted, a histogram says whether it is a counter reset, as far
  // as its count tells.
  if (selector_.hints.detail == model::HistogramDetail::kCountAndSum &&
      histogram.hint == model::CounterResetHint::kUnknown) {
    const double before = row != 0 ? batch.counts[row - 1] : newest_.last_count;
    if (before >= 0) {
      histogram.hint = histogram.count < before ? model::CounterResetHint::kReset
                                                : model::CounterResetHint::kNotReset;
    }
  }
  newest_.histogram = std::make_shared<const model::FloatHistogram>(std::move(histogram));
}

// Fast path: as Absorb(), for floats only, with the step's time carried along instead of divided
// out. A range query spends most of its time here.
void InstantSelector::AbsorbFloats(const ColumnBatch& batch, size_t* step, Column* out) {
  const int64_t* const times = batch.times_ms.data();
  const double* const values = batch.values.data();
  const size_t num_rows = batch.times_ms.size();
  const size_t num_steps = grid().count;
  const int64_t step_ms = grid().step_ms;
  const int64_t lookback_ms = context().lookback_ms;
  const Column::FloatCells cells = out->float_cells();
  int64_t time = data_time_.At(grid().TimeAt(*step));
  bool valid = newest_.valid && !newest_.stale;
  int64_t newest_time = newest_.time_ms;
  double newest_value = newest_.value;
  size_t at = *step;
  size_t row = 0;
  size_t num_set = 0;
  for (; at < num_steps; ++at, time += step_ms) {
    if (times[row] <= time) {
      // To the last row at or before the step; far ones by galloping.
      size_t width = 1;
      while (row + width < num_rows && times[row + width] <= time) width *= 2;
      if (width > 1) {
        const int64_t* const found = std::upper_bound(
            times + row + width / 2, times + std::min(row + width, num_rows), time);
        row = static_cast<size_t>(found - times) - 1;
      }
      newest_time = times[row];
      newest_value = values[row];
      valid = !model::IsStaleNan(newest_value);
      // The last row is kept: the next batch may have a newer sample for this step.
      if (++row == num_rows) break;
    }
    if (!valid || newest_time <= time - lookback_ms) continue;
    cells.values[at] = newest_value;
    cells.kinds[at] = PointKind::kFloat;
    ++num_set;
  }
  out->AddFloats(num_set);
  newest_.valid = newest_.valid || row != 0;
  newest_.stale = !valid;
  newest_.time_ms = newest_time;
  newest_.value = newest_value;
  *step = at;
}

// Moves through a batch from step to step; samples between two steps are skipped over by galloping.
// The last row is kept: the step it serves may still get a newer sample from the next batch.
void InstantSelector::Absorb(const ColumnBatch& batch, size_t* step, Column* out) {
  const std::span<const int64_t> times = batch.times_ms;
  size_t row = 0;
  while (*step < grid().count) {
    // Steps before the row belong to the sample before it.
    const size_t reached = StepAtOrAfter(*step, times[row]);
    Emit(*step, reached, out);
    *step = reached;
    if (reached == grid().count) return;
    const int64_t time = data_time_.At(grid().TimeAt(reached));
    size_t width = 1;
    while (row + width < times.size() && times[row + width] <= time) width *= 2;
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(row + width / 2);
    const auto last =
        times.begin() + static_cast<std::ptrdiff_t>(std::min(row + width, times.size()));
    row = static_cast<size_t>(std::upper_bound(first, last, time) - times.begin()) - 1;
    Take(batch, row);
    if (++row == times.size()) return;
  }
}

}  // namespace narthex::promql
