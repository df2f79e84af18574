#include "promql/functions/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/histograms.h"

namespace narthex::promql {
namespace {

using model::FloatHistogram;
using test::MakeHistogram;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

double QuantileOf(double quantile, std::vector<double> values) {
  return Quantile(quantile, values);
}

TEST(QuantileTest, LiesBetweenRanks) {
  EXPECT_EQ(QuantileOf(0, {3, 1, 2}), 1);
  EXPECT_EQ(QuantileOf(0.5, {3, 1, 2}), 2);
  EXPECT_EQ(QuantileOf(0.25, {3, 1, 2}), 1.5);
  EXPECT_EQ(QuantileOf(1, {3, 1, 2}), 3);
  EXPECT_EQ(QuantileOf(0.7, {4}), 4);
}

TEST(QuantileTest, NanRanksLowest) {
  EXPECT_TRUE(std::isnan(QuantileOf(0, {1, kNan, 2})));
  EXPECT_EQ(QuantileOf(0.5, {2, kNan, 1}), 1);
  EXPECT_EQ(QuantileOf(1, {2, kNan, 1}), 2);
}

TEST(QuantileTest, OutsideOfZeroToOneThereIsNone) {
  EXPECT_EQ(QuantileOf(-0.1, {1}), -kInfinity);
  EXPECT_EQ(QuantileOf(1.1, {1}), kInfinity);
  EXPECT_TRUE(std::isnan(QuantileOf(kNan, {1})));
  EXPECT_TRUE(std::isnan(QuantileOf(0.5, {})));
  EXPECT_TRUE(IsInvalidQuantile(kNan));
  EXPECT_TRUE(IsInvalidQuantile(-0.1));
  EXPECT_FALSE(IsInvalidQuantile(0));
  EXPECT_FALSE(IsInvalidQuantile(1));
}

TEST(QuantileTest, AgreesWithSorting) {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> values(1 + random() % 40);
    for (double& value : values) value = static_cast<double>(random() % 20);
    const double quantile = static_cast<double>(random() % 1001) / 1000;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double rank = quantile * static_cast<double>(sorted.size() - 1);
    const size_t lower = static_cast<size_t>(rank);
    const size_t upper = std::min(lower + 1, sorted.size() - 1);
    const double weight = rank - std::floor(rank);
    ASSERT_EQ(Quantile(quantile, values), sorted[lower] * (1 - weight) + sorted[upper] * weight);
  }
}

double HistogramQuantileOf(double quantile, const FloatHistogram& histogram) {
  NoteSet notes;
  const double value = HistogramQuantile(quantile, histogram, &notes);
  EXPECT_TRUE(notes.empty());
  return value;
}

TEST(HistogramQuantileTest, IsExponentialWithinABucket) {
  const FloatHistogram histogram = MakeHistogram({.positive = {{1, 10}, {2, 10}}});  // (1,2] (2,4]
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.25, histogram), std::sqrt(2));
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.5, histogram), 2);
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.75, histogram), 2 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(1, histogram), 4);
  const FloatHistogram negative = MakeHistogram({.negative = {{1, 10}, {2, 10}}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.25, negative), -2 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.75, negative), -std::sqrt(2));
}

TEST(HistogramQuantileTest, IsLinearInTheZeroBucket) {
  const FloatHistogram both = MakeHistogram(
      {.zero_threshold = 1, .zero_count = 4, .positive = {{1, 1}}, .negative = {{1, 1}}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.5, both), 0);
  const FloatHistogram positive =
      MakeHistogram({.zero_threshold = 1, .zero_count = 4, .positive = {{1, 0}}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.5, positive), 0.5);
  const FloatHistogram negative =
      MakeHistogram({.zero_threshold = 1, .zero_count = 4, .negative = {{1, 0}}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.5, negative), -0.5);
}

TEST(HistogramQuantileTest, CustomBucketsAreLinearAndOpenAtTheEnds) {
  const FloatHistogram histogram =
      MakeHistogram({.positive = {{0, 4}, {1, 4}, {2, 2}}, .custom_bounds = {10, 20}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.2, histogram), 5);
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.6, histogram), 15);
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.95, histogram), 20);
  const FloatHistogram negative = MakeHistogram({.positive = {{0, 4}}, .custom_bounds = {-5, 5}});
  EXPECT_DOUBLE_EQ(HistogramQuantileOf(0.5, negative), -5);
}

TEST(HistogramQuantileTest, EdgeCases) {
  const FloatHistogram histogram = MakeHistogram({.positive = {{1, 10}}});
  EXPECT_EQ(HistogramQuantileOf(-1, histogram), -kInfinity);
  EXPECT_EQ(HistogramQuantileOf(2, histogram), kInfinity);
  EXPECT_TRUE(std::isnan(HistogramQuantileOf(kNan, histogram)));
  EXPECT_TRUE(std::isnan(HistogramQuantileOf(0.5, MakeHistogram({}))));
}

TEST(HistogramQuantileTest, NanObservationsAreNoted) {
  FloatHistogram histogram = MakeHistogram({.sum = kNan, .positive = {{1, 5}}});
  histogram.count = 10;
  NoteSet notes;
  HistogramQuantile(0.2, histogram, &notes);
  EXPECT_TRUE(notes.Has(Note::kQuantileNanSkew));
  notes.Clear();
  EXPECT_TRUE(std::isnan(HistogramQuantile(0.9, histogram, &notes)));
  EXPECT_TRUE(notes.Has(Note::kQuantileNanResult));
  notes.Clear();
  EXPECT_EQ(HistogramFraction(-kInfinity, kInfinity, histogram, &notes), 0.5);
  EXPECT_TRUE(notes.Has(Note::kFractionNans));
}

