// Kernels with memory against their plain twins.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "promql/functions/range_functions.h"
#include "tests/support/histograms.h"

namespace narthex::promql {
namespace {

struct Series {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

// A counter with resets, or a gauge of few values; NaNs among both.
Series RandomSeries(std::mt19937* random) {
  Series series;
  const bool is_counter = (*random)() % 2 == 0;
  int64_t time_ms = 0;
  double value = 0;
  for (size_t i = 0; i < 300; ++i) {
    time_ms += static_cast<int64_t>(1000 + (*random)() % 5000);
    const auto dice = (*random)() % 20;
    if (!is_counter || dice == 0) value = static_cast<double>((*random)() % 8) - 4;
    if (is_counter) value += 0.1 * static_cast<double>((*random)() % 10);
    series.times_ms.push_back(time_ms);
    series.values.push_back(dice == 1 ? std::nan("") : value);
  }
  return series;
}

Window WindowOf(const Series& series, size_t begin, size_t end) {
  Window window;
  window.float_times_ms = std::span(series.times_ms).subspan(begin, end - begin);
  window.values = std::span(series.values).subspan(begin, end - begin);
  window.floats_before = begin;
  window.start_ms = (begin == 0 ? 0 : series.times_ms[begin - 1]);
  window.end_ms = window.eval_time_ms = series.times_ms[end - 1] + 500;
  return window;
}

void ExpectAgreement(const RangeFunction& function, const Window& window, SlidingKernel* kernel) {
  NoteSet notes, sliding_notes;
  RangeResult result, sliding_result;
  const Outcome outcome = function.kernel(window, {}, &notes, &result);
  ASSERT_EQ(kernel->Evaluate(window, {}, &sliding_notes, &sliding_result), outcome);
  EXPECT_EQ(sliding_notes, notes);
  if (outcome != Outcome::kFloat) return;
  ASSERT_EQ(std::bit_cast<uint64_t>(sliding_result.value), std::bit_cast<uint64_t>(result.value))
      << sliding_result.value << " " << result.value;
}

TEST(SlidingKernelTest, AgreesWithThePlainKernelOnEveryWindow) {
  std::mt19937 random(21);
  size_t num_sliding = 0;
  for (const RangeFunction& function : AllRangeFunctions()) {
    if (function.new_sliding == nullptr) continue;
    ++num_sliding;
    SCOPED_TRACE(function.name);
    const auto kernel = function.new_sliding();
    for (int round = 0; round < 40; ++round) {
      SCOPED_TRACE(round);
      const Series series = RandomSeries(&random);
      kernel->Reset();
      size_t begin = 0;
      size_t end = 1;
      // Windows grow, shrink, stay, move and jump over samples.
      while (end <= series.values.size()) {
        ASSERT_NO_FATAL_FAILURE(
            ExpectAgreement(function, WindowOf(series, begin, end), kernel.get()));
        end += random() % 4;
        if (random() % 30 == 0) end += 40;
        begin = std::min(begin + random() % 5, end);
      }
    }
  }
  EXPECT_EQ(num_sliding, 6u);
}

TEST(SlidingKernelTest, WindowsWithHistogramsGoThePlainWay) {
  std::mt19937 random(22);
  const Series series = RandomSeries(&random);
  const model::FloatHistogram histogram = test::MakeHistogram({.positive = {{1, 2}}});
  const std::vector<model::HistogramView> views = {histogram};
  const std::vector<int64_t> times_ms = {series.times_ms[4] + 1};
  for (const RangeFunction& function : AllRangeFunctions()) {
    if (function.new_sliding == nullptr) continue;
    SCOPED_TRACE(function.name);
    const auto kernel = function.new_sliding();
    for (size_t begin = 0; begin < 20; ++begin) {
      Window window = WindowOf(series, begin, begin + 8);
      if (begin <= 4) {
        window.histogram_times_ms = times_ms;
        window.histograms = views;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectAgreement(function, window, kernel.get()));
    }
  }
}

}  // namespace
}  // namespace narthex::promql
