#include "promql/exec/sample_buffer.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "narthex/model/stale.h"

namespace narthex::promql {
namespace {

model::ColumnBatch Floats(const std::vector<int64_t>& times, const std::vector<double>& values) {
  model::ColumnBatch batch;
  batch.kind = model::SampleKind::kFloat;
  batch.times_ms = times;
  batch.values = values;
  return batch;
}

struct HistogramRows {
  std::vector<int64_t> times;
  std::vector<double> counts, zero_counts, sums, buckets;
  std::vector<model::CounterResetHint> hints;
  model::LayoutPtr layout;

  void Add(int64_t time, double count) {
    times.push_back(time);
    counts.push_back(count);
    zero_counts.push_back(0);
    sums.push_back(count * 2);
    hints.push_back(model::CounterResetHint::kUnknown);
    buckets.push_back(count);
  }
  model::ColumnBatch Batch() const {
    model::ColumnBatch batch;
    batch.kind = model::SampleKind::kHistogram;
    batch.times_ms = times;
    batch.layout = layout;
    batch.counts = counts;
    batch.zero_counts = zero_counts;
    batch.sums = sums;
    batch.hints = hints;
    batch.buckets = buckets;
    return batch;
  }
};

model::LayoutPtr OneBucket() {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->positive_spans = {{0, 1}};
  return layout;
}

TEST(SampleBufferTest, TheWindowIsLeftOpen) {
  SampleBuffer buffer;
  const std::vector<int64_t> times = {10, 20, 30, 40};
  const std::vector<double> values = {1, 2, 3, 4};
  buffer.Append(Floats(times, values));
  Window window;
  buffer.Slide(10, 30, &window);
  EXPECT_EQ(std::vector<double>(window.values.begin(), window.values.end()),
            (std::vector<double>{2, 3}));
  EXPECT_EQ(window.floats_before, 1u);
  EXPECT_EQ(buffer.num_samples(), 2u);
  buffer.Slide(30, 40, &window);
  EXPECT_EQ(window.values.size(), 1u);
  EXPECT_EQ(buffer.num_new_samples(), 1u);
}

TEST(SampleBufferTest, StaleMarkersAreLeftOut) {
  SampleBuffer buffer;
  const std::vector<int64_t> times = {10, 20, 30};
  const std::vector<double> values = {1, model::StaleNan(), 3};
  buffer.Append(Floats(times, values));
  EXPECT_EQ(buffer.newest_ms(), 30);
  Window window;
  buffer.Slide(0, 30, &window);
  ASSERT_EQ(window.values.size(), 2u);
  EXPECT_EQ(window.float_times_ms[1], 30);
  EXPECT_EQ(window.values[1], 3);
}

// Random batches and windows, against a list that is searched anew each time.
TEST(SampleBufferTest, SlidingGivesWhatSearchingGives) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    SampleBuffer buffer;
    std::vector<int64_t> all;
    int64_t time = 0, after = -50, until = 0;
    for (int step = 0; step < 3000; ++step) {
      if (buffer.newest_ms() <= until) {
        std::vector<int64_t> times;
        std::vector<double> values;
        for (uint32_t i = 0; i < random() % 300; ++i) {
          time += 1 + random() % 5;
          times.push_back(time);
          values.push_back(static_cast<double>(time));
        }
        all.insert(all.end(), times.begin(), times.end());
        buffer.Append(Floats(times, values));
      }
      after += random() % 7;
      until = std::max(until, after + static_cast<int64_t>(random() % 100));
      Window window;
      buffer.Slide(after, until, &window);
      std::vector<double> expected;
      size_t before = 0;
      for (const int64_t at : all) {
        if (at > after && at <= until) expected.push_back(static_cast<double>(at));
        if (at <= after) ++before;
      }
      ASSERT_EQ(std::vector<double>(window.values.begin(), window.values.end()), expected);
      if (!expected.empty()) {
        ASSERT_EQ(window.floats_before, before);
      }
    }
  }
}

TEST(SampleBufferTest, HistogramViewsOutliveTheirBatch) {
  SampleBuffer buffer;
  {
    HistogramRows rows;
    rows.layout = OneBucket();
    for (int i = 1; i <= 100; ++i) rows.Add(i, i);
    buffer.Append(rows.Batch());
  }
  {
    HistogramRows rows;
    rows.layout = OneBucket();
    for (int i = 101; i <= 200; ++i) rows.Add(i, i);
    buffer.Append(rows.Batch());
  }
  Window window;
  for (int64_t until = 10; until <= 200; ++until) {
    buffer.Slide(until - 10, until, &window);
    ASSERT_EQ(window.histograms.size(), 10u);
    EXPECT_EQ(window.histograms.back().count, static_cast<double>(until));
    EXPECT_EQ(window.histograms.back().buckets[0], static_cast<double>(until));
    EXPECT_EQ(window.histograms.front().buckets[0], static_cast<double>(until - 9));
  }
}

TEST(SampleBufferTest, HintsAreMadeExplicitWhereAskedFor) {
  HistogramRows rows;
  rows.layout = OneBucket();
  rows.Add(1, 5);
  rows.Add(2, 9);
  rows.Add(3, 4);
  Window window;
  SampleBuffer stored;
  stored.Append(rows.Batch());
  stored.Slide(0, 3, &window);
  EXPECT_EQ(window.histograms[2].hint, model::CounterResetHint::kUnknown);
  SampleBuffer explicit_hints(SampleBuffer::Hints::kExplicit);
  explicit_hints.Append(rows.Batch());
  explicit_hints.Slide(0, 3, &window);
  EXPECT_EQ(window.histograms[0].hint, model::CounterResetHint::kUnknown);
  EXPECT_EQ(window.histograms[1].hint, model::CounterResetHint::kNotReset);
  EXPECT_EQ(window.histograms[2].hint, model::CounterResetHint::kReset);
}

}  // namespace
}  // namespace narthex::promql
