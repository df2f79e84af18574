// One series as a column over a step grid: at each step a float, a histogram or nothing. Reused
// from series to series, so that a whole query touches few buffers. Also the grid itself.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "narthex/model/histogram.h"

namespace narthex::promql {

using HistogramPtr = std::shared_ptr<const model::FloatHistogram>;

// The moments an expression is evaluated at: start, start + step, ... `count` of them.
struct StepGrid {
  int64_t start_ms = 0;
  int64_t step_ms = 1;  // Positive, also where there is one step only.
  size_t count = 0;

  int64_t TimeAt(size_t step) const { return start_ms + static_cast<int64_t>(step) * step_ms; }
  int64_t end_ms() const { return count == 0 ? start_ms : TimeAt(count - 1); }
  bool operator==(const StepGrid&) const = default;
};

enum class PointKind : uint8_t { kNone = 0, kFloat = 1, kHistogram = 2 };

class Column {
 public:
  // `num_steps` steps without points. Keeps the memory.
  void Reset(size_t num_steps);

  size_t size() const { return kinds_.size(); }
  bool empty() const { return num_floats_ + num_histograms_ == 0; }
  size_t num_floats() const { return num_floats_; }
  size_t num_histograms() const { return num_histograms_; }
  size_t num_points() const { return num_floats_ + num_histograms_; }
  // Whether every step has a float: loops over values() need not look at kinds then.
  bool dense() const { return num_floats_ == kinds_.size(); }

  PointKind kind(size_t step) const { return kinds_[step]; }
  bool has(size_t step) const { return kinds_[step] != PointKind::kNone; }
  // REQUIRES: kind(step) == kFloat.
  double value(size_t step) const { return values_[step]; }
  // REQUIRES: kind(step) == kHistogram. Valid until the step changes.
  const HistogramPtr& histogram(size_t step) const { return histograms_[step]; }

  // Values of steps without a float are meaningless.
  std::span<const double> values() const { return values_; }
  // To change floats in place; does not change which steps have one.
  std::span<double> mutable_values() { return values_; }

  void SetFloat(size_t step, double value) {
    if (kinds_[step] == PointKind::kNone) {
      kinds_[step] = PointKind::kFloat;
      ++num_floats_;
    } else if (kinds_[step] != PointKind::kFloat) {
      Become(step, PointKind::kFloat);
    }
    values_[step] = value;
  }
  void SetHistogram(size_t step, HistogramPtr histogram) {
    if (kinds_[step] != PointKind::kHistogram) Become(step, PointKind::kHistogram);
    histograms_[step] = std::move(histogram);
  }
  void Clear(size_t step) {
    if (kinds_[step] != PointKind::kNone) Become(step, PointKind::kNone);
  }
  // For kernels that write floats into empty steps in bulk: the cells, and then how many floats
  // were set. Valid until the next change.
  struct FloatCells {
    std::span<double> values;
    std::span<PointKind> kinds;
  };
  FloatCells float_cells() { return {values_, kinds_}; }
  void AddFloats(size_t count) { num_floats_ += count; }

  // Sets floats at steps begin..end-1.
  void FillFloats(size_t begin, size_t end, double value);
  void DropHistograms();
  // Copies the point of another column.
  void CopyPoint(size_t step, const Column& from, size_t from_step);

  // Memory held, without what histograms hold.
  size_t num_bytes() const {
    return values_.capacity() * sizeof(double) + kinds_.capacity() +
           histograms_.capacity() * sizeof(HistogramPtr);
  }

 private:
  void Become(size_t step, PointKind kind);

  std::vector<double> values_;
  std::vector<PointKind> kinds_;
  std::vector<HistogramPtr> histograms_;  // As long as kinds_ once there is a histogram.
  size_t num_floats_ = 0;
  size_t num_histograms_ = 0;
};

// What a histogram counts for in the sample limit: Prometheus's size of one, in 16-byte samples.
size_t SampleSize(const model::FloatHistogram& histogram);
// Floats count 1.
size_t SampleSize(const Column& column);

}  // namespace narthex::promql
