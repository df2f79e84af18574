// Quantiles of what was observed during the last minutes, in bounded memory: observations are
// counted in bins of 2 % relative width, one set of bins per slice of the window, and a quantile is
// the largest observation of its bin (exact for constant data). Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace narthex::base {

class QuantileWindow {
 public:
  explicit QuantileWindow(int64_t window_ms);

  // `now_ms` is monotonic. NaN is not counted.
  void Observe(double value, int64_t now_ms);

  // One value per quantile (each in [0, 1]); NaN if the window is empty.
  std::vector<double> Quantiles(std::span<const double> quantiles, int64_t now_ms) const;

 private:
  struct Bin {
    uint64_t count = 0;
    double max = 0;
  };
  struct Slice {
    int64_t number = -1;  // Time divided by the slice's length.
    std::map<int32_t, Bin> bins;
  };
  static constexpr size_t kNumSlices = 5;

  const int64_t slice_ms_;
  std::array<Slice, kNumSlices> slices_;  // Slice n lies at n % kNumSlices.
};

}  // namespace narthex::base
