#include "promql/exec/sample_buffer.h"

#include <algorithm>
#include <utility>

#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"
#include "promql/exec/instant_selector.h"

namespace narthex::promql {

using model::ColumnBatch;
using model::CounterResetHint;
using model::HistogramView;

namespace {

// How much may lie unused at the front before the rest is moved down.
constexpr size_t kMaxWaste = 1024;

template <typename Value>
void EraseFront(std::vector<Value>* values, size_t count) {
  values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void SampleBuffer::Clear() {
  times_ms_.clear();
  values_.clear();
  floats_ = {};
  floats_dropped_ = 0;
  histogram_times_ms_.clear();
  histograms_.clear();
  sizes_.clear();
  histogram_range_ = {};
  histogram_samples_ = 0;
  while (!blocks_.empty()) {
    free_blocks_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }
  front_views_gone_ = 0;
  newest_ms_ = INT64_MIN;
  num_new_samples_ = 0;
}

void SampleBuffer::Append(const ColumnBatch& batch) {
  if (batch.times_ms.empty()) return;
  newest_ms_ = batch.times_ms.back();
  if (batch.kind == model::SampleKind::kFloat) {
    AppendFloats(batch);
  } else {
    AppendHistograms(batch);
  }
}

void SampleBuffer::AppendFloats(const ColumnBatch& batch) {
  const size_t old_size = values_.size();
  times_ms_.insert(times_ms_.end(), batch.times_ms.begin(), batch.times_ms.end());
  values_.insert(values_.end(), batch.values.begin(), batch.values.end());
  // Stale markers are rare: look for one first, squeeze them out only then.
  const auto appended = values_.begin() + static_cast<std::ptrdiff_t>(old_size);
  if (std::none_of(appended, values_.end(), model::IsStaleNan)) return;
  size_t kept = old_size;
  for (size_t i = old_size; i < values_.size(); ++i) {
    if (model::IsStaleNan(values_[i])) continue;
    times_ms_[kept] = times_ms_[i];
    values_[kept++] = values_[i];
  }
  times_ms_.resize(kept);
  values_.resize(kept);
}

SampleBuffer::Block* SampleBuffer::NewBlock() {
  if (free_blocks_.empty()) {
    blocks_.emplace_back();
  } else {
    blocks_.push_back(std::move(free_blocks_.back()));
    free_blocks_.pop_back();
  }
  Block& block = blocks_.back();
  block.buckets.clear();
  block.owner.reset();
  block.num_views = 0;
  return &block;
}

void SampleBuffer::AppendHistograms(const ColumnBatch& batch) {
  Block* const block = NewBlock();
  const size_t layout_buckets = batch.layout == nullptr ? 0 : batch.layout->num_buckets();
  const bool has_buckets = layout_buckets != 0 && !batch.buckets.empty();
  const bool use_layout = batch.layout != nullptr && (has_buckets || layout_buckets == 0);
  block->layout = use_layout ? batch.layout : LayoutWithoutBuckets(batch.layout);
  if (has_buckets) block->buckets.assign(batch.buckets.begin(), batch.buckets.end());
  const size_t width = has_buckets ? layout_buckets : 0;
  model::FloatHistogram shape;  // All rows have one size.
  shape.layout = block->layout;
  shape.buckets.resize(width);
  const auto size = static_cast<uint32_t>(SampleSize(shape));
  for (size_t row = 0; row < batch.times_ms.size(); ++row) {
    if (model::IsStaleNan(batch.sums[row])) continue;
    HistogramView view;
    view.hint = batch.hints[row];
    view.layout = &block->layout;
    view.count = batch.counts[row];
    view.zero_count = batch.zero_counts[row];
    view.sum = batch.sums[row];
    view.buckets = std::span<const double>(block->buckets).subspan(row * width, width);
    if (hints_ == Hints::kExplicit && view.hint == CounterResetHint::kUnknown &&
        !histograms_.empty()) {
      view.hint = model::DetectReset(view, histograms_.back()) ? CounterResetHint::kReset
                                                               : CounterResetHint::kNotReset;
    }
    histogram_times_ms_.push_back(batch.times_ms[row]);
    histograms_.push_back(view);
    sizes_.push_back(size);
    ++block->num_views;
  }
}

void SampleBuffer::AppendPoints(const Column& column, const StepGrid& grid) {
  for (size_t step = 0; step < column.size(); ++step) {
    if (!column.has(step)) continue;
    newest_ms_ = grid.TimeAt(step);
    if (column.kind(step) == PointKind::kFloat) {
      times_ms_.push_back(newest_ms_);
      values_.push_back(column.value(step));
      continue;
    }
    Block* const block = NewBlock();
    block->owner = column.histogram(step);
    block->num_views = 1;
    HistogramView view(*block->owner);
    if (view.hint == CounterResetHint::kReset || view.hint == CounterResetHint::kNotReset) {
      view.hint = CounterResetHint::kUnknown;
    }
    histogram_times_ms_.push_back(newest_ms_);
    histograms_.push_back(view);
    sizes_.push_back(static_cast<uint32_t>(SampleSize(*block->owner)));
  }
}

void SampleBuffer::Slide(int64_t after_ms, int64_t until_ms, Window* window) {
  if (floats_.begin > kMaxWaste + values_.size() / 2 ||
      histogram_range_.begin > kMaxWaste / 32 + histograms_.size() / 2) {
    DropBefore(floats_.begin, histogram_range_.begin);
  }
  const int64_t* const times = times_ms_.data();
  const size_t size = times_ms_.size();
  const size_t old_end = floats_.end;
  size_t end = old_end;
  while (end < size && times[end] <= until_ms) ++end;
  size_t begin = floats_.begin;
  while (begin < end && times[begin] <= after_ms) ++begin;
  floats_ = {begin, end};
  num_new_samples_ = end - std::max(old_end, begin);
  window->float_times_ms = {times + begin, end - begin};
  window->values = {values_.data() + begin, end - begin};
  window->floats_before = floats_dropped_ + begin;
  if (!histograms_.empty()) {
    SlideHistograms(after_ms, until_ms, window);
  } else {
    window->histogram_times_ms = {};
    window->histograms = {};
  }
}

void SampleBuffer::SlideHistograms(int64_t after_ms, int64_t until_ms, Window* window) {
  Range& range = histogram_range_;
  const size_t first_new = range.end;
  while (range.end < histograms_.size() && histogram_times_ms_[range.end] <= until_ms) {
    histogram_samples_ += sizes_[range.end++];
  }
  while (range.begin < range.end && histogram_times_ms_[range.begin] <= after_ms) {
    histogram_samples_ -= sizes_[range.begin++];
  }
  for (size_t i = std::max(first_new, range.begin); i < range.end; ++i) {
    num_new_samples_ += sizes_[i];
  }
  const size_t count = range.end - range.begin;
  window->histogram_times_ms = std::span(histogram_times_ms_).subspan(range.begin, count);
  window->histograms = std::span(histograms_).subspan(range.begin, count);
}

void SampleBuffer::DropBefore(size_t num_floats, size_t num_histograms) {
  EraseFront(&times_ms_, num_floats);
  EraseFront(&values_, num_floats);
  floats_dropped_ += num_floats;
  floats_.begin -= num_floats;
  floats_.end -= num_floats;
  EraseFront(&histogram_times_ms_, num_histograms);
  EraseFront(&histograms_, num_histograms);
  EraseFront(&sizes_, num_histograms);
  histogram_range_.begin -= num_histograms;
  histogram_range_.end -= num_histograms;
  front_views_gone_ += num_histograms;
  while (!blocks_.empty() && blocks_.front().num_views <= front_views_gone_) {
    front_views_gone_ -= blocks_.front().num_views;
    free_blocks_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }
}

size_t SampleBuffer::num_bytes() const {
  size_t bytes = 16 * values_.capacity() + (sizeof(HistogramView) + 12) * histograms_.capacity();
  for (const Block& block : blocks_) bytes += block.buckets.capacity() * sizeof(double);
  return bytes;
}

}  // namespace narthex::promql
