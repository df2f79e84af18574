#include "narthex/model/histogram.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "narthex/model/stale.h"

namespace narthex::model {
namespace {

LayoutPtr Layout(HistogramLayout layout) {
  return std::make_shared<const HistogramLayout>(std::move(layout));
}

TEST(ExponentialBoundTest, Schema3HasTheBoundsOtherProgramsUse) {
  const double expected[] = {0x1.0000000000000p-1, 0x1.172b83c7d517bp-1, 0x1.306fe0a31b715p-1,
                             0x1.4bfdad5362a27p-1, 0x1.6a09e667f3bccp-1, 0x1.8ace5422aa0dbp-1,
                             0x1.ae89f995ad3acp-1, 0x1.d5818dcfba486p-1};
  for (int32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(ExponentialUpperBound(i, 3), std::ldexp(expected[i], 1)) << i;
    EXPECT_EQ(ExponentialUpperBound(i - 8, 3), expected[i]) << i;
  }
}

// An FNV-1a digest over all bounds of schema 8 in [0.5, 1), little-endian: the whole table is
// pinned.
TEST(ExponentialBoundTest, AllBoundsOfSchema8ArePinned) {
  uint64_t digest = 0xcbf29ce484222325;
  for (int32_t i = -256; i < 0; ++i) {
    uint64_t bits = std::bit_cast<uint64_t>(ExponentialUpperBound(i, 8));
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) {
      digest = (digest ^ (bits & 0xff)) * 0x100000001b3;
    }
  }
  EXPECT_EQ(digest, 0x6e4907084012aac2u);
}

TEST(ExponentialBoundTest, SchemasShareTheirBounds) {
  for (int32_t schema = kMinExponentialSchema; schema < kMaxExponentialSchema; ++schema) {
    for (int32_t i = -60; i <= 60; ++i) {
      EXPECT_EQ(ExponentialUpperBound(i, schema), ExponentialUpperBound(2 * i, schema + 1))
          << schema << " " << i;
    }
  }
}

TEST(ExponentialBoundTest, LowSchemasArePowersOfTwo) {
  EXPECT_EQ(ExponentialUpperBound(0, 0), 1);
  EXPECT_EQ(ExponentialUpperBound(1, 0), 2);
  EXPECT_EQ(ExponentialUpperBound(-1, -1), 0.25);
  EXPECT_EQ(ExponentialUpperBound(2, -4), 4294967296.0);
}

TEST(ExponentialBoundTest, TheLastFiniteBucketEndsAtTheLargestDouble) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (int32_t schema = 0; schema <= kMaxExponentialSchema; ++schema) {
    const int32_t last = 1024 << schema;
    EXPECT_EQ(ExponentialUpperBound(last, schema), kMax) << schema;
    EXPECT_EQ(ExponentialUpperBound(last + 1, schema), kInfinity) << schema;
    EXPECT_LT(ExponentialUpperBound(last - 1, schema), kMax) << schema;
  }
  EXPECT_EQ(ExponentialUpperBound(64, -4), kMax);
  EXPECT_EQ(ExponentialUpperBound(65, -4), kInfinity);
}

