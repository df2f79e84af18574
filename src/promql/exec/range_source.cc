#include "promql/exec/range_source.h"

#include <utility>

#include "narthex/base/status.h"

namespace narthex::promql {
namespace {

RangeMode ModeOf(RangeExtension extension) {
  switch (extension) {
    case RangeExtension::kNone:
      return RangeMode::kPlain;
    case RangeExtension::kAnchored:
      return RangeMode::kAnchored;
    case RangeExtension::kSmoothed:
      return RangeMode::kSmoothed;
  }
  return RangeMode::kPlain;
}

}  // namespace

RangeSource::RangeSource(QueryContext* context, DataTime data_time, int64_t range_ms,
                         RangeMode mode, Reads reads, SampleBuffer::Hints hints)
    : context_(context),
      data_time_(data_time),
      range_ms_(range_ms),
      mode_(mode),
      reads_storage_(reads == Reads::kStorage),
      buffer_(hints) {}

absl::Status RangeSource::MoveTo(int64_t time_ms, Window* window) {
  const int64_t end_ms = data_time_.At(time_ms);
  const int64_t until_ms = end_ms + reach_after_ms();
  if (buffer_.newest_ms() <= until_ms) NX_RETURN_IF_ERROR(Load(until_ms));
  window->start_ms = end_ms - range_ms_;
  window->end_ms = end_ms;
  window->eval_time_ms = time_ms;
  window->mode = mode_;
  buffer_.Slide(end_ms - range_ms_ - reach_before_ms(), until_ms, window);
  return absl::OkStatus();
}

SelectorSource::SelectorSource(QueryContext* context, const StepGrid& grid,
                               const VectorSelector* selector, int64_t range_ms)
    : RangeSource(context, DataTimeOf(selector->at, selector->offset), range_ms,
                  ModeOf(selector->extension), Reads::kStorage,
                  selector->hints.detail == model::HistogramDetail::kCountAndSum
                      ? SampleBuffer::Hints::kExplicit
                      : SampleBuffer::Hints::kAsStored),
      selector_(*selector) {
  times_.min_time_ms = data_time_.At(grid.start_ms) - range_ms_ - reach_before_ms() + 1;
  times_.max_time_ms = data_time_.At(grid.end_ms()) + reach_after_ms();
}

absl::Status SelectorSource::Prepare() {
  NX_ASSIGN_OR_RETURN(selection_, SelectSeries(selector_, context_));
  ListSeries(*selection_, &own_series_);
  series_ = &own_series_;
  return context_->Tick(selection_->size());
}

absl::Status SelectorSource::Seek(size_t index) {
  // Counter resets show in the buckets, so that functions over ranges need them even where only
  // counts and sums are asked for in the end.
  if (cursor_ == nullptr) cursor_ = selection_->NewCursor(model::HistogramDetail::kFull);
  cursor_->Seek(index, times_);
  buffer_.Clear();
  at_end_ = false;
  return context_->Tick(16);
}

absl::Status SelectorSource::Load(int64_t time_ms) {
  while (!at_end_ && buffer_.newest_ms() <= time_ms) {
    if (!cursor_->Next()) {
      at_end_ = true;
      return cursor_->status();
    }
    NX_RETURN_IF_ERROR(context_->Tick(cursor_->batch().times_ms.size()));
    buffer_.Append(cursor_->batch());
  }
  return absl::OkStatus();
}

StepGrid SubqueryGrid(const Subquery& subquery, const StepGrid& grid) {
  const DataTime data_time = DataTimeOf(subquery.at, subquery.offset);
  StepGrid inner;
  inner.step_ms = subquery.step.ms;
  // Left-open: the first multiple after the beginning of the first window.
  const int64_t after_ms = data_time.At(grid.start_ms) - subquery.range.ms;
  inner.start_ms = after_ms / inner.step_ms * inner.step_ms;
  if (inner.start_ms <= after_ms) inner.start_ms += inner.step_ms;
  const int64_t end_ms = data_time.At(grid.end_ms());
  if (grid.count != 0 && end_ms >= inner.start_ms) {
    inner.count = static_cast<size_t>((end_ms - inner.start_ms) / inner.step_ms) + 1;
  }
  return inner;
}

SubquerySource::SubquerySource(QueryContext* context, const Subquery& subquery, OperatorPtr input)
    : RangeSource(context, DataTimeOf(subquery.at, subquery.offset), subquery.range.ms,
                  RangeMode::kPlain, Reads::kOperator, SampleBuffer::Hints::kAsStored),
      input_(std::move(input)) {}

absl::Status SubquerySource::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  series_ = &input_->series();
  return absl::OkStatus();
}

absl::Status SubquerySource::Seek(size_t index) {
  buffer_.Clear();
  NX_RETURN_IF_ERROR(input_->Read(index, &column_));
  buffer_.AppendPoints(column_, input_->grid());
  return context_->budget.Visit(SampleSize(column_), column_.num_bytes() + buffer_.num_bytes());
}

}  // namespace narthex::promql
