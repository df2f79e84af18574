// Series that a reader of the head selected, and the cursor over their samples.
#pragma once

#include <memory>
#include <vector>

#include "head/head_core.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/model/queryable.h"

namespace narthex::head {

// Immutable, thread-safe; `core` must outlive it.
class HeadSelection final : public model::SeriesSelection {
 public:
  HeadSelection(const HeadCore* core, std::shared_ptr<const HeadIndex> index,
                const HeadCore::Reader& reader, model::HistogramDetail detail,
                std::vector<SeriesIndex> series)
      : core_(core),
        index_(std::move(index)),
        reader_(reader),
        detail_(detail),
        series_(std::move(series)) {}

  size_t size() const override { return series_.size(); }
  void AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const override {
    index_->label_sets().Decode(series_[index], out);
  }
  std::unique_ptr<model::SeriesCursor> NewCursor(model::HistogramDetail detail) const override;
  Latest FindLatest(size_t index, model::TimeRange range, model::LatestSample* out) const override;

 private:
  const HeadCore* const core_;
  const std::shared_ptr<const HeadIndex> index_;
  const HeadCore::Reader reader_;
  const model::HistogramDetail detail_;
  const std::vector<SeriesIndex> series_;
};

// Thread-compatible. The open chunk is decoded when a series is sought, under its stripe lock, so
// that a chunk sealed meanwhile is neither missed nor seen twice; sealed chunks never change and
// are decoded one by one as they are asked for.
class HeadCursor final : public model::SeriesCursor {
 public:
  // `series` must outlive the cursor.
  HeadCursor(const HeadCore* core, const HeadCore::Reader& reader, model::HistogramDetail detail,
             const std::vector<SeriesIndex>* series)
      : core_(core),
        reader_(reader),
        detail_(detail),
        series_(series),
        sealed_reader_(&core->sealed()) {}

  void Seek(size_t index, model::TimeRange range) override;
  bool Next() override;
  const model::ColumnBatch& batch() const override { return batch_; }
  absl::Status status() const override { return status_; }

 private:
  // Reads the bytes of a sealed chunk. False: see status().
  bool Read(const SealedChunks::Entry& entry, SealedChunk* chunk);
  void DecodeOpenChunk(const Series& series);
  template <typename H>
  void DecodeOpenHistograms(const Series& series, size_t count);
  bool NextSealed();
  bool NextOpen();
  // The rows [first, last) of `times` that lie in the range and are not hidden.
  std::pair<size_t, size_t> RowsInRange(const std::vector<int64_t>& times) const;
  bool SetFloats(const std::vector<int64_t>& times, const std::vector<double>& values);
  bool SetHistograms(const std::vector<int64_t>& times, const codec::HistogramColumns& columns);
  // Without buckets the reader cannot compare across chunks, so the first row of a chunk that
  // follows another says here whether it is a reset. `chunk` is null for the open one.
  void CompleteFirstHint(const std::vector<int64_t>& times, const SealedChunks::Entry* chunk,
                         codec::HistogramColumns* columns);
  // A row of a sealed chunk with its buckets: the first, or the last that is no stale marker.
  bool ReadFullRow(const SealedChunks::Entry& chunk, codec::ChunkRow which,
                   model::FloatHistogram* out);

  const HeadCore* const core_;
  const HeadCore::Reader reader_;
  const model::HistogramDetail detail_;
  const std::vector<SeriesIndex>* const series_;
  SealedChunkReader sealed_reader_;

  model::TimeRange range_;                   // Hidden times cut off.
  std::vector<SealedChunks::Entry> sealed_;  // Still to read, the newest first.
  enum class Open : uint8_t { kNone, kFloat, kHistogram };
  Open open_ = Open::kNone;      // What of the open chunk is still to be given out.
  TimesId times_id_ = kNoTimes;  // Of open_times_, to decode shared columns once.
  uint32_t times_version_ = 0;
  std::vector<int64_t> open_times_;
  std::vector<double> open_values_;
  codec::HistogramColumns open_histograms_;
  model::FloatHistogram open_first_;  // First row of the open chunk, if its hint may need it.
  bool has_previous_ = false;         // A histogram chunk was read since Seek(): ...
  SealedChunks::Entry previous_;      // ... this one last.
  codec::HistogramColumns full_rows_;
  codec::FloatColumns floats_;
  codec::HistogramColumns histograms_;
  model::ColumnBatch batch_;
  absl::Status status_;
};

}  // namespace narthex::head
