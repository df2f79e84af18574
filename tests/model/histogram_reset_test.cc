#include <gtest/gtest.h>

#include <random>

#include "narthex/model/histogram_math.h"
#include "tests/support/histograms.h"

namespace narthex::model {
namespace {

using test::HistogramSpec;
using test::MakeHistogram;

bool IsReset(const HistogramSpec& current, const HistogramSpec& previous) {
  const FloatHistogram now = MakeHistogram(current);
  const FloatHistogram before = MakeHistogram(previous);
  return DetectReset(now, before);
}

TEST(DetectResetTest, HintsDecide) {
  const HistogramSpec less = {.positive = {{0, 1}}};
  const HistogramSpec more = {.positive = {{0, 2}}};
  HistogramSpec current = more;
  current.hint = CounterResetHint::kReset;
  EXPECT_TRUE(IsReset(current, less));
  current = less;
  current.hint = CounterResetHint::kNotReset;
  EXPECT_FALSE(IsReset(current, more));
  current.hint = CounterResetHint::kGauge;
  EXPECT_TRUE(IsReset(current, more));
  current.hint = CounterResetHint::kUnknown;
  EXPECT_TRUE(IsReset(current, more));
}

TEST(DetectResetTest, ADecreaseAnywhereIsAReset) {
  const HistogramSpec before = {
      .zero_count = 5, .positive = {{0, 3}, {1, 3}}, .negative = {{2, 3}}};
  EXPECT_FALSE(IsReset(before, before));
  EXPECT_FALSE(
      IsReset({.zero_count = 6, .positive = {{0, 3}, {1, 4}}, .negative = {{2, 3}}}, before));
  EXPECT_TRUE(
      IsReset({.zero_count = 4, .positive = {{0, 3}, {1, 9}}, .negative = {{2, 3}}}, before));
  EXPECT_TRUE(
      IsReset({.zero_count = 5, .positive = {{0, 2}, {1, 9}}, .negative = {{2, 3}}}, before));
  EXPECT_TRUE(
      IsReset({.zero_count = 5, .positive = {{0, 3}, {1, 9}}, .negative = {{2, 2}}}, before));
}

TEST(DetectResetTest, ABucketThatIsGoneIsAResetIfItWasPopulated) {
  const HistogramSpec now = {.positive = {{0, 9}, {3, 9}}};
  EXPECT_TRUE(IsReset(now, {.positive = {{0, 1}, {1, 1}}}));
  EXPECT_FALSE(IsReset(now, {.positive = {{0, 1}, {1, 0}}}));
  EXPECT_TRUE(IsReset(now, {.positive = {{4, 1}}}));
  EXPECT_FALSE(IsReset(now, {.positive = {{4, 0}}}));
  EXPECT_FALSE(IsReset(now, {.positive = {{3, 1}}}));
}

TEST(DetectResetTest, AHigherResolutionIsAResetALowerOneIsNot) {
  const HistogramSpec coarse = {.schema = 0, .positive = {{1, 9}, {2, 9}}};
  EXPECT_TRUE(IsReset({.schema = 1, .positive = {{1, 20}}}, coarse));
  EXPECT_FALSE(IsReset(coarse, {.schema = 1, .positive = {{1, 4}, {2, 5}, {3, 1}}}));
  EXPECT_TRUE(IsReset(coarse, {.schema = 1, .positive = {{1, 5}, {2, 5}}}));
}

TEST(DetectResetTest, TheZeroBucketMayOnlyGrowToABound) {
  const HistogramSpec before = {
      .zero_threshold = 0.5, .zero_count = 1, .positive = {{0, 2}, {1, 2}}};
  EXPECT_TRUE(IsReset({.zero_threshold = 0.25, .zero_count = 9}, before));
  // (0.5, 1] goes into the zero bucket, which then must hold 3.
  EXPECT_FALSE(IsReset({.zero_threshold = 1, .zero_count = 3, .positive = {{1, 2}}}, before));
  EXPECT_TRUE(IsReset({.zero_threshold = 1, .zero_count = 2, .positive = {{1, 9}}}, before));
  // 1.5 cuts (1, 2].
  EXPECT_TRUE(IsReset({.zero_threshold = 1.5, .zero_count = 9, .positive = {{2, 9}}}, before));
}

TEST(DetectResetTest, CustomBucketsAreComparedOverCommonBounds) {
  const HistogramSpec before = {.positive = {{0, 1}, {1, 2}, {2, 3}}, .custom_bounds = {1, 2}};
  EXPECT_FALSE(IsReset(before, before));
  EXPECT_FALSE(IsReset({.positive = {{0, 3}, {1, 3}}, .custom_bounds = {2}}, before));
  EXPECT_TRUE(IsReset({.positive = {{0, 2}, {1, 9}}, .custom_bounds = {2}}, before));
  EXPECT_TRUE(IsReset(before, {.positive = {{0, 1}}}));
  EXPECT_TRUE(IsReset({.positive = {{0, 9}}}, before));
}

TEST(DetectResetTest, GrowthIsNoResetWhateverTheLayouts) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const FloatHistogram before = test::RandomHistogram(&random);
    FloatHistogram now = before;
    const FloatHistogram more = test::RandomHistogram(&random);
    if (more.layout->zero_threshold > before.layout->zero_threshold) continue;
    Add(&now, more);
    if (now.layout->zero_threshold < before.layout->zero_threshold) continue;
    ASSERT_FALSE(DetectReset(now, before)) << i;
  }
}

TEST(DetectResetTest, ADecreaseOfAnyBucketIsAResetWhateverElseGrew) {
  std::mt19937 random(6);
  for (int i = 0; i < 2000; ++i) {
    const FloatHistogram before = test::RandomHistogram(&random);
    if (before.buckets.empty()) continue;
    FloatHistogram now = before;
    for (double& bucket : now.buckets) bucket += 5;
    now.count += 1e9;
    ASSERT_FALSE(DetectReset(now, before)) << i;
    const size_t bucket = random() % now.buckets.size();
    now.buckets[bucket] = before.buckets[bucket] - 1;
    ASSERT_TRUE(DetectReset(now, before)) << i;
    // The same through a layout that is equal but not shared, and through one that is not equal.
    now.layout = std::make_shared<HistogramLayout>(*now.layout);
    ASSERT_TRUE(DetectReset(now, before)) << i;
    FloatHistogram wider = test::MakeHistogram({.schema = before.layout->schema,
                                                .zero_threshold = before.layout->zero_threshold,
                                                .positive = {{300, 1}}});
    Add(&wider, now);
    wider.hint = CounterResetHint::kUnknown;
    ASSERT_TRUE(DetectReset(wider, before)) << i;
  }
}

}  // namespace
}  // namespace narthex::model
