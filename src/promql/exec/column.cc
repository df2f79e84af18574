#include "promql/exec/column.h"

#include <algorithm>

namespace narthex::promql {

void Column::Reset(size_t num_steps) {
  if (num_histograms_ != 0) {
    for (HistogramPtr& histogram : histograms_) histogram.reset();
  }
  values_.resize(num_steps);
  kinds_.assign(num_steps, PointKind::kNone);
  if (!histograms_.empty()) histograms_.resize(num_steps);
  num_floats_ = 0;
  num_histograms_ = 0;
}

void Column::Become(size_t step, PointKind kind) {
  switch (kinds_[step]) {
    case PointKind::kNone:
      break;
    case PointKind::kFloat:
      --num_floats_;
      break;
    case PointKind::kHistogram:
      --num_histograms_;
      histograms_[step].reset();
      break;
  }
  switch (kind) {
    case PointKind::kNone:
      break;
    case PointKind::kFloat:
      ++num_floats_;
      break;
    case PointKind::kHistogram:
      ++num_histograms_;
      if (histograms_.empty()) histograms_.resize(kinds_.size());
      break;
  }
  kinds_[step] = kind;
}

void Column::FillFloats(size_t begin, size_t end, double value) {
  if (num_histograms_ != 0) {
    for (size_t step = begin; step < end; ++step) SetFloat(step, value);
    return;
  }
  // Fast path: most columns have floats only, and whole stretches share one sample.
  for (size_t step = begin; step < end; ++step) {
    num_floats_ += kinds_[step] == PointKind::kNone ? 1 : 0;
    kinds_[step] = PointKind::kFloat;
    values_[step] = value;
  }
}

void Column::DropHistograms() {
  if (num_histograms_ == 0) return;
  for (size_t step = 0; step < kinds_.size(); ++step) {
    if (kinds_[step] == PointKind::kHistogram) Clear(step);
  }
}

void Column::CopyPoint(size_t step, const Column& from, size_t from_step) {
  switch (from.kind(from_step)) {
    case PointKind::kNone:
      Clear(step);
      break;
    case PointKind::kFloat:
      SetFloat(step, from.value(from_step));
      break;
    case PointKind::kHistogram:
      SetHistogram(step, from.histogram(from_step));
      break;
  }
}

size_t SampleSize(const model::FloatHistogram& histogram) {
  // Fixed fields are 168 bytes there; a span, a bucket and a bound 8 each; and 8 for the time.
  const model::HistogramLayout& layout = *histogram.layout;
  const size_t bytes = 168 + 8 * (layout.positive_spans.size() + layout.negative_spans.size() +
                                  histogram.buckets.size() + layout.custom_bounds.size());
  return (bytes + 8) / 16;
}

size_t SampleSize(const Column& column) {
  size_t size = column.num_floats();
  if (column.num_histograms() == 0) return size;
  for (size_t step = 0; step < column.size(); ++step) {
    if (column.kind(step) == PointKind::kHistogram) size += SampleSize(*column.histogram(step));
  }
  return size;
}

}  // namespace narthex::promql
