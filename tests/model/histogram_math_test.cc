#include "narthex/model/histogram_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "narthex/model/histogram_text.h"
#include "tests/support/histograms.h"

namespace narthex::model {
namespace {

using test::Buckets;
using test::Compacted;
using test::MakeHistogram;
using test::RandomHistogram;

constexpr double kMax = std::numeric_limits<double>::max();

FloatHistogram Sum(FloatHistogram a, const FloatHistogram& b) {
  EXPECT_TRUE(Add(&a, b).compatible);
  return a;
}

FloatHistogram Difference(FloatHistogram a, const FloatHistogram& b) {
  EXPECT_TRUE(Subtract(&a, b).compatible);
  return a;
}

TEST(HistogramAddTest, EqualLayoutsStayShared) {
  FloatHistogram a = MakeHistogram({.zero_count = 1, .sum = 5, .positive = {{1, 2}, {3, 4}}});
  FloatHistogram b = a;
  const HistogramLayout* const layout = a.layout.get();
  EXPECT_TRUE(Add(&a, b).compatible);
  EXPECT_EQ(a.layout.get(), layout);
  EXPECT_EQ(ToTestNotation(a), "{{count:14 sum:10 z_bucket:2 offset:1 buckets:[4 0 8]}}");
}

TEST(HistogramAddTest, BucketsOfTheOtherOneAreFilledIn) {
  const FloatHistogram a = MakeHistogram({.positive = {{1, 1}, {4, 4}}, .negative = {{2, 7}}});
  const FloatHistogram b = MakeHistogram({.positive = {{0, 10}, {2, 20}, {5, 50}}});
  EXPECT_EQ(ToTestNotation(Sum(a, b)),
            "{{count:92 buckets:[10 1 20 0 4 50] n_offset:2 n_buckets:[7]}}");
}

TEST(HistogramAddTest, ASumThatCoversTheOtherOneKeepsItsLayout) {
  FloatHistogram a = MakeHistogram({.positive = {{1, 1}, {2, 2}, {3, 3}}, .negative = {{1, 1}}});
  const FloatHistogram b = MakeHistogram({.positive = {{2, 10}}, .negative = {{1, 5}}});
  const HistogramLayout* const layout = a.layout.get();
  Add(&a, b);
  EXPECT_EQ(a.layout.get(), layout);
  EXPECT_EQ(a.buckets, (std::vector<double>{1, 12, 3, 6}));
}

TEST(HistogramAddTest, AnUncoveredSumTakesTheLayoutOfTheOtherOneIfThatFits) {
  FloatHistogram a = MakeHistogram({.positive = {{2, 10}}});
  const FloatHistogram b = MakeHistogram({.positive = {{1, 1}, {2, 2}, {3, 3}}});
  Add(&a, b);
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.buckets, (std::vector<double>{1, 12, 3}));
}

TEST(HistogramAddTest, TheLowerResolutionWins) {
  const FloatHistogram fine = MakeHistogram({.schema = 1, .positive = {{1, 1}, {2, 2}, {3, 3}}});
  const FloatHistogram coarse = MakeHistogram({.schema = 0, .positive = {{1, 10}}});
  EXPECT_EQ(ToTestNotation(Sum(fine, coarse)), "{{count:16 offset:1 buckets:[13 3]}}");
  EXPECT_EQ(ToTestNotation(Sum(coarse, fine)), "{{count:16 offset:1 buckets:[13 3]}}");
}

TEST(HistogramAddTest, TheWiderZeroBucketSwallowsBuckets) {
  const FloatHistogram wide =
      MakeHistogram({.zero_threshold = 1, .zero_count = 5, .positive = {{1, 3}}});
  const FloatHistogram narrow = MakeHistogram(
      {.zero_threshold = 0.25, .zero_count = 1, .positive = {{-1, 2}, {0, 4}, {2, 7}}});
  const char kWant[] = "{{count:22 z_bucket:12 z_bucket_w:1 offset:1 buckets:[3 7]}}";
  EXPECT_EQ(ToTestNotation(Sum(wide, narrow)), kWant);
  EXPECT_EQ(ToTestNotation(Sum(narrow, wide)), kWant);
}

TEST(HistogramAddTest, AZeroBucketThatCutsABucketGrowsToItsBound) {
  // 3 lies within bucket 2, (2, 4], of the other one.
  const FloatHistogram wide = MakeHistogram({.zero_threshold = 3, .zero_count = 5});
  const FloatHistogram narrow = MakeHistogram({.positive = {{2, 1}, {3, 1}}, .negative = {{1, 2}}});
  const char kWant[] = "{{count:9 z_bucket:8 z_bucket_w:4 offset:3 buckets:[1]}}";
  EXPECT_EQ(ToTestNotation(Sum(wide, narrow)), kWant);
  EXPECT_EQ(ToTestNotation(Sum(narrow, wide)), kWant);
}

TEST(HistogramAddTest, AnEmptyBucketMayBeCutByTheZeroBucket) {
  const FloatHistogram wide = MakeHistogram({.zero_threshold = 3, .zero_count = 5});
  const FloatHistogram narrow = MakeHistogram({.positive = {{2, 0}, {3, 1}}});
  EXPECT_EQ(ToTestNotation(Sum(wide, narrow)),
            "{{count:6 z_bucket:5 z_bucket_w:3 offset:3 buckets:[1]}}");
}

TEST(HistogramAddTest, NanThresholdsEnd) {
  const FloatHistogram strange = MakeHistogram({.zero_threshold = std::nan(""), .zero_count = 1});
  const FloatHistogram other = MakeHistogram({.zero_threshold = 1, .zero_count = 2});
  EXPECT_EQ(Sum(strange, other).zero_count, 3);
}

TEST(HistogramAddTest, CustomBoundsAreReducedToTheCommonOnes) {
  FloatHistogram a =
      MakeHistogram({.positive = {{0, 1}, {1, 2}, {2, 4}, {3, 8}}, .custom_bounds = {1, 2, 5}});
  const FloatHistogram b =
      MakeHistogram({.positive = {{0, 10}, {1, 20}, {2, 40}, {3, 80}}, .custom_bounds = {1, 3, 5}});
  const Combined combined = Add(&a, b);
  EXPECT_TRUE(combined.bounds_reconciled);
  EXPECT_EQ(ToTestNotation(a), "{{schema:-53 count:165 custom_values:[1 5] buckets:[11 66 88]}}");
}

TEST(HistogramAddTest, WithoutCommonBoundsOneBucketRemains) {
  FloatHistogram a = MakeHistogram({.positive = {{0, 1}, {1, 2}}, .custom_bounds = {1}});
  const FloatHistogram b = MakeHistogram({.positive = {{0, 10}}, .custom_bounds = {2}});
  EXPECT_TRUE(Subtract(&a, b).bounds_reconciled);
  EXPECT_EQ(ToTestNotation(a), "{{schema:-53 count:-7 custom_values:[] buckets:[-7]}}");
}

TEST(HistogramAddTest, CustomAndExponentialBucketsDoNotMix) {
  FloatHistogram a = MakeHistogram({.positive = {{0, 1}}, .custom_bounds = {1}});
  const FloatHistogram before = a;
  const FloatHistogram exponential = MakeHistogram({.positive = {{0, 1}}});
  EXPECT_FALSE(Add(&a, exponential).compatible);
  EXPECT_TRUE(Equals(a, before));
}

TEST(HistogramAddTest, HintsFollowTheTable) {
  constexpr CounterResetHint kUnknown = CounterResetHint::kUnknown;
  constexpr CounterResetHint kReset = CounterResetHint::kReset;
  constexpr CounterResetHint kNotReset = CounterResetHint::kNotReset;
  constexpr CounterResetHint kGauge = CounterResetHint::kGauge;
  struct Row {
    CounterResetHint a, b, want;
    bool collision;
  };
  constexpr Row kRows[] = {
      {kUnknown, kUnknown, kUnknown, false},    {kReset, kReset, kReset, false},
      {kNotReset, kNotReset, kNotReset, false}, {kGauge, kGauge, kGauge, false},
      {kGauge, kReset, kGauge, false},          {kGauge, kUnknown, kGauge, false},
      {kUnknown, kReset, kUnknown, false},      {kUnknown, kNotReset, kUnknown, false},
      {kReset, kNotReset, kUnknown, true},
  };
  for (const Row& row : kRows) {
    for (const bool swapped : {false, true}) {
      FloatHistogram a = MakeHistogram({.hint = swapped ? row.b : row.a});
      const FloatHistogram b = MakeHistogram({.hint = swapped ? row.a : row.b});
      EXPECT_EQ(Add(&a, b).hint_collision, row.collision);
      EXPECT_EQ(a.hint, row.want);
    }
  }
}

// Bucket by bucket, through maps.
FloatHistogram PlainSum(const FloatHistogram& a, const FloatHistogram& b) {
  test::HistogramSpec spec;
  const int32_t schema = std::min(a.layout->schema, b.layout->schema);
  spec.schema = schema;
  spec.zero_threshold = std::max(a.layout->zero_threshold, b.layout->zero_threshold);
  spec.zero_count = a.zero_count + b.zero_count;
  spec.sum = a.sum + b.sum;
  for (const FloatHistogram* histogram : {&a, &b}) {
    const HistogramLayout& layout = *histogram->layout;
    size_t position = 0;
    for (const auto& [spans, buckets] : {std::pair(&layout.positive_spans, &spec.positive),
                                         std::pair(&layout.negative_spans, &spec.negative)}) {
      int32_t index = 0;
      for (const BucketSpan& span : *spans) {
        index += span.offset;
        for (uint32_t i = 0; i < span.length; ++i, ++index) {
          (*buckets)[((index - 1) >> (layout.schema - schema)) + 1] +=
              histogram->buckets[position++];
        }
      }
    }
  }
  return MakeHistogram(spec);
}

TEST(HistogramAddTest, AgreesWithThePlainTwin) {
  std::mt19937 random(20261130);
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(i);
    const FloatHistogram a = RandomHistogram(&random);
    FloatHistogram b = RandomHistogram(&random);
    if (i % 3 == 0) {
      b.layout = a.layout;
      b.buckets.assign(a.buckets.rbegin(), a.buckets.rend());
    }
    const std::string want = ToTestNotation(PlainSum(a, b));
    const auto without_count = [](std::string text) {
      const size_t begin = text.find("count:");
      return begin == std::string::npos ? text : text.erase(begin, text.find(' ', begin) - begin);
    };
    EXPECT_EQ(without_count(ToTestNotation(Sum(a, b))), without_count(want));
  }
}

