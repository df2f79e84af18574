// Instant vector selectors: the newest sample of each series in (t - lookback, t] at every step t.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "narthex/model/queryable.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// Which moment of the data a step looks at: the @ modifier and the offset.
struct DataTime {
  bool fixed = false;
  int64_t at_ms = 0;  // If fixed.
  int64_t offset_ms = 0;
  int64_t At(int64_t step_time_ms) const { return (fixed ? at_ms : step_time_ms) - offset_ms; }
};
DataTime DataTimeOf(const AtModifier& at, const Duration& offset);

// Series of a selector; the texts of errors begin with "expanding series".
absl::StatusOr<std::unique_ptr<model::SeriesSelection>> SelectSeries(const VectorSelector& selector,
                                                                     QueryContext* context);
void ListSeries(const model::SeriesSelection& selection, SeriesList* list);

// The layout of histograms whose buckets were not read: none, but still of custom buckets if
// `layout` (may be null) is.
model::LayoutPtr LayoutWithoutBuckets(const model::LayoutPtr& layout);

// Copies row `row` of a histogram batch.
model::FloatHistogram HistogramOfRow(const model::ColumnBatch& batch, size_t row);

class InstantSelector final : public Operator {
 public:
  enum class Yield : uint8_t {
    kSample,
    kTimestamp,       // timestamp(selector): the sample's time in seconds.
    kFloatTimestamp,  // As kTimestamp, but histograms stay what they are.
  };
  // `selector` must outlive this.
  InstantSelector(QueryContext* context, const StepGrid& grid, const VectorSelector* selector,
                  Yield yield = Yield::kSample);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  // The newest sample seen so far.
  struct Newest {
    bool valid = false;
    bool stale = false;
    int64_t time_ms = 0;
    double value = 0;
    HistogramPtr histogram;
    double last_count = -1;  // Of the last histogram of the batches before; -1: there was none.
  };
  absl::Status ReadLatest(size_t index, Column* out, bool* done);
  void Absorb(const model::ColumnBatch& batch, size_t* step, Column* out);
  void AbsorbFloats(const model::ColumnBatch& batch, size_t* step, Column* out);
  void Take(const model::ColumnBatch& batch, size_t row);
  void TakeHistogram(const model::ColumnBatch& batch, size_t row);
  void Emit(size_t begin, size_t end, Column* out);
  // First step at or after `step` whose data time is >= `time_ms`.
  size_t StepAtOrAfter(size_t step, int64_t time_ms) const;

  const VectorSelector& selector_;
  const Yield yield_;
  const DataTime data_time_;
  model::TimeRange range_;
  std::unique_ptr<model::SeriesSelection> selection_;
  std::unique_ptr<model::SeriesCursor> cursor_;
  model::LatestSample latest_;
  Newest newest_;
};

}  // namespace narthex::promql
