// Buckets with their bounds, trimming, and text forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "narthex/base/strings.h"
#include "narthex/model/histogram_buckets.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/histogram_text.h"
#include "tests/support/histograms.h"

namespace narthex::model {
namespace {

using test::HistogramSpec;
using test::MakeHistogram;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// "kind:lower..upper=count" of all buckets.
std::string Walk(const HistogramSpec& spec, BucketOrder order) {
  const FloatHistogram histogram = MakeHistogram(spec);
  std::string text;
  BucketCursor cursor(histogram, order);
  while (cursor.Next()) {
    const HistogramBucket bucket = cursor.bucket();
    EXPECT_EQ(bucket.count, cursor.count());
    base::StrAppend(&text, text.empty() ? "" : " ", bucket.interval_kind(), ":", bucket.lower, "..",
                    bucket.upper, "=", bucket.count);
  }
  EXPECT_FALSE(cursor.Next());
  return text;
}

const HistogramSpec kBothSides = {.zero_threshold = 0.25,
                                  .zero_count = 2,
                                  .sum = 18.4,
                                  .positive = {{0, 1}, {2, 4}, {3, 0}},
                                  .negative = {{1, 3}, {2, 5}}};

TEST(BucketCursorTest, WalksAllBucketsByValue) {
  EXPECT_EQ(Walk(kBothSides, BucketOrder::kAscending),
            "1:-4..-2=5 1:-2..-1=3 3:-0.25..0.25=2 0:0.5..1=1 0:2..4=4 0:4..8=0");
  EXPECT_EQ(Walk(kBothSides, BucketOrder::kDescending),
            "0:4..8=0 0:2..4=4 0:0.5..1=1 3:-0.25..0.25=2 1:-2..-1=3 1:-4..-2=5");
}

TEST(BucketCursorTest, BoundsEndAtTheZeroBucket) {
  EXPECT_EQ(
      Walk({.zero_threshold = 0.75, .zero_count = 1, .positive = {{0, 1}}, .negative = {{0, 1}}},
           BucketOrder::kAscending),
      "1:-1..-0.75=1 3:-0.75..0.75=1 0:0.75..1=1");
}

TEST(BucketCursorTest, AnEmptyZeroBucketIsPassedOver) {
  EXPECT_EQ(Walk({.zero_threshold = 0.5, .positive = {{1, 1}}}, BucketOrder::kAscending),
            "0:1..2=1");
  EXPECT_EQ(Walk({}, BucketOrder::kDescending), "");
}

TEST(BucketCursorTest, TheFirstAndLastIndexHaveBounds) {
  constexpr int32_t kFirst = std::numeric_limits<int32_t>::min();
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(Walk({.schema = 3, .positive = {{kFirst, 1}}, .negative = {{kFirst, 2}}},
                 BucketOrder::kAscending),
            "2:-0..-0=2 2:0..0=1");
  EXPECT_EQ(Walk({.schema = -4, .positive = {{kLast, 1}}, .negative = {{kLast, 2}}},
                 BucketOrder::kAscending),
            "1:-inf..-inf=2 0:inf..inf=1");
}

TEST(BucketCursorTest, CustomBucketsIncludeTheirUpperBound) {
  const HistogramSpec spec = {.positive = {{0, 1}, {1, 2}, {2, 3}}, .custom_bounds = {-1, 5}};
  EXPECT_EQ(Walk(spec, BucketOrder::kAscending), "3:-inf..-1=1 0:-1..5=2 0:5..inf=3");
}

TEST(BucketCursorTest, EmptySpansAreStepsOnly) {
  FloatHistogram histogram = MakeHistogram({.positive = {{0, 1}, {1, 2}}});
  auto layout = std::make_shared<HistogramLayout>();
  layout->positive_spans = {{-3, 0}, {1, 1}, {2, 0}, {1, 1}, {5, 0}};
  histogram.layout = layout;
  SideCursor out(histogram, BucketSide::kPositive);
  ASSERT_TRUE(out.Next());
  EXPECT_EQ(out.index(), -2);
  ASSERT_TRUE(out.Next());
  EXPECT_EQ(out.index(), 2);
  EXPECT_FALSE(out.Next());
  SideCursor back(histogram, BucketSide::kPositive, /*outward=*/false);
  ASSERT_TRUE(back.Next());
  EXPECT_EQ(back.index(), 2);
  EXPECT_EQ(back.position(), 1u);
  ASSERT_TRUE(back.Next());
  EXPECT_EQ(back.index(), -2);
  EXPECT_FALSE(back.Next());
}

TEST(HistogramTextTest, StringNamesPopulatedBuckets) {
  const FloatHistogram histogram = MakeHistogram(kBothSides);
  EXPECT_EQ(ToString(histogram),
            "{count:15, sum:18.4, [-4,-2):5, [-2,-1):3, [-0.25,0.25]:2, (0.5,1]:1, (2,4]:4}");
  const FloatHistogram empty = MakeHistogram({});
  EXPECT_EQ(ToString(empty), "{count:0, sum:0}");
}

TEST(HistogramTextTest, TestNotationLeavesDefaultsOut) {
  const FloatHistogram histogram = MakeHistogram(kBothSides);
  EXPECT_EQ(ToTestNotation(histogram),
            "{{count:15 sum:18.4 z_bucket:2 z_bucket_w:0.25 buckets:[1 0 4] n_offset:1 "
            "n_buckets:[3 5]}}");
  const FloatHistogram empty = MakeHistogram({});
  EXPECT_EQ(ToTestNotation(empty), "{{}}");
  const FloatHistogram custom = MakeHistogram(
      {.positive = {{1, 2}}, .custom_bounds = {0.5, 1e6}, .hint = CounterResetHint::kNotReset});
  EXPECT_EQ(ToTestNotation(custom),
            "{{schema:-53 count:2 custom_values:[0.5 1e+06] counter_reset_hint:not_reset offset:1 "
            "buckets:[2]}}");
}

std::string Trimmed(const HistogramSpec& spec, double limit, Trim trim) {
  FloatHistogram histogram = MakeHistogram(spec);
  TrimBuckets(&histogram, limit, trim);
  return ToTestNotation(histogram);
}

TEST(TrimTest, WholeBucketsAreKeptOrDropped) {
  const HistogramSpec spec = {.sum = 100, .positive = {{1, 1}, {2, 2}, {3, 4}}};
  EXPECT_EQ(Trimmed(spec, 8, Trim::kKeepBelow), "{{count:7 sum:100 offset:1 buckets:[1 2 4]}}");
  EXPECT_EQ(Trimmed(spec, 1, Trim::kKeepAbove), "{{count:7 sum:100 offset:1 buckets:[1 2 4]}}");
  // Middles are geometric: sqrt(1*2) and 2 times sqrt(2*4).
  EXPECT_EQ(Trimmed(spec, 4, Trim::kKeepBelow),
            "{{count:3 sum:7.0710678118654755 offset:1 buckets:[1 2]}}");
  EXPECT_EQ(Trimmed(spec, 0, Trim::kKeepBelow), "{{}}");
}

TEST(TrimTest, AStraddlingBucketIsCutOnALogarithmicScale) {
  const HistogramSpec spec = {.positive = {{2, 8}}};  // (2, 4]
  const double half = std::sqrt(8);
  EXPECT_EQ(Trimmed(spec, half, Trim::kKeepBelow),
            base::StrCat("{{count:4 sum:", 4 * std::sqrt(2 * half), " offset:2 buckets:[4]}}"));
  EXPECT_EQ(Trimmed(spec, half, Trim::kKeepAbove),
            base::StrCat("{{count:4 sum:", 4 * std::sqrt(4 * half), " offset:2 buckets:[4]}}"));
}

TEST(TrimTest, TheZeroBucketIsCutLinearlyFromZeroIfOneSideIsEmpty) {
  const HistogramSpec positive = {.zero_threshold = 1, .zero_count = 4, .positive = {{2, 8}}};
  EXPECT_EQ(Trimmed(positive, 0.25, Trim::kKeepBelow),
            "{{count:1 sum:0.125 z_bucket:1 z_bucket_w:1}}");
  const HistogramSpec alone = {.zero_threshold = 1, .zero_count = 4};
  EXPECT_EQ(Trimmed(alone, 0.5, Trim::kKeepAbove), "{{count:1 sum:0.75 z_bucket:1 z_bucket_w:1}}");
}

TEST(TrimTest, OpenCustomBucketsFollowTheirOwnRules) {
  const HistogramSpec spec = {.positive = {{0, 4}, {1, 2}, {2, 8}}, .custom_bounds = {2, 6}};
  // The first bucket counts as starting at 0.
  EXPECT_EQ(Trimmed(spec, 1, Trim::kKeepBelow),
            "{{schema:-53 count:2 sum:1 custom_values:[2 6] buckets:[2]}}");
  EXPECT_EQ(Trimmed(spec, 1, Trim::kKeepAbove),
            "{{schema:-53 count:12 sum:59 custom_values:[2 6] buckets:[2 2 8]}}");
  // The last one cannot be cut from above, and stands at the limit when cut from below.
  EXPECT_EQ(Trimmed(spec, 10, Trim::kKeepBelow),
            "{{schema:-53 count:6 sum:12 custom_values:[2 6] buckets:[4 2]}}");
  EXPECT_EQ(Trimmed(spec, 10, Trim::kKeepAbove),
            "{{schema:-53 count:8 sum:80 custom_values:[2 6] offset:2 buckets:[8]}}");
}

TEST(TrimTest, InfiniteLimitsKeepAllOrNothing) {
  const HistogramSpec spec = {
      .zero_threshold = 0.5, .zero_count = 1, .sum = 7, .positive = {{2, 8}}};
  const std::string all = "{{count:9 sum:7 z_bucket:1 z_bucket_w:0.5 offset:2 buckets:[8]}}";
  EXPECT_EQ(Trimmed(spec, kInfinity, Trim::kKeepBelow), all);
  EXPECT_EQ(Trimmed(spec, -kInfinity, Trim::kKeepAbove), all);
  EXPECT_EQ(Trimmed(spec, -kInfinity, Trim::kKeepBelow), "{{z_bucket_w:0.5}}");
}

TEST(HistogramViewTest, WithoutBucketsKeepsTheKind) {
  const FloatHistogram custom = MakeHistogram({.positive = {{0, 1}}, .custom_bounds = {1}});
  EXPECT_TRUE(WithoutBuckets(*custom.layout)->has_custom_buckets());
  EXPECT_EQ(WithoutBuckets(*custom.layout)->num_buckets(), 0u);
  EXPECT_EQ(WithoutBuckets(*MakeHistogram({}).layout), EmptyLayout());
}

}  // namespace
}  // namespace narthex::model