TEST(ExponentialBoundTest, AnyIndexGivesABound) {
  EXPECT_EQ(ExponentialUpperBound(std::numeric_limits<int32_t>::max(), -4),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(ExponentialUpperBound(std::numeric_limits<int32_t>::min(), -4), 0);
  EXPECT_EQ(ExponentialUpperBound(std::numeric_limits<int32_t>::min(), 8), 0);
}

TEST(ReduceResolutionTest, MergesBucketsAndTheirSpans) {
  Histogram histogram;
  histogram.layout = Layout({.schema = 1,
                             .zero_threshold = 0.5,
                             .positive_spans = {{-3, 2}, {1, 3}, {5, 1}},
                             .negative_spans = {{0, 1}, {1, 2}}});
  // Positive indices -3 -2 . 0 1 2 . . . . . 8; negative 0 . 2 3.
  histogram.buckets = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  ReduceResolution(&histogram, 0);
  EXPECT_EQ(histogram.layout->schema, 0);
  EXPECT_EQ(histogram.layout->zero_threshold, 0.5);
  // -3, -2 -> -1; 0 -> 0; 1, 2 -> 1; 8 -> 4.
  EXPECT_EQ(histogram.layout->positive_spans, (std::vector<BucketSpan>{{-1, 3}, {2, 1}}));
  EXPECT_EQ(histogram.layout->negative_spans, (std::vector<BucketSpan>{{0, 3}}));
  EXPECT_EQ(histogram.buckets, (std::vector<int64_t>{3, 3, 9, 6, 7, 8, 9}));
}

TEST(ReduceResolutionTest, SeveralStepsEqualOneBigStep) {
  FloatHistogram stepwise;
  stepwise.layout = Layout({.schema = 8, .positive_spans = {{-700, 900}, {40, 300}}});
  for (int i = 0; i < 1200; ++i) stepwise.buckets.push_back(i + 0.5);
  FloatHistogram at_once = stepwise;
  for (int32_t schema = 7; schema >= -4; --schema) ReduceResolution(&stepwise, schema);
  ReduceResolution(&at_once, -4);
  EXPECT_TRUE(Equals(stepwise, at_once));
  EXPECT_LE(at_once.buckets.size(), 3u);
}

TEST(ReduceResolutionTest, AnInvalidHistogramKeepsItsBuckets) {
  Histogram histogram;
  histogram.layout = Layout({.schema = 20, .positive_spans = {{0, 4'000'000'000u}}});
  histogram.buckets = {1};
  ReduceResolution(&histogram, 8);
  EXPECT_EQ(histogram.buckets.size(), 1u);
  EXPECT_FALSE(Validate(histogram).ok());
}

TEST(HistogramEqualsTest, EmptySpansDoNotMatter) {
  Histogram a, b;
  a.layout = Layout({.positive_spans = {{1, 2}, {3, 1}}});
  b.layout = Layout({.positive_spans = {{0, 0}, {1, 2}, {1, 0}, {2, 1}, {9, 0}}});
  a.buckets = b.buckets = {1, 2, 3};
  EXPECT_TRUE(Equals(a, b));
  b.layout = Layout({.positive_spans = {{1, 2}, {1, 0}, {1, 1}}});
  EXPECT_FALSE(Equals(a, b));
}

TEST(HistogramEqualsTest, FloatsAreComparedByBitsAndLayoutsByValue) {
  FloatHistogram a;
  a.layout = Layout({.schema = 1, .zero_threshold = 0.0});
  FloatHistogram b = a;
  b.layout = Layout({.schema = 1, .zero_threshold = -0.0});
  EXPECT_TRUE(Equals(a, b));
  b.sum = -0.0;
  EXPECT_FALSE(Equals(a, b));
  a.sum = b.sum = NormalNan();
  EXPECT_TRUE(Equals(a, b));
  b.sum = StaleNan();
  EXPECT_FALSE(Equals(a, b));
  b = a;
  b.hint = CounterResetHint::kGauge;
  EXPECT_TRUE(Equals(a, b)) << "the hint is no part of the value";
}

TEST(HistogramEqualsTest, StaleMarkersWithoutALayoutAreEqual) {
  Histogram a, b;
  a.sum = b.sum = StaleNan();
  EXPECT_TRUE(Equals(a, b));
  b.layout = EmptyLayout();
  EXPECT_TRUE(Equals(a, b));
}

TEST(HistogramTest, ToFloatKeepsEverything) {
  Histogram histogram;
  histogram.hint = CounterResetHint::kReset;
  histogram.layout = Layout({.positive_spans = {{0, 2}}});
  histogram.count = 10;
  histogram.zero_count = 3;
  histogram.sum = 1.5;
  histogram.buckets = {2, 5};
  const FloatHistogram result = ToFloat(histogram);
  EXPECT_EQ(result.hint, CounterResetHint::kReset);
  EXPECT_EQ(result.layout, histogram.layout);
  EXPECT_EQ(result.count, 10);
  EXPECT_EQ(result.zero_count, 3);
  EXPECT_EQ(result.sum, 1.5);
  EXPECT_EQ(result.buckets, (std::vector<double>{2, 5}));
}

TEST(HistogramTest, TheEmptyLayoutIsOne) {
  EXPECT_EQ(EmptyLayout(), EmptyLayout());
  EXPECT_EQ(EmptyLayout()->num_buckets(), 0u);
}

}  // namespace
}  // namespace narthex::model