TEST(HistogramAddTest, Commutes) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const FloatHistogram a = RandomHistogram(&random);
    const FloatHistogram b = RandomHistogram(&random);
    ASSERT_TRUE(Equals(Compacted(Sum(a, b)), Compacted(Sum(b, a)))) << i;
  }
}

TEST(HistogramAddTest, SubtractingUndoesAdding) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    FloatHistogram a = RandomHistogram(&random);
    const FloatHistogram b = RandomHistogram(&random);
    if (b.layout->zero_threshold > a.layout->zero_threshold) continue;  // That is not undone.
    const FloatHistogram back = Compacted(Difference(Sum(a, b), b));
    ReduceResolution(&a, back.layout->schema);
    EXPECT_EQ(ToString(back), ToString(Compacted(a))) << i;
  }
}

TEST(HistogramAddTest, ReducingBeforeAndAfterAgree) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    FloatHistogram a = RandomHistogram(&random);
    FloatHistogram b = RandomHistogram(&random);
    FloatHistogram after = Sum(a, b);
    ReduceResolution(&after, -2);
    ReduceResolution(&a, -2);
    ReduceResolution(&b, -2);
    ASSERT_TRUE(Equals(Compacted(after), Compacted(Sum(a, b)))) << i;
  }
}

TEST(HistogramScaleTest, MultipliesAndDividesEverything) {
  FloatHistogram a = MakeHistogram(
      {.zero_count = 1, .sum = 5, .positive = {{1, 2}}, .hint = CounterResetHint::kReset});
  Multiply(&a, 4);
  EXPECT_EQ(ToTestNotation(a),
            "{{count:12 sum:20 z_bucket:4 counter_reset_hint:reset offset:1 buckets:[8]}}");
  Divide(&a, -2);
  EXPECT_EQ(ToTestNotation(a),
            "{{count:-6 sum:-10 z_bucket:-2 counter_reset_hint:gauge offset:1 buckets:[-4]}}");
}

