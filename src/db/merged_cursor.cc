#include "db/merged_cursor.h"

#include <algorithm>
#include <utility>

#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"

namespace narthex::db {

using model::ColumnBatch;
using model::CounterResetHint;
using model::HistogramDetail;
using model::SampleKind;

MergedCursor::MergedCursor(const MergedSelection* selection, HistogramDetail detail)
    : selection_(selection), detail_(detail) {}

model::SeriesCursor* MergedCursor::CursorOf(
    std::vector<std::unique_ptr<model::SeriesCursor>>* cursors, uint32_t part,
    HistogramDetail detail) {
  if (cursors->size() < selection_->num_parts()) cursors->resize(selection_->num_parts());
  std::unique_ptr<model::SeriesCursor>& cursor = (*cursors)[part];
  if (cursor == nullptr) cursor = selection_->part(part).selection->NewCursor(detail);
  return cursor.get();
}

void MergedCursor::Seek(size_t index, model::TimeRange range) {
  range_ = range;
  active_.clear();
  emitted_ = SIZE_MAX;
  has_histogram_ = false;
  has_row_ = false;
  status_ = absl::OkStatus();
  selection_->FindPlaces(index, range, &pending_);
  std::ranges::stable_sort(pending_, [&](const SourceSeries& a, const SourceSeries& b) {
    return selection_->part(a.part).range.min_time_ms > selection_->part(b.part).range.min_time_ms;
  });
}

bool MergedCursor::ActivatePending() {
  while (!pending_.empty()) {
    const SourceSeries place = pending_.back();
    if (!active_.empty() &&
        selection_->part(place.part).range.min_time_ms > active_[Earliest()].time_ms()) {
      return true;
    }
    pending_.pop_back();
    model::SeriesCursor* const cursor = CursorOf(&cursors_, place.part, detail_);
    cursor->Seek(place.index, range_);
    active_.push_back({.place = place, .cursor = cursor});
    if (!Advance(active_.size() - 1, 0)) return false;
  }
  return true;
}

bool MergedCursor::Advance(size_t active, size_t rows) {
  Active& one = active_[active];
  // A cursor that was just sought has no batch yet: 0 rows ask for the first one.
  one.row += rows;
  if (rows != 0 && one.row < one.cursor->batch().times_ms.size()) return true;
  one.row = 0;
  do {
    if (one.cursor->Next()) continue;
    status_ = one.cursor->status();
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(active));
    return status_.ok();
  } while (one.cursor->batch().times_ms.empty());
  return true;
}

size_t MergedCursor::Earliest() const {
  size_t best = 0;
  for (size_t i = 1; i < active_.size(); ++i) {
    const int64_t time_ms = active_[i].time_ms();
    const int64_t best_ms = active_[best].time_ms();
    if (time_ms < best_ms ||
        (time_ms == best_ms && active_[i].place.part < active_[best].place.part)) {
      best = i;
    }
  }
  return best;
}

size_t MergedCursor::RunOf(size_t winner) const {
  const Active& from = active_[winner];
  const std::span<const int64_t> times = from.cursor->batch().times_ms.subspan(from.row);
  if (active_.size() == 1 && pending_.empty()) return times.size();
  int64_t limit_ms = INT64_MAX;
  bool limited = false;
  for (size_t i = 0; i < active_.size(); ++i) {
    if (i == winner) continue;
    limit_ms = std::min(limit_ms, active_[i].time_ms());
    limited = true;
  }
  if (!pending_.empty()) {
    limit_ms = std::min(limit_ms, selection_->part(pending_.back().part).range.min_time_ms);
    limited = true;
  }
  if (!limited) return times.size();
  const auto end = std::ranges::lower_bound(times, limit_ms);
  return std::max<size_t>(1, static_cast<size_t>(end - times.begin()));
}

bool MergedCursor::SkipDuplicates() {
  const int64_t last_ms = batch_.times_ms.back();
  for (size_t i = active_.size(); i-- > 0;) {
    if (i == emitted_) continue;
    const size_t before = active_.size();
    while (active_[i].time_ms() <= last_ms) {
      if (!Advance(i, 1)) return false;
      if (active_.size() < before) {
        if (emitted_ > i) --emitted_;
        break;
      }
    }
  }
  return true;
}

