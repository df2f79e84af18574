#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "narthex/model/histogram.h"
#include "narthex/model/stale.h"

namespace narthex::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A histogram with these buckets whose count fits them.
template <typename Kind = Histogram>
Kind Make(HistogramLayout layout, decltype(Kind::buckets) buckets) {
  Kind histogram;
  histogram.layout = std::make_shared<const HistogramLayout>(std::move(layout));
  for (auto bucket : buckets) histogram.count += static_cast<decltype(histogram.count)>(bucket);
  histogram.buckets = std::move(buckets);
  return histogram;
}

template <typename Kind>
std::string ErrorOf(const Kind& histogram) {
  const absl::Status status = Validate(histogram);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ValidateTest, GoodHistogramsPass) {
  EXPECT_EQ(ErrorOf(Make({.positive_spans = {{-5, 2}, {0, 0}, {7, 1}}, .negative_spans = {{3, 1}}},
                         {1, 2, 3, 4})),
            "");
  EXPECT_EQ(ErrorOf(Make<FloatHistogram>({.schema = -4, .positive_spans = {{0, 1}}}, {0.5})), "");
  EXPECT_EQ(
      ErrorOf(Make(
          {.schema = kCustomBucketsSchema, .positive_spans = {{0, 3}}, .custom_bounds = {-1, 2}},
          {1, 2, 3})),
      "");
}

TEST(ValidateTest, SchemasAreBounded) {
  for (int32_t schema : {-53, -4, 8})
    EXPECT_EQ(ErrorOf(Make({.schema = schema}, {})), "") << schema;
  for (int32_t schema : {-54, -52, -9, -5, 9, 52}) {
    EXPECT_EQ(ErrorOf(Make({.schema = schema}, {})),
              "histogram has an invalid schema, which must be between -4 and 8 for exponential "
              "buckets, or -53 for custom buckets, got schema " +
                  std::to_string(schema));
  }
}

TEST(ValidateTest, SpansMustAscendAndFitTheBuckets) {
  EXPECT_EQ(ErrorOf(Make({.positive_spans = {{0, 1}, {-2, 1}}}, {1, 1})),
            "positive side: span number 2 with offset -2: histogram has a span whose offset is "
            "negative");
  EXPECT_EQ(ErrorOf(Make({.negative_spans = {{0, 1}, {-1, 1}}}, {1, 1})),
            "negative side: span number 2 with offset -1: histogram has a span whose offset is "
            "negative");
  EXPECT_EQ(
      ErrorOf(Make({.positive_spans = {{0, 3}}}, {1, 1})),
      "positive side: spans need 3 buckets, have 2 buckets: histogram spans specify different "
      "number of buckets than provided");
  EXPECT_EQ(
      ErrorOf(Make({.positive_spans = {{0, 1}}}, {1, 1})),
      "positive side: spans need 1 buckets, have 2 buckets: histogram spans specify different "
      "number of buckets than provided");
  EXPECT_EQ(
      ErrorOf(Make({.positive_spans = {{0, 1}}, .negative_spans = {{0, 2}}}, {1, 1})),
      "negative side: spans need 2 buckets, have 1 buckets: histogram spans specify different "
      "number of buckets than provided");
}

TEST(ValidateTest, BucketsMustNotBeNegative) {
  Histogram histogram = Make({.positive_spans = {{0, 2}}}, {3, 1});
  histogram.buckets[1] = -1;
  EXPECT_EQ(ErrorOf(histogram),
            "positive side: bucket number 2 has observation count of -1: histogram has a bucket "
            "whose observation count is negative");
  EXPECT_EQ(ErrorOf(Make<FloatHistogram>({.negative_spans = {{0, 1}}}, {-0.5})),
            "negative side: bucket number 1 has observation count of -0.5: histogram has a bucket "
            "whose observation count is negative");
  FloatHistogram zero = Make<FloatHistogram>({}, {});
  zero.zero_count = -1;
  EXPECT_EQ(ErrorOf(zero),
            "zero bucket has observation count of -1: histogram has a bucket whose observation "
            "count is negative");
}

TEST(ValidateTest, CountsMustFitTheBucketsOfIntegerHistograms) {
  Histogram histogram = Make({.positive_spans = {{0, 1}}}, {3});
  histogram.zero_count = 1;
  EXPECT_EQ(
      ErrorOf(histogram),
      "4 observations found in buckets, but the Count field is 3: histogram's observation "
      "count should equal the number of observations found in the buckets (in absence of NaN)");
  histogram.sum = NormalNan();
  EXPECT_EQ(ErrorOf(histogram),
            "4 observations found in buckets, but the Count field is 3: histogram's observation "
            "count should be at least the number of observations found in the buckets");
  histogram.count = 9;
  EXPECT_EQ(ErrorOf(histogram), "");

  FloatHistogram inexact = Make<FloatHistogram>({.positive_spans = {{0, 1}}}, {3});
  inexact.count = 2;
  EXPECT_EQ(ErrorOf(inexact), "");
  inexact.count = -2;
  EXPECT_EQ(ErrorOf(inexact),
            "observation count is  -2: histogram's observation count is negative");
}

TEST(ValidateTest, CustomBoundsMustAscendAndBeFinite) {
  const auto with_bounds = [](std::vector<double> bounds) {
    return ErrorOf(Make({.schema = kCustomBucketsSchema, .custom_bounds = std::move(bounds)}, {}));
  };
  EXPECT_EQ(with_bounds({1, 1}),
            "custom buckets: previous bound is 1.000000 and current is 1.000000: histogram custom "
            "bounds must be in strictly increasing order");
  EXPECT_EQ(
      with_bounds({1, kInfinity}),
      "custom buckets: last +Inf bound must not be explicitly defined: histogram custom bounds "
      "must be finite");
  EXPECT_EQ(with_bounds({1, NormalNan()}),
            "custom buckets: histogram custom bounds must not be NaN");
  EXPECT_EQ(ErrorOf(Make({.custom_bounds = {1}}, {})),
            "histogram with exponential schema must not have custom bounds");
}

TEST(ValidateTest, CustomBucketsUseThePositiveSideOnly) {
  const HistogramLayout layout{.schema = kCustomBucketsSchema, .custom_bounds = {1, 2}};
  HistogramLayout changed = layout;
  changed.positive_spans = {{0, 4}};
  EXPECT_EQ(
      ErrorOf(Make(changed, {1, 1, 1, 1})),
      "custom buckets: only 2 custom bounds defined which is insufficient to cover total span "
      "length of 4: histogram custom bounds are too few");
  changed.positive_spans = {{-1, 1}};
  EXPECT_EQ(ErrorOf(Make(changed, {1})),
            "custom buckets: span number 1 with offset -1: histogram has a span whose offset is "
            "negative");
  changed.positive_spans = {{0, 2}};
  EXPECT_EQ(
      ErrorOf(Make(changed, {1})),
      "custom buckets: spans need 2 buckets, have 1 buckets: histogram spans specify different "
      "number of buckets than provided");
  changed = layout;
  changed.zero_threshold = 1;
  EXPECT_EQ(ErrorOf(Make(changed, {})), "custom buckets: must have zero threshold of 0");
  Histogram zero = Make(layout, {});
  zero.zero_count = 1;
  EXPECT_EQ(ErrorOf(zero), "custom buckets: must have zero count of 0");
  changed = layout;
  changed.negative_spans = {{0, 1}};
  EXPECT_EQ(ErrorOf(Make(changed, {1})), "custom buckets: must not have negative spans");
}

}  // namespace
}  // namespace narthex::model