TEST(HistogramScaleTest, DivisionByZeroDropsBuckets) {
  FloatHistogram a = MakeHistogram({.schema = 3, .sum = -5, .positive = {{1, 2}}});
  Divide(&a, 0);
  EXPECT_EQ(ToTestNotation(a), "{{schema:3 count:+Inf sum:-Inf z_bucket:NaN}}");
}

TEST(HistogramCompactTest, RunsOfEmptyBucketsUpToTheLimitStay) {
  const FloatHistogram a = MakeHistogram(
      {.positive = {{-1, 0}, {0, 1}, {1, 0}, {2, 0}, {3, 1}, {4, 0}, {6, 2}, {10, 0}}});
  const auto spans_after = [&](int limit) {
    FloatHistogram compacted = a;
    Compact(&compacted, limit);
    return compacted.layout->positive_spans;
  };
  EXPECT_EQ(spans_after(0), (std::vector<BucketSpan>{{0, 1}, {2, 1}, {2, 1}}));
  EXPECT_EQ(spans_after(1), (std::vector<BucketSpan>{{0, 1}, {2, 1}, {2, 1}}));
  EXPECT_EQ(spans_after(2), (std::vector<BucketSpan>{{0, 7}}));
}

TEST(HistogramCompactTest, ACompactHistogramKeepsItsLayout) {
  FloatHistogram a = MakeHistogram({.positive = {{0, 1}, {2, 3}}});
  const HistogramLayout* const layout = a.layout.get();
  Compact(&a);
  EXPECT_EQ(a.layout.get(), layout);
}

