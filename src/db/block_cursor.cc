#include "db/block_cursor.h"

#include <algorithm>

#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"

namespace narthex::db {

using model::SampleKind;
using model::TimeRange;

bool IsChunkWanted(const disk::ChunkMeta& chunk, TimeRange range,
                   std::span<const TimeRange> deleted) {
  return chunk.min_time_ms <= range.max_time_ms && chunk.max_time_ms >= range.min_time_ms &&
         !disk::IsCovered({chunk.min_time_ms, chunk.max_time_ms}, deleted);
}

void BlockSelection::AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const {
  std::vector<model::SymbolLabel> labels;
  base::IgnoreError(block_->index().ReadLabels(refs_[index], &labels),
                    "Select() read the same bytes");
  out->insert(out->end(), labels.begin(), labels.end());
}

std::unique_ptr<model::SeriesCursor> BlockSelection::NewCursor(
    model::HistogramDetail detail) const {
  return std::make_unique<BlockCursor>(block_.get(), range_, detail, &refs_);
}

void BlockCursor::Seek(size_t index, TimeRange range) {
  range_ = {.min_time_ms = std::max(range.min_time_ms, readable_.min_time_ms),
            .max_time_ms = std::min(range.max_time_ms, readable_.max_time_ms)};
  next_chunk_ = 0;
  next_row_ = end_row_ = 0;
  has_previous_ = false;
  const uint32_t ref = (*refs_)[index];
  deleted_ = block_->tombstones().Get(ref);
  status_ = block_->index().ReadSeries(ref, &entry_);
  if (!status_.ok() || range_.min_time_ms > range_.max_time_ms) entry_.chunks.clear();
}

bool BlockCursor::ReadFullRow(const disk::BlockChunk& chunk, codec::ChunkRow which,
                              model::FloatHistogram* out) {
  const absl::StatusOr<bool> found =
      codec::DecodeHistogramRow(chunk.encoding, chunk.bytes, which, &full_rows_, out);
  status_ = found.status();
  return found.ok() && *found;
}

bool BlockCursor::CompleteFirstHint(const disk::BlockChunk& chunk) {
  if (!has_previous_ || histograms_.times_ms.empty() ||
      histograms_.hints[0] != model::CounterResetHint::kUnknown ||
      model::IsStaleNan(histograms_.sums[0])) {
    return true;
  }
  model::FloatHistogram previous;
  model::FloatHistogram current;
  if (!ReadFullRow(previous_, codec::ChunkRow::kLast, &previous) ||
      !ReadFullRow(chunk, codec::ChunkRow::kFirst, &current)) {
    return status_.ok();
  }
  histograms_.hints[0] = model::DetectReset(current, previous) ? model::CounterResetHint::kReset
                                                               : model::CounterResetHint::kNotReset;
  return true;
}

bool BlockCursor::DecodeChunk(const disk::ChunkMeta& meta) {
  const absl::StatusOr<disk::BlockChunk> chunk = block_->chunks().Get(meta.ref);
  status_ = chunk.status();
  if (!status_.ok()) return false;
  is_float_ = codec::IsFloatEncoding(chunk->encoding);
  if (is_float_) {
    status_ = codec::DecodeFloatChunk(chunk->encoding, chunk->bytes, &floats_);
  } else {
    status_ = codec::DecodeHistogramChunk(chunk->encoding, chunk->bytes, detail_, &histograms_);
  }
  if (!status_.ok()) {
    status_ = base::WithContext(status_,
                                base::StrCat("block: ", block_->directory(), ": chunk ", meta.ref));
    return false;
  }
  const auto first = std::lower_bound(times().begin(), times().end(), range_.min_time_ms);
  const auto last = std::upper_bound(first, times().end(), range_.max_time_ms);
  next_row_ = static_cast<size_t>(first - times().begin());
  end_row_ = static_cast<size_t>(last - times().begin());
  if (!is_float_ && detail_ == model::HistogramDetail::kCountAndSum) {
    if (next_row_ == 0 && !CompleteFirstHint(*chunk)) return false;
    previous_ = *chunk;
    has_previous_ = true;
  }
  return true;
}

void BlockCursor::SetBatch(size_t first, size_t last) {
  const size_t rows = last - first;
  batch_ = {};
  batch_.times_ms = std::span(times()).subspan(first, rows);
  if (is_float_) {
    batch_.kind = SampleKind::kFloat;
    batch_.values = std::span(floats_.values).subspan(first, rows);
    return;
  }
  batch_.kind = SampleKind::kHistogram;
  batch_.layout = histograms_.layout;
  batch_.counts = std::span(histograms_.counts).subspan(first, rows);
  batch_.zero_counts = std::span(histograms_.zero_counts).subspan(first, rows);
  batch_.sums = std::span(histograms_.sums).subspan(first, rows);
  batch_.hints = std::span(histograms_.hints).subspan(first, rows);
  if (detail_ == model::HistogramDetail::kFull) {
    const size_t width = histograms_.layout->num_buckets();
    batch_.buckets = std::span(histograms_.buckets).subspan(first * width, rows * width);
  }
}

bool BlockCursor::NextRun() {
  while (next_row_ < end_row_) {
    const int64_t begins = times()[next_row_];
    const auto gap =
        std::partition_point(deleted_.begin(), deleted_.end(),
                             [&](const TimeRange& one) { return one.max_time_ms < begins; });
    size_t end = end_row_;
    if (gap != deleted_.end()) {
      const auto from = times().begin() + static_cast<std::ptrdiff_t>(next_row_);
      const auto to = times().begin() + static_cast<std::ptrdiff_t>(end_row_);
      if (gap->min_time_ms <= begins) {
        // The row is deleted, and all up to the interval's end.
        next_row_ =
            static_cast<size_t>(std::upper_bound(from, to, gap->max_time_ms) - times().begin());
        continue;
      }
      end = static_cast<size_t>(std::lower_bound(from, to, gap->min_time_ms) - times().begin());
    }
    SetBatch(next_row_, end);
    next_row_ = end;
    return true;
  }
  return false;
}

bool BlockCursor::Next() {
  if (!status_.ok()) return false;
  while (!NextRun()) {
    if (next_chunk_ == entry_.chunks.size()) return false;
    const disk::ChunkMeta& chunk = entry_.chunks[next_chunk_++];
    if (IsChunkWanted(chunk, range_, deleted_) && !DecodeChunk(chunk)) return false;
  }
  return true;
}

}  // namespace narthex::db
