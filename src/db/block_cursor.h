// Series that a reader of a block selected, and the cursor over their samples.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/disk/block.h"
#include "narthex/disk/postings.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

// Whether a chunk may have samples of the range that are not deleted.
bool IsChunkWanted(const disk::ChunkMeta& chunk, model::TimeRange range,
                   std::span<const model::TimeRange> deleted);

// Immutable, thread-safe.
class BlockSelection final : public model::SeriesSelection {
 public:
  BlockSelection(std::shared_ptr<const disk::Block> block, model::TimeRange range, disk::Refs refs)
      : block_(std::move(block)), range_(range), refs_(std::move(refs)) {}

  size_t size() const override { return refs_.size(); }
  void AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const override;
  std::unique_ptr<model::SeriesCursor> NewCursor(model::HistogramDetail detail) const override;
  Latest FindLatest(size_t /*index*/, model::TimeRange /*range*/,
                    model::LatestSample* /*out*/) const override {
    return Latest::kAskCursor;
  }

 private:
  const std::shared_ptr<const disk::Block> block_;
  const model::TimeRange range_;
  const disk::Refs refs_;
};

// Thread-compatible. Chunks are decoded one by one as they are asked for; a chunk with deleted
// samples is given out in the runs that are left.
class BlockCursor final : public model::SeriesCursor {
 public:
  // `block` and `refs` must outlive the cursor.
  BlockCursor(const disk::Block* block, model::TimeRange range, model::HistogramDetail detail,
              const disk::Refs* refs)
      : block_(block), readable_(range), detail_(detail), refs_(refs) {}

  void Seek(size_t index, model::TimeRange range) override;
  bool Next() override;
  const model::ColumnBatch& batch() const override { return batch_; }
  absl::Status status() const override { return status_; }

 private:
  bool DecodeChunk(const disk::ChunkMeta& meta);
  // Gives out the next run of the decoded chunk's rows.
  bool NextRun();
  void SetBatch(size_t first, size_t last);
  // Without buckets the reader cannot compare across chunks, so the first row of a chunk that
  // follows another says here whether it is a reset.
  bool CompleteFirstHint(const disk::BlockChunk& chunk);
  // A row of a chunk with its buckets: the first, or the last that is no stale marker. False: the
  // row is a stale marker, or see status().
  bool ReadFullRow(const disk::BlockChunk& chunk, codec::ChunkRow which,
                   model::FloatHistogram* out);
  const std::vector<int64_t>& times() const {
    return is_float_ ? floats_.times_ms : histograms_.times_ms;
  }

  const disk::Block* const block_;
  const model::TimeRange readable_;
  const model::HistogramDetail detail_;
  const disk::Refs* const refs_;

  model::TimeRange range_;
  std::span<const model::TimeRange> deleted_;
  disk::SeriesEntry entry_;
  size_t next_chunk_ = 0;  // Of entry_.chunks.
  bool is_float_ = true;   // Which columns hold the decoded chunk.
  size_t next_row_ = 0;    // Of the decoded chunk.
  size_t end_row_ = 0;
  bool has_previous_ = false;  // A histogram chunk was read since Seek(): ...
  disk::BlockChunk previous_;  // ... this one last.
  codec::FloatColumns floats_;
  codec::HistogramColumns histograms_;
  codec::HistogramColumns full_rows_;
  model::ColumnBatch batch_;
  absl::Status status_;
};

}  // namespace narthex::db
