#include "base/quantile_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace narthex::base {
namespace {

constexpr double kBinGrowth = 1.02;
// Beyond the bins of all finite doubles: |log(v) / log(1.02)| < 37,700.
constexpr int32_t kMaxBin = 40'000;

// Bins in the order of their values: negative ones, zero at 0, positive ones.
int32_t BinOf(double value) {
  if (value == 0) return 0;
  const double magnitude = std::fabs(value);
  const double position = std::isinf(magnitude)
                              ? double{kMaxBin - 1}
                              : std::ceil(std::log(magnitude) / std::log(kBinGrowth));
  const int32_t bin = static_cast<int32_t>(position) + kMaxBin;
  return value > 0 ? bin : -bin;
}

}  // namespace

QuantileWindow::QuantileWindow(int64_t window_ms)
    : slice_ms_(std::max<int64_t>(1, window_ms / static_cast<int64_t>(kNumSlices))) {}

void QuantileWindow::Observe(double value, int64_t now_ms) {
  if (std::isnan(value)) return;
  const int64_t number = now_ms / slice_ms_;
  Slice& slice = slices_[static_cast<size_t>(number) % kNumSlices];
  if (slice.number != number) {
    slice.number = number;
    slice.bins.clear();
  }
  Bin& bin = slice.bins[BinOf(value)];
  bin.max = bin.count == 0 ? value : std::max(bin.max, value);
  ++bin.count;
}

std::vector<double> QuantileWindow::Quantiles(std::span<const double> quantiles,
                                              int64_t now_ms) const {
  const int64_t newest = now_ms / slice_ms_;
  std::map<int32_t, Bin> merged;
  uint64_t count = 0;
  for (const Slice& slice : slices_) {
    if (slice.number < 0 || slice.number <= newest - static_cast<int64_t>(kNumSlices)) continue;
    for (const auto& [index, bin] : slice.bins) {
      Bin& sum = merged[index];
      sum.max = sum.count == 0 ? bin.max : std::max(sum.max, bin.max);
      sum.count += bin.count;
      count += bin.count;
    }
  }
  std::vector<double> values;
  for (const double quantile : quantiles) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const double rank = std::max(1.0, std::ceil(quantile * static_cast<double>(count)));
    uint64_t num_before = 0;
    for (const auto& [index, bin] : merged) {
      num_before += bin.count;
      value = bin.max;
      if (static_cast<double>(num_before) >= rank) break;
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace narthex::base