TEST(HistogramSumTest, OneHistogramIsItsOwnSum) {
  const FloatHistogram a = MakeHistogram({.sum = -0.0, .positive = {{0, 1.5}}});
  HistogramSum sum;
  EXPECT_TRUE(sum.empty());
  sum.Add(a);
  EXPECT_TRUE(Equals(sum.Take(), a));
  EXPECT_TRUE(sum.empty());
}

TEST(HistogramSumTest, CompensatesEveryField) {
  FloatHistogram large = MakeHistogram({.zero_count = 1e16, .sum = 1e16, .positive = {{0, 1e16}}});
  const FloatHistogram small = MakeHistogram({.zero_count = 1, .sum = 1, .positive = {{0, 1}}});
  HistogramSum sum;
  sum.Add(large);
  for (int i = 0; i < 10; ++i) sum.Add(small);
  const FloatHistogram total = sum.Take();
  EXPECT_EQ(total.zero_count, 1e16 + 10);
  EXPECT_EQ(total.sum, 1e16 + 10);
  EXPECT_EQ(total.buckets[0], 1e16 + 10);
  EXPECT_EQ(total.count, 2e16 + 20);
}

TEST(HistogramSumTest, AgreesWithTheExactSumOfManyLayouts) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    HistogramSum sum;
    FloatHistogram plain = RandomHistogram(&random);
    sum.Add(plain);
    for (int i = 0; i < 8; ++i) {
      const FloatHistogram next = RandomHistogram(&random);
      ASSERT_TRUE(sum.Add(next).compatible);
      Add(&plain, next);
    }
    ASSERT_TRUE(Equals(Compacted(sum.Take()), Compacted(plain))) << round;
  }
}

TEST(HistogramMeanTest, IsTheSumOverTheCount) {
  HistogramMean mean;
  const FloatHistogram a = MakeHistogram({.sum = 3, .positive = {{0, 1}, {1, 2}}});
  const FloatHistogram b = MakeHistogram({.sum = 5, .positive = {{0, 3}, {1, 6}}});
  mean.Add(a);
  mean.Add(b);
  EXPECT_EQ(ToTestNotation(mean.Take()), "{{count:6 sum:4 buckets:[2 4]}}");
  EXPECT_TRUE(mean.empty());
}

TEST(HistogramMeanTest, GoesOnIncrementallyWhereTheSumOverflows) {
  HistogramMean mean;
  const FloatHistogram huge = MakeHistogram({.positive = {{0, kMax}}});
  for (int i = 0; i < 3; ++i) mean.Add(huge);
  const FloatHistogram result = mean.Take();
  EXPECT_NEAR(result.buckets[0] / kMax, 1, 1e-12);
  EXPECT_FALSE(HasOverflow(result));
}

TEST(HistogramMeanTest, CanBeUsedAgain) {
  HistogramMean mean;
  const FloatHistogram huge = MakeHistogram({.positive = {{0, kMax}}});
  const FloatHistogram one = MakeHistogram({.positive = {{0, 1}}});
  mean.Add(huge);
  mean.Add(huge);
  mean.Take();
  mean.Add(one);
  EXPECT_EQ(mean.Take().buckets[0], 1);
}

TEST(HistogramOverflowTest, LooksAtEveryField) {
  const double infinity = std::numeric_limits<double>::infinity();
  FloatHistogram a = MakeHistogram({.positive = {{0, 1}, {1, 2}}});
  EXPECT_FALSE(HasOverflow(a));
  for (double* field : {&a.count, &a.zero_count, &a.sum, &a.buckets[1]}) {
    const double before = std::exchange(*field, -infinity);
    EXPECT_TRUE(HasOverflow(a));
    *field = before;
  }
  a.sum = std::nan("");
  EXPECT_FALSE(HasOverflow(a));
}

}  // namespace
}  // namespace narthex::model
