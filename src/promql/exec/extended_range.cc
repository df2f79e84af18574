#include "promql/exec/extended_range.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "narthex/base/status.h"

namespace narthex::promql {
namespace {

double Interpolate(const FloatPoint& a, const FloatPoint& b, int64_t time_ms) {
  return a.value + (b.value - a.value) * static_cast<double>(time_ms - a.time_ms) /
                       static_cast<double>(b.time_ms - a.time_ms);
}

}  // namespace

absl::Status ExtendRawRange(const Window& window, ResultSeries* series) {
  if (window.mode == RangeMode::kPlain) return absl::OkStatus();
  const bool smoothed = window.mode == RangeMode::kSmoothed;
  if (!series->histograms.empty()) {
    return base::FailedPrecondition(smoothed ? "smoothed" : "anchored",
                                    " modifier is not supported with histograms");
  }
  const std::vector<FloatPoint> points = std::move(series->floats);
  series->floats.clear();
  // The sample the left end is known by: the last at or before it, else the first.
  const auto after_start = std::ranges::find_if(
      points, [&](const FloatPoint& point) { return point.time_ms > window.start_ms; });
  if (after_start == points.end()) return absl::OkStatus();
  const auto first = after_start == points.begin() ? after_start : after_start - 1;
  // And the right end: smoothed, the first at or after it; else the last.
  auto last = points.end() - 1;
  if (smoothed) {
    last = std::ranges::find_if(
        points, [&](const FloatPoint& point) { return point.time_ms >= window.end_ms; });
    if (last == points.end()) --last;
  }
  double left = first->value;
  if (smoothed && first->time_ms < window.start_ms) {
    left = Interpolate(*first, *(first + 1), window.start_ms);
  }
  double right = last->value;
  if (smoothed && last != points.begin() && last->time_ms > window.end_ms) {
    right = Interpolate(*(last - 1), *last, window.end_ms);
  }
  series->floats.push_back({window.start_ms, left});
  for (auto point = first; point <= last; ++point) {
    if (point->time_ms <= window.start_ms || point->time_ms >= window.end_ms) continue;
    series->floats.push_back(*point);
  }
  series->floats.push_back({window.end_ms, right});
  return absl::OkStatus();
}

}  // namespace narthex::promql
