// Range functions over windows of floats, with the time per sample in a window; histogram
// addition, 100 histograms a turn. Answers are checked.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/model/histogram_math.h"
#include "promql/functions/quantile.h"
#include "promql/functions/range_functions.h"

namespace narthex::promql {
namespace {

constexpr int64_t kIntervalMs = 15'000;

// Counters that are reset every 1,000 samples, as after a restart every few hours.
struct Series {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
  explicit Series(size_t num_samples) {
    for (size_t i = 0; i < num_samples; ++i) {
      times_ms.push_back(static_cast<int64_t>(i) * kIntervalMs + static_cast<int64_t>(i * 7 % 11));
      values.push_back(static_cast<double>((i % 1000) * 13 + i * 5 % 7));
    }
  }
  // Samples [begin, begin + size).
  Window At(size_t begin, size_t size) const {
    Window window;
    window.start_ms = times_ms[begin] - kIntervalMs / 2;
    window.end_ms = window.eval_time_ms = times_ms[begin + size - 1] + kIntervalMs / 2;
    window.float_times_ms = std::span(times_ms).subspan(begin, size);
    window.values = std::span(values).subspan(begin, size);
    window.floats_before = begin;
    return window;
  }
};

constexpr size_t kNumSteps = 2000;

// Windows of range(0) samples, moving on by one sample a step.
void Evaluate(benchmark::State& state, const char* name, bool sliding) {
  const size_t size = static_cast<size_t>(state.range(0));
  const Series series(kNumSteps + size);
  const RangeFunction& function = *FindRangeFunction(name);
  const std::unique_ptr<SlidingKernel> kernel = sliding ? function.new_sliding() : nullptr;
  const RangeArguments arguments = {.first = 0.9, .second = 0.5};
  NoteSet notes;
  RangeResult result;
  double plain_total = 0;
  for (size_t step = 0; step < kNumSteps; ++step) {
    function.kernel(series.At(step, size), arguments, &notes, &result);
    plain_total += result.value;
  }
  for (auto _ : state) {
    double total = 0;
    if (sliding) kernel->Reset();
    for (size_t step = 0; step < kNumSteps; ++step) {
      const Window window = series.At(step, size);
      if (sliding) {
        kernel->Evaluate(window, arguments, &notes, &result);
      } else {
        function.kernel(window, arguments, &notes, &result);
      }
      total += result.value;
    }
    NX_CHECK_EQ(total, plain_total);
    benchmark::DoNotOptimize(total);
  }
  const auto num_windows = static_cast<int64_t>(state.iterations() * kNumSteps);
  state.SetItemsProcessed(num_windows);
  state.counters["time/sample"] =
      benchmark::Counter(static_cast<double>(num_windows) * static_cast<double>(size),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

#define NX_RANGE_BENCH(name) BENCHMARK_CAPTURE(Evaluate, name, #name, false)->Arg(20)->Arg(240)
#define NX_SLIDING_BENCH(name) \
  BENCHMARK_CAPTURE(Evaluate, name##_sliding, #name, true)->Arg(20)->Arg(240)

NX_RANGE_BENCH(rate);
NX_SLIDING_BENCH(rate);
NX_RANGE_BENCH(sum_over_time);
NX_RANGE_BENCH(avg_over_time);
NX_RANGE_BENCH(max_over_time);
NX_SLIDING_BENCH(max_over_time);
NX_RANGE_BENCH(stddev_over_time);
NX_RANGE_BENCH(quantile_over_time);
NX_RANGE_BENCH(deriv);

model::FloatHistogram Bell(size_t num_buckets, const model::LayoutPtr& layout, double scale) {
  model::FloatHistogram histogram;
  histogram.layout = layout;
  for (size_t i = 0; i < num_buckets; ++i) {
    const double x = (static_cast<double>(i) / static_cast<double>(num_buckets) - 0.5) * 4;
    histogram.buckets.push_back(std::floor(scale * 1000 * std::exp(-x * x)));
    histogram.count += histogram.buckets.back();
  }
  histogram.sum = histogram.count * 0.1;
  return histogram;
}

model::LayoutPtr OneSpan(int32_t offset, size_t num_buckets) {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = 3;
  layout->zero_threshold = 0x1p-128;
  layout->positive_spans = {{offset, static_cast<uint32_t>(num_buckets)}};
  return layout;
}

constexpr size_t kNumHistograms = 100;

// How the layouts of the histograms that are added differ.
enum class Layouts : uint8_t { kShared, kEqual, kCovered };

// Plain addition of range(0) buckets each.
void AddHistograms(benchmark::State& state, Layouts layouts) {
  const size_t size = static_cast<size_t>(state.range(0));
  std::vector<model::FloatHistogram> histograms;
  model::LayoutPtr layout = OneSpan(-10, size);
  double want = 0;
  for (size_t i = 0; i < kNumHistograms; ++i) {
    if (layouts == Layouts::kEqual) layout = OneSpan(-10, size);
    // The first one covers all others.
    if (layouts == Layouts::kCovered && i > 0) {
      layout = OneSpan(-10 + static_cast<int32_t>(i % 2), size - 2);
    }
    histograms.push_back(Bell(layout->num_buckets(), layout, static_cast<double>(i + 1)));
    want += histograms.back().count;
  }
  for (auto _ : state) {
    model::FloatHistogram sum = histograms[0];
    for (size_t i = 1; i < kNumHistograms; ++i) model::Add(&sum, histograms[i]);
    NX_CHECK_EQ(sum.count, want);
    benchmark::DoNotOptimize(sum.buckets.data());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kNumHistograms));
}
BENCHMARK_CAPTURE(AddHistograms, shared_layout, Layouts::kShared)->Arg(60)->Arg(160);
BENCHMARK_CAPTURE(AddHistograms, equal_layouts, Layouts::kEqual)->Arg(60)->Arg(160);
BENCHMARK_CAPTURE(AddHistograms, covered_layouts, Layouts::kCovered)->Arg(60)->Arg(160);

void SumHistograms(benchmark::State& state) {
  const size_t size = static_cast<size_t>(state.range(0));
  const model::LayoutPtr layout = OneSpan(-10, size);
  std::vector<model::FloatHistogram> histograms;
  double want = 0;
  for (size_t i = 0; i < kNumHistograms; ++i) {
    histograms.push_back(Bell(size, layout, static_cast<double>(i + 1)));
    want += histograms.back().count;
  }
  model::HistogramSum sum;
  for (auto _ : state) {
    for (const model::FloatHistogram& histogram : histograms) sum.Add(histogram);
    const model::FloatHistogram total = sum.Take();
    NX_CHECK_EQ(total.count, want);
    benchmark::DoNotOptimize(total.buckets.data());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kNumHistograms));
}
BENCHMARK(SumHistograms)->Arg(60)->Arg(160);

void QuantileOfHistogram(benchmark::State& state) {
  const size_t size = static_cast<size_t>(state.range(0));
  const model::FloatHistogram histogram = Bell(size, OneSpan(-10, size), 7);
  NoteSet notes;
  for (auto _ : state) {
    const double value = HistogramQuantile(0.9, histogram, &notes);
    NX_CHECK(value > 1);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(QuantileOfHistogram)->Arg(60)->Arg(160);

}  // namespace
}  // namespace narthex::promql

BENCHMARK_MAIN();
