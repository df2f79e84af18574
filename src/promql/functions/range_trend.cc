// Functions of how samples follow each other: changes, resets, regression, smoothing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/kahan.h"
#include "narthex/model/stale.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

using model::HistogramView;

// A sample of either kind.
struct Either {
  double value = 0;
  const HistogramView* histogram = nullptr;
};

// The first samples that count: in an anchored range the newest one at or before the start, of
// whichever kind, and all after it. None if there is nothing after the start.
std::optional<std::pair<size_t, size_t>> FirstRows(const Window& window) {
  if (window.mode != RangeMode::kAnchored) return std::pair<size_t, size_t>(0, 0);
  const auto num_until_start = [&](std::span<const int64_t> times) {
    return static_cast<size_t>(std::upper_bound(times.begin(), times.end(), window.start_ms) -
                               times.begin());
  };
  const size_t floats = num_until_start(window.float_times_ms);
  const size_t histograms = num_until_start(window.histogram_times_ms);
  if (floats == window.values.size() && histograms == window.histograms.size()) {
    return std::nullopt;
  }
  if (floats == 0 && histograms == 0) return std::pair<size_t, size_t>(0, 0);
  const bool anchor_is_float =
      histograms == 0 || (floats > 0 && window.float_times_ms[floats - 1] >=
                                            window.histogram_times_ms[histograms - 1]);
  return anchor_is_float ? std::pair(floats - 1, histograms) : std::pair(floats, histograms - 1);
}

// Counts the neighbours for which `counts(previous, current)` holds.
template <typename Counts>
Outcome CountNeighbours(const Window& window, RangeResult* result, Counts counts) {
  if (window.empty()) return Outcome::kNone;
  const auto first = FirstRows(window);
  if (!first.has_value()) return Outcome::kNone;
  auto [float_row, histogram_row] = *first;
  std::optional<Either> previous;
  size_t count = 0;
  while (float_row < window.values.size() || histogram_row < window.histograms.size()) {
    const bool is_float =
        histogram_row == window.histograms.size() ||
        (float_row < window.values.size() &&
         window.float_times_ms[float_row] <= window.histogram_times_ms[histogram_row]);
    const Either current = is_float ? Either{window.values[float_row++], nullptr}
                                    : Either{0, &window.histograms[histogram_row++]};
    if (previous.has_value() && counts(*previous, current)) ++count;
    previous = current;
  }
  return FloatResult(static_cast<double>(count), result);
}

struct Line {
  double slope;
  double intercept;
};

// Least squares over time in seconds, the intercept being the value at `intercept_ms`.
Line FitLine(std::span<const int64_t> times_ms, std::span<const double> values,
             int64_t intercept_ms) {
  const bool constant = std::all_of(values.begin() + 1, values.end(),
                                    [&](double value) { return value == values[0]; });
  if (constant) {
    if (std::isinf(values[0])) return {model::NormalNan(), model::NormalNan()};
    return {0, values[0]};
  }
  model::KahanSum x_sum, y_sum, xy_sum, xx_sum;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(times_ms[i] - intercept_ms) / 1e3;
    x_sum.Add(x);
    y_sum.Add(values[i]);
    xy_sum.Add(x * values[i]);
    xx_sum.Add(x * x);
  }
  const double n = static_cast<double>(values.size());
  const double sum_x = x_sum.value();
  const double sum_y = y_sum.value();
  const double covariance = xy_sum.value() - sum_x * sum_y / n;
  const double variance = xx_sum.value() - sum_x * sum_x / n;
  const double slope = covariance / variance;
  return {slope, sum_y / n - slope * sum_x / n};
}

// Six decimals, as Go's %f.
std::string FixedText(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%f", value);
  return buffer;
}

// For functions that need two floats; histograms beside floats are told of.
bool HasTwoFloats(const Window& window, NoteSet* notes) {
  if (!window.values.empty() && !window.histograms.empty()) notes->Add(Note::kHistogramsIgnored);
  return window.values.size() >= 2;
}

}  // namespace

Outcome ChangesKernel(const Window& window, const RangeArguments&, NoteSet*, RangeResult* result) {
  return CountNeighbours(window, result, [](const Either& previous, const Either& current) {
    if (previous.histogram == nullptr && current.histogram == nullptr) {
      return current.value != previous.value &&
             !(std::isnan(current.value) && std::isnan(previous.value));
    }
    return previous.histogram == nullptr || current.histogram == nullptr ||
           !model::Equals(*current.histogram, *previous.histogram);
  });
}

Outcome ResetsKernel(const Window& window, const RangeArguments&, NoteSet*, RangeResult* result) {
  return CountNeighbours(window, result, [](const Either& previous, const Either& current) {
    if (previous.histogram == nullptr && current.histogram == nullptr) {
      return current.value < previous.value;
    }
    return previous.histogram == nullptr || current.histogram == nullptr ||
           model::DetectReset(*current.histogram, *previous.histogram);
  });
}

Outcome DerivKernel(const Window& window, const RangeArguments&, NoteSet* notes,
                    RangeResult* result) {
  if (!HasTwoFloats(window, notes)) return Outcome::kNone;
  // Times near those in use keep the sums small.
  const Line line = FitLine(window.float_times_ms, window.values, window.float_times_ms[0]);
  return FloatResult(line.slope, result);
}

Outcome PredictLinearKernel(const Window& window, const RangeArguments& arguments, NoteSet* notes,
                            RangeResult* result) {
  if (!HasTwoFloats(window, notes)) return Outcome::kNone;
  const Line line = FitLine(window.float_times_ms, window.values, window.eval_time_ms);
  return FloatResult(line.slope * arguments.first + line.intercept, result);
}

Outcome DoubleExponentialSmoothingKernel(const Window& window, const RangeArguments& arguments,
                                         NoteSet* notes, RangeResult* result) {
  if (!HasTwoFloats(window, notes)) return Outcome::kNone;
  const double smoothing = arguments.first;
  const double trending = arguments.second;
  const std::span<const double> values = window.values;
  double before = 0;
  double smoothed = values[0];
  double trend = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    const double x = smoothing * values[i];
    // The first trend is the first difference itself.
    if (i > 1) trend = trending * (smoothed - before) + (1 - trending) * trend;
    const double y = (1 - smoothing) * (smoothed + trend);
    before = smoothed;
    smoothed = x + y;
  }
  return FloatResult(smoothed, result);
}

absl::Status CheckSmoothingFactors(const RangeArguments& arguments) {
  const auto check = [](double factor, std::string_view name, std::string_view symbol) {
    // NaN passes, as it does in Prometheus.
    if (!(factor <= 0 || factor >= 1)) return absl::OkStatus();
    return base::InvalidArgument("invalid ", name, " factor. Expected: 0 < ", symbol,
                                 " < 1, got: ", FixedText(factor));
  };
  NX_RETURN_IF_ERROR(check(arguments.first, "smoothing", "sf"));
  return check(arguments.second, "trend", "tf");
}

}  // namespace narthex::promql
