// Decoded samples of one series, of which a window moves forward: samples enter at the end as
// columns and leave at the front, nothing is shifted per step. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "narthex/model/histogram_view.h"
#include "narthex/model/queryable.h"
#include "promql/exec/column.h"
#include "promql/functions/window.h"

namespace narthex::promql {

class SampleBuffer {
 public:
  // Whether histograms that do not say if they are a counter reset are compared with the one before
  // them and then say it: so do those of which only counts and sums are wanted.
  enum class Hints : uint8_t { kAsStored, kExplicit };
  explicit SampleBuffer(Hints hints = Hints::kAsStored) : hints_(hints) {}

  // Forgets all samples; keeps memory.
  void Clear();

  // Copies a batch that lies after all samples held. Stale markers are left out.
  void Append(const model::ColumnBatch& batch);
  // The points of a column over `grid`, with counter reset hints made unknown: between the points
  // of a subquery there may be samples that nobody has seen.
  void AppendPoints(const Column& column, const StepGrid& grid);

  // Time of the newest sample appended, stale markers included; INT64_MIN if there was none.
  int64_t newest_ms() const { return newest_ms_; }

  // Moves the window to the samples in (after_ms, until_ms] and sets the sample members of
  // `*window`, valid until the next change. REQUIRES: neither time decreases.
  void Slide(int64_t after_ms, int64_t until_ms, Window* window);

  // Of the window, as the sample limit and the statistics count them.
  size_t num_samples() const { return floats_.end - floats_.begin + histogram_samples_; }
  // Those that came in with the last Slide().
  size_t num_new_samples() const { return num_new_samples_; }
  size_t num_bytes() const;

 private:
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  // Memory that histogram views point into.
  struct Block {
    model::LayoutPtr layout;
    std::vector<double> buckets;
    HistogramPtr owner;
    size_t num_views = 0;
  };
  void AppendFloats(const model::ColumnBatch& batch);
  void AppendHistograms(const model::ColumnBatch& batch);
  void SlideHistograms(int64_t after_ms, int64_t until_ms, Window* window);
  void DropBefore(size_t num_floats, size_t num_histograms);
  Block* NewBlock();

  const Hints hints_;
  std::vector<int64_t> times_ms_;
  std::vector<double> values_;
  Range floats_;  // The window within them.
  size_t floats_dropped_ = 0;

  std::vector<int64_t> histogram_times_ms_;
  std::vector<model::HistogramView> histograms_;
  std::vector<uint32_t> sizes_;  // SampleSize() of each.
  Range histogram_range_;
  size_t histogram_samples_ = 0;
  std::deque<Block> blocks_;  // Of histograms_, in order.
  size_t front_views_gone_ = 0;
  std::vector<Block> free_blocks_;

  int64_t newest_ms_ = INT64_MIN;
  size_t num_new_samples_ = 0;
};

}  // namespace narthex::promql
