// What a range function sees of one series at one step: columns of floats and of histograms, each
// ascending in time, without stale markers. A plain value; nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "narthex/model/histogram.h"
#include "narthex/model/histogram_view.h"

namespace narthex::promql {

// How the range's edges are met. The window holds besides the samples in (start, end]:
// kAnchored: those in (start - lookback, start]; kSmoothed: those in (start - lookback, start] and
// (end, end + lookback].
enum class RangeMode : uint8_t { kPlain, kAnchored, kSmoothed };

struct Window {
  // The range is (start_ms, end_ms], offset and @ applied.
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t eval_time_ms = 0;  // The step's time; differs from end_ms under offset and @.
  RangeMode mode = RangeMode::kPlain;

  std::span<const int64_t> float_times_ms;
  std::span<const double> values;  // As float_times_ms.
  std::span<const int64_t> histogram_times_ms;
  std::span<const model::HistogramView> histograms;  // As histogram_times_ms.

  // How many floats of the series lie before this window's first: what a sliding kernel knows a
  // window's movement by.
  size_t floats_before = 0;

  bool empty() const { return values.empty() && histograms.empty(); }
  double range_seconds() const { return static_cast<double>(end_ms - start_ms) / 1000; }
};

// A kernel's result. The caller reuses one.
enum class Outcome : uint8_t { kNone, kFloat, kHistogram };
struct RangeResult {
  double value = 0;                 // kFloat
  model::FloatHistogram histogram;  // kHistogram
  std::vector<double> scratch;      // For kernels that need to reorder values.
};

}  // namespace narthex::promql