bool MergedCursor::Next() {
  if (!status_.ok()) return false;
  if (emitted_ != SIZE_MAX) {
    const size_t emitted = std::exchange(emitted_, SIZE_MAX);
    if (!Advance(emitted, emitted_rows_)) return false;
  }
  if (!ActivatePending() || active_.empty()) return false;
  emitted_ = Earliest();
  emitted_rows_ = RunOf(emitted_);
  const SourceSeries place = active_[emitted_].place;
  Emit(active_[emitted_], emitted_rows_);
  if (!SkipDuplicates()) return false;
  if (batch_.kind == SampleKind::kHistogram) {
    if (!CompleteFirstHint(place)) return false;
    RememberHistogram(place);
  }
  has_row_ = true;
  row_place_ = place;
  return true;
}

void MergedCursor::Emit(const Active& from, size_t rows) {
  const ColumnBatch& source = from.cursor->batch();
  // Fast path: a whole batch.
  if (from.row == 0 && rows == source.times_ms.size()) {
    batch_ = source;
    return;
  }
  batch_ = {};
  batch_.kind = source.kind;
  batch_.times_ms = source.times_ms.subspan(from.row, rows);
  if (source.kind == SampleKind::kFloat) {
    batch_.values = source.values.subspan(from.row, rows);
    return;
  }
  batch_.layout = source.layout;
  batch_.counts = source.counts.subspan(from.row, rows);
  batch_.zero_counts = source.zero_counts.subspan(from.row, rows);
  batch_.sums = source.sums.subspan(from.row, rows);
  batch_.hints = source.hints.subspan(from.row, rows);
  if (!source.buckets.empty()) {
    const size_t width = source.layout->num_buckets();
    batch_.buckets = source.buckets.subspan(from.row * width, rows * width);
  }
}

bool MergedCursor::CompleteFirstHint(const SourceSeries& place) {
  const bool same_place = !has_row_ || row_place_.part == place.part;
  if (same_place || batch_.hints[0] == CounterResetHint::kGauge) return true;
  CounterResetHint hint = CounterResetHint::kUnknown;
  // Without buckets the reader cannot compare by himself.
  if (detail_ == HistogramDetail::kCountAndSum && has_histogram_ &&
      !model::IsStaleNan(batch_.sums[0])) {
    model::FloatHistogram previous;
    model::FloatHistogram current;
    if (!ReadFullRow(histogram_place_, histogram_time_ms_, &previous) ||
        !ReadFullRow(place, batch_.times_ms[0], &current)) {
      return false;
    }
    hint = model::DetectReset(current, previous) ? CounterResetHint::kReset
                                                 : CounterResetHint::kNotReset;
  }
  hints_.assign(batch_.hints.begin(), batch_.hints.end());
  hints_[0] = hint;
  batch_.hints = hints_;
  return true;
}

bool MergedCursor::ReadFullRow(const SourceSeries& place, int64_t time_ms,
                               model::FloatHistogram* out) {
  model::SeriesCursor* const cursor = CursorOf(&full_cursors_, place.part, HistogramDetail::kFull);
  cursor->Seek(place.index, {.min_time_ms = time_ms, .max_time_ms = time_ms});
  if (!cursor->Next()) {
    status_ = cursor->status();
    if (status_.ok()) status_ = absl::InternalError("merged cursor: a histogram is gone");
    return false;
  }
  const ColumnBatch& batch = cursor->batch();
  out->layout = batch.layout;
  out->hint = CounterResetHint::kUnknown;  // Its source compared it with another row.
  out->count = batch.counts[0];
  out->zero_count = batch.zero_counts[0];
  out->sum = batch.sums[0];
  out->buckets.assign(
      batch.buckets.begin(),
      batch.buckets.begin() + static_cast<std::ptrdiff_t>(batch.layout->num_buckets()));
  return true;
}

void MergedCursor::RememberHistogram(const SourceSeries& place) {
  for (size_t row = batch_.sums.size(); row-- > 0;) {
    if (model::IsStaleNan(batch_.sums[row])) continue;
    has_histogram_ = true;
    histogram_place_ = place;
    histogram_time_ms_ = batch_.times_ms[row];
    return;
  }
}

}  // namespace narthex::db
