// Reads the series of a MergedSelection: the samples of all its places by time, each time once.
//
// Sources are sought when their range begins, so reading a block and then the head holds one
// decoded chunk at a time. Where nothing overlaps a source's batch goes through as it is; where
// sources overlap it is cut into the runs between the others' samples.
//
// Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "db/merged_selection.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

class MergedCursor final : public model::SeriesCursor {
 public:
  // `selection` must outlive the cursor.
  MergedCursor(const MergedSelection* selection, model::HistogramDetail detail);

  void Seek(size_t index, model::TimeRange range) override;
  bool Next() override;
  const model::ColumnBatch& batch() const override { return batch_; }
  absl::Status status() const override { return status_; }

 private:
  // One place of the series, being read.
  struct Active {
    SourceSeries place;
    model::SeriesCursor* cursor = nullptr;
    size_t row = 0;  // Next of the cursor's batch.
    int64_t time_ms() const { return cursor->batch().times_ms[row]; }
  };

  model::SeriesCursor* CursorOf(std::vector<std::unique_ptr<model::SeriesCursor>>* cursors,
                                uint32_t part, model::HistogramDetail detail);
  // Seeks every pending place that may have a sample at or before the earliest active one.
  bool ActivatePending();
  // Moves on `rows` rows; drops the place when it has no more. False on error.
  bool Advance(size_t active, size_t rows);
  // The active place with the earliest time; of equals the one whose source comes first.
  size_t Earliest() const;
  // How many rows `winner` may give before another source has one.
  size_t RunOf(size_t winner) const;
  // Passes over the samples of other places at the times of the batch.
  bool SkipDuplicates();
  void Emit(const Active& from, size_t rows);
  // The first row of a run from another source than the row before it: what its source says of
  // resets does not hold here.
  bool CompleteFirstHint(const SourceSeries& place);
  bool ReadFullRow(const SourceSeries& place, int64_t time_ms, model::FloatHistogram* out);
  void RememberHistogram(const SourceSeries& place);

  const MergedSelection* const selection_;
  const model::HistogramDetail detail_;
  std::vector<std::unique_ptr<model::SeriesCursor>> cursors_;       // By part, made as needed.
  std::vector<std::unique_ptr<model::SeriesCursor>> full_cursors_;  // With buckets, for hints.

  model::TimeRange range_;
  std::vector<SourceSeries> pending_;  // Not sought yet; the one that begins last is first.
  std::vector<Active> active_;
  size_t emitted_ = SIZE_MAX;  // The active place that the batch is of, its rows not passed yet.
  size_t emitted_rows_ = 0;

  bool has_histogram_ = false;     // Since Seek(): the newest that is no stale marker ...
  SourceSeries histogram_place_;   // ... came from here ...
  int64_t histogram_time_ms_ = 0;  // ... and was of this time.
  bool has_row_ = false;           // Since Seek(): the newest row ...
  SourceSeries row_place_;         // ... came from here.
  std::vector<model::CounterResetHint> hints_;  // Of the batch, where they are not the source's.
  model::ColumnBatch batch_;
  absl::Status status_;
};

}  // namespace narthex::db
