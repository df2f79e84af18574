#include "head/head_cursor.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "head/float_column.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"

namespace narthex::head {

using model::SampleKind;
using model::TimeRange;

std::unique_ptr<model::SeriesCursor> HeadSelection::NewCursor(model::HistogramDetail detail) const {
  return std::make_unique<HeadCursor>(core_, reader_, detail, &series_);
}

model::SeriesSelection::Latest HeadSelection::FindLatest(size_t index, TimeRange range,
                                                         model::LatestSample* out) const {
  const SeriesIndex which = series_[index];
  base::MutexLock lock(core_->StripeOf(which));
  const Series& series = core_->series(which);
  // Slow path: after a restart all samples may be in files.
  if (series.kind == ColumnKind::kNone) {
    return series.sealed == 0 ? Latest::kNone : Latest::kAskCursor;
  }
  const TimesColumn& times = core_->times()[series.times];
  // Slow path: the newest sample is younger than the reader or than the range.
  if (CommitAfter(times.last_commit, static_cast<CommitNumber>(reader_.seen)) ||
      times.last_ms > range.max_time_ms) {
    return Latest::kAskCursor;
  }
  if (times.last_ms < std::max(range.min_time_ms, reader_.min_time_ms)) return Latest::kNone;
  out->time_ms = times.last_ms;
  if (!IsHistogramKind(series.kind)) {
    out->kind = SampleKind::kFloat;
    out->value = NewestFloat(series);
    return Latest::kHave;
  }
  // Slow path: whether the first histogram of a chunk is a reset is seen beside the one before it.
  if (detail_ == model::HistogramDetail::kCountAndSum && times.count == 1 && series.sealed != 0) {
    return Latest::kAskCursor;
  }
  out->kind = SampleKind::kHistogram;
  const HistogramColumns& histograms = core_->histograms();
  if (series.kind == ColumnKind::kHistogram) {
    model::Histogram newest;
    histograms.Newest(series.column, &newest);
    out->histogram = model::ToFloat(newest);
  } else {
    histograms.Newest(series.column, &out->histogram);
  }
  if (model::IsStaleNan(out->histogram.sum)) {
    out->histogram.count = 0;
    out->histogram.zero_count = 0;
  }
  if (out->histogram.hint != model::CounterResetHint::kGauge && times.count > 1) {
    out->histogram.hint = model::CounterResetHint::kNotReset;
  }
  if (detail_ == model::HistogramDetail::kCountAndSum) out->histogram.buckets.clear();
  return Latest::kHave;
}

void HeadCursor::DecodeOpenChunk(const Series& series) {
  const TimesColumn& times = core_->times()[series.times];
  if (times_id_ != series.times || times_version_ != times.version) {
    open_times_.clear();
    core_->times().Decode(series.times, &open_times_);
    times_id_ = series.times;
    times_version_ = times.version;
  }
  if (!IsHistogramKind(series.kind)) {
    open_values_.clear();
    DecodeFloats(core_->columns(), series, times.count, &open_values_);
    open_ = Open::kFloat;
  } else if (series.kind == ColumnKind::kHistogram) {
    DecodeOpenHistograms<model::Histogram>(series, times.count);
  } else {
    DecodeOpenHistograms<model::FloatHistogram>(series, times.count);
  }
}

template <typename H>
void HeadCursor::DecodeOpenHistograms(const Series& series, size_t count) {
  open_ = Open::kHistogram;
  const HistogramColumns& histograms = core_->histograms();
  histograms.Decode<H>(series.column, count, detail_, &open_histograms_);
  if (detail_ == model::HistogramDetail::kFull || series.sealed == 0) return;
  std::vector<H> first;
  histograms.Decode(series.column, 1, &first);
  if constexpr (std::is_same_v<H, model::Histogram>) {
    open_first_ = model::ToFloat(first[0]);
  } else {
    open_first_ = std::move(first[0]);
  }
}

bool HeadCursor::Read(const SealedChunks::Entry& entry, SealedChunk* chunk) {
  absl::StatusOr<SealedChunk> read = sealed_reader_.Get(entry);
  status_ = read.status();
  if (!status_.ok()) return false;
  *chunk = *read;
  return true;
}

bool HeadCursor::ReadFullRow(const SealedChunks::Entry& entry, codec::ChunkRow which,
                             model::FloatHistogram* out) {
  SealedChunk chunk;
  if (!Read(entry, &chunk)) return false;
  const absl::StatusOr<bool> found =
      codec::DecodeHistogramRow(chunk.encoding, chunk.bytes, which, &full_rows_, out);
  status_ = found.status();
  return found.ok() && *found;
}

void HeadCursor::CompleteFirstHint(const std::vector<int64_t>& times,
                                   const SealedChunks::Entry* chunk,
                                   codec::HistogramColumns* columns) {
  if (!has_previous_ || RowsInRange(times).first != 0 ||
      columns->hints[0] != model::CounterResetHint::kUnknown ||
      model::IsStaleNan(columns->sums[0])) {
    return;
  }
  if (columns->header == codec::CounterReset::kNotReset) {
    // Fast path: the chunk was cut for its size or time and its header vouches for the seam.
    columns->hints[0] = model::CounterResetHint::kNotReset;
    return;
  }
  model::FloatHistogram previous;
  model::FloatHistogram current;
  if (!ReadFullRow(previous_, codec::ChunkRow::kLast, &previous)) return;
  if (chunk == nullptr) {
    current = open_first_;
  } else if (!ReadFullRow(*chunk, codec::ChunkRow::kFirst, &current)) {
    return;
  }
  columns->hints[0] = model::DetectReset(current, previous) ? model::CounterResetHint::kReset
                                                            : model::CounterResetHint::kNotReset;
}

void HeadCursor::Seek(size_t index, TimeRange range) {
  sealed_.clear();
  open_ = Open::kNone;
  has_previous_ = false;
  status_ = absl::OkStatus();
  range_ = {.min_time_ms = std::max(range.min_time_ms, reader_.min_time_ms),
            .max_time_ms = range.max_time_ms};
  const SeriesIndex which = (*series_)[index];
  base::MutexLock lock(core_->StripeOf(which));
  const Series& series = core_->series(which);
  const int64_t hidden_from =
      core_->times().HiddenFrom(series.times, static_cast<CommitNumber>(reader_.seen));
  if (hidden_from <= range_.max_time_ms) {
    if (hidden_from == std::numeric_limits<int64_t>::min()) return;
    range_.max_time_ms = hidden_from - 1;
  }
  if (range_.min_time_ms > range_.max_time_ms) return;
  const TimesColumn& times = core_->times()[series.times];
  if (series.kind != ColumnKind::kNone && times.first_ms <= range_.max_time_ms &&
      times.last_ms >= range_.min_time_ms) {
    DecodeOpenChunk(series);
  }
  for (Handle handle = series.sealed; handle != 0;) {
    const SealedChunks::Entry chunk = core_->sealed()[handle];
    if (chunk.max_time_ms < range_.min_time_ms) break;
    if (chunk.min_time_ms <= range_.max_time_ms) sealed_.push_back(chunk);
    handle = chunk.older;
  }
}

std::pair<size_t, size_t> HeadCursor::RowsInRange(const std::vector<int64_t>& times) const {
  const auto first = std::lower_bound(times.begin(), times.end(), range_.min_time_ms);
  const auto last = std::upper_bound(first, times.end(), range_.max_time_ms);
  return {static_cast<size_t>(first - times.begin()), static_cast<size_t>(last - times.begin())};
}

bool HeadCursor::SetFloats(const std::vector<int64_t>& times, const std::vector<double>& values) {
  const auto [first, last] = RowsInRange(times);
  if (first == last) return false;
  batch_ = {};
  batch_.kind = SampleKind::kFloat;
  batch_.times_ms = std::span(times).subspan(first, last - first);
  batch_.values = std::span(values).subspan(first, last - first);
  return true;
}

bool HeadCursor::SetHistograms(const std::vector<int64_t>& times,
                               const codec::HistogramColumns& columns) {
  const auto [first, last] = RowsInRange(times);
  if (first == last) return false;
  const size_t rows = last - first;
  batch_ = {};
  batch_.kind = SampleKind::kHistogram;
  batch_.times_ms = std::span(times).subspan(first, rows);
  batch_.layout = columns.layout;
  batch_.counts = std::span(columns.counts).subspan(first, rows);
  batch_.zero_counts = std::span(columns.zero_counts).subspan(first, rows);
  batch_.sums = std::span(columns.sums).subspan(first, rows);
  batch_.hints = std::span(columns.hints).subspan(first, rows);
  if (detail_ == model::HistogramDetail::kFull) {
    const size_t width = columns.layout->num_buckets();
    batch_.buckets = std::span(columns.buckets).subspan(first * width, rows * width);
  }
  return true;
}

bool HeadCursor::NextSealed() {
  while (!sealed_.empty()) {
    const SealedChunks::Entry entry = sealed_.back();
    sealed_.pop_back();
    SealedChunk chunk;
    if (!Read(entry, &chunk)) return false;
    if (codec::IsFloatEncoding(chunk.encoding)) {
      status_ = codec::DecodeFloatChunk(chunk.encoding, chunk.bytes, &floats_);
      if (!status_.ok()) return false;
      if (SetFloats(floats_.times_ms, floats_.values)) return true;
    } else {
      status_ = codec::DecodeHistogramChunk(chunk.encoding, chunk.bytes, detail_, &histograms_);
      if (!status_.ok()) return false;
      if (detail_ == model::HistogramDetail::kCountAndSum) {
        CompleteFirstHint(histograms_.times_ms, &entry, &histograms_);
        if (!status_.ok()) return false;
        previous_ = entry;
        has_previous_ = true;
      }
      if (SetHistograms(histograms_.times_ms, histograms_)) return true;
    }
  }
  return false;
}

bool HeadCursor::NextOpen() {
  switch (std::exchange(open_, Open::kNone)) {
    case Open::kNone:
      return false;
    case Open::kFloat:
      return SetFloats(open_times_, open_values_);
    case Open::kHistogram:
      if (detail_ == model::HistogramDetail::kCountAndSum) {
        CompleteFirstHint(open_times_, nullptr, &open_histograms_);
        if (!status_.ok()) return false;
      }
      return SetHistograms(open_times_, open_histograms_);
  }
  return false;
}

bool HeadCursor::Next() {
  if (!status_.ok()) return false;
  if (NextSealed()) return true;
  return status_.ok() && NextOpen();
}

}  // namespace narthex::head