TEST(HistogramQuantileTest, IsMonotonicAndInvertsTheFraction) {
  std::mt19937 random(12);
  for (int i = 0; i < 300; ++i) {
    const FloatHistogram histogram = test::RandomHistogram(&random);
    if (histogram.count == 0) continue;
    double previous = -kInfinity;
    for (int step = 1; step < 50; ++step) {
      const double quantile = step / 50.0;
      const double value = HistogramQuantileOf(quantile, histogram);
      // Walking from both ends, the two halves meet with a rounding error at most.
      ASSERT_GE(value, previous - 1e-9 * std::abs(previous)) << i << " " << quantile;
      previous = value;
      NoteSet notes;
      ASSERT_GE(HistogramFraction(-kInfinity, value, histogram, &notes), quantile - 0.2) << i;
    }
  }
}

TEST(HistogramFractionTest, CountsWholeAndPartialBuckets) {
  const FloatHistogram histogram =
      MakeHistogram({.positive = {{0, 2}, {1, 4}, {2, 2}}});  // (0.5,1] (1,2] (2,4]
  NoteSet notes;
  const auto fraction = [&](double lower, double upper) {
    return HistogramFraction(lower, upper, histogram, &notes);
  };
  EXPECT_EQ(fraction(-kInfinity, kInfinity), 1);
  EXPECT_EQ(fraction(1, 2), 0.5);
  EXPECT_DOUBLE_EQ(fraction(1, std::sqrt(2)), 0.25);
  EXPECT_EQ(fraction(2, 1), 0);
  EXPECT_EQ(fraction(5, 9), 0);
  EXPECT_TRUE(std::isnan(fraction(kNan, 1)));
  EXPECT_TRUE(std::isnan(HistogramFraction(0, 1, MakeHistogram({}), &notes)));
  EXPECT_TRUE(notes.empty());
}

ClassicQuantileResult Classic(double quantile, std::vector<ClassicBucket> buckets) {
  return ClassicQuantile(quantile, buckets);
}

TEST(ClassicQuantileTest, IsLinearWithinABucket) {
  const std::vector<ClassicBucket> buckets = {{kInfinity, 10}, {1, 4}, {2, 8}};
  EXPECT_DOUBLE_EQ(Classic(0.2, buckets).value, 0.5);
  EXPECT_DOUBLE_EQ(Classic(0.6, buckets).value, 1.5);
  EXPECT_DOUBLE_EQ(Classic(0.95, buckets).value, 2);
  EXPECT_FALSE(Classic(0.95, buckets).forced_monotonic);
}

TEST(ClassicQuantileTest, NeedsAnInfiniteBucketAndObservations) {
  EXPECT_TRUE(std::isnan(Classic(0.5, {{1, 4}, {2, 8}}).value));
  EXPECT_TRUE(std::isnan(Classic(0.5, {{kInfinity, 8}}).value));
  EXPECT_TRUE(std::isnan(Classic(0.5, {{1, 0}, {kInfinity, 0}}).value));
  EXPECT_EQ(Classic(-1, {{1, 4}}).value, -kInfinity);
  EXPECT_EQ(Classic(2, {{1, 4}}).value, kInfinity);
  EXPECT_TRUE(std::isnan(Classic(kNan, {{1, 4}}).value));
}

TEST(ClassicQuantileTest, AFirstBucketUpToZeroAnswersWithItsBound) {
  EXPECT_EQ(Classic(0.1, {{-1, 4}, {2, 8}, {kInfinity, 8}}).value, -1);
}

TEST(ClassicQuantileTest, EqualBoundsAreMerged) {
  EXPECT_DOUBLE_EQ(Classic(0.25, {{1, 2}, {1, 2}, {2, 8}, {kInfinity, 8}}).value, 0.5);
}

TEST(ClassicQuantileTest, DecreasesAreRaisedAndTold) {
  const ClassicQuantileResult result = Classic(0.5, {{1, 10}, {2, 7}, {3, 9}, {kInfinity, 20}});
  EXPECT_TRUE(result.forced_monotonic);
  EXPECT_EQ(result.min_bucket, 2);
  EXPECT_EQ(result.max_bucket, 3);
  EXPECT_EQ(result.max_difference, 3);
  EXPECT_EQ(result.value, 1);
  // A rounding error is no decrease.
  EXPECT_FALSE(Classic(0.5, {{1, 10}, {2, 10 - 1e-13}, {kInfinity, 20}}).forced_monotonic);
}

TEST(ClassicFractionTest, IsLinearFromZero) {
  const auto fraction = [](double lower, double upper) {
    std::vector<ClassicBucket> buckets = {{1, 4}, {2, 8}, {kInfinity, 10}};
    return ClassicFraction(lower, upper, buckets);
  };
  EXPECT_EQ(fraction(0, 1), 0.4);
  EXPECT_DOUBLE_EQ(fraction(0.5, 1.5), 0.4);
  EXPECT_EQ(fraction(-kInfinity, kInfinity), 1);
  EXPECT_EQ(fraction(3, 2), 0);
  EXPECT_TRUE(std::isnan(fraction(kNan, 2)));
  std::vector<ClassicBucket> finite = {{1, 4}};
  EXPECT_TRUE(std::isnan(ClassicFraction(0, 1, finite)));
}

}  // namespace
}  // namespace narthex::promql
