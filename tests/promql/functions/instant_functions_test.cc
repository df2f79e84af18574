#include "promql/functions/instant_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "promql/functions/accumulators.h"
#include "promql/functions/civil_time.h"
#include "tests/support/histograms.h"

namespace narthex::promql {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

double Call(std::string_view name, double value) {
  const FloatKernel kernel = FindFloatFunction(name);
  EXPECT_NE(kernel, nullptr) << name;
  if (kernel != nullptr) kernel(std::span(&value, 1));
  return value;
}

TEST(FloatFunctionsTest, ComputeEachValue) {
  std::vector<double> values = {-1.5, 0, 2.5, -kInfinity};
  FindFloatFunction("abs")(values);
  EXPECT_EQ(values, (std::vector<double>{1.5, 0, 2.5, kInfinity}));
  EXPECT_EQ(Call("ceil", -1.5), -1);
  EXPECT_EQ(Call("floor", -1.5), -2);
  EXPECT_EQ(Call("sqrt", 9), 3);
  EXPECT_EQ(Call("exp", 0), 1);
  EXPECT_EQ(Call("ln", 1), 0);
  EXPECT_EQ(Call("deg", std::numbers::pi), 180);
  EXPECT_EQ(Call("rad", 180), std::numbers::pi);
  EXPECT_EQ(Call("sgn", -3), -1);
  EXPECT_EQ(Call("sgn", 3), 1);
  EXPECT_EQ(Call("sgn", 0), 0);
  EXPECT_TRUE(std::isnan(Call("sgn", kNan)));
}

TEST(FloatFunctionsTest, LogarithmsAreExactWhereTheyCanBe) {
  EXPECT_EQ(Call("log2", 8), 3);
  EXPECT_EQ(Call("log2", 0.25), -2);
  EXPECT_EQ(Call("log10", 100), 2);
  EXPECT_EQ(Call("log10", 1000), 3);
  EXPECT_EQ(Call("log10", 1e-5), -5);
  EXPECT_EQ(Call("log10", 7), 0.8450980400142568);
  EXPECT_EQ(Call("log2", 1e10), 33.219280948873624);
  for (const char* name : {"ln", "log2", "log10"}) {
    EXPECT_EQ(Call(name, 0), -kInfinity) << name;
    EXPECT_TRUE(std::isnan(Call(name, -1))) << name;
    EXPECT_EQ(Call(name, kInfinity), kInfinity) << name;
    EXPECT_TRUE(std::isnan(Call(name, kNan))) << name;
  }
}

TEST(FloatFunctionsTest, InverseFunctionsUndoEachOther) {
  for (const auto& [name, inverse] :
       {std::pair("sin", "asin"), std::pair("tan", "atan"), std::pair("sinh", "asinh"),
        std::pair("tanh", "atanh"), std::pair("exp", "ln")}) {
    EXPECT_NEAR(Call(inverse, Call(name, 0.75)), 0.75, 1e-15) << name;
  }
  EXPECT_NEAR(Call("acos", Call("cos", 0.75)), 0.75, 1e-15);
  EXPECT_NEAR(Call("acosh", Call("cosh", 0.75)), 0.75, 1e-15);
}

TEST(FloatFunctionsTest, OtherNamesAreUnknown) {
  EXPECT_EQ(FindFloatFunction("rate"), nullptr);
  EXPECT_EQ(FindFloatFunction("round"), nullptr);
  EXPECT_EQ(FindFloatFunction(""), nullptr);
}

TEST(DateFunctionsTest, KnowTheCalendar) {
  const double time = 1'709'210'096;  // 2024-02-29T12:34:56Z, a Thursday.
  EXPECT_EQ(Call("year", time), 2024);
  EXPECT_EQ(Call("month", time), 2);
  EXPECT_EQ(Call("day_of_month", time), 29);
  EXPECT_EQ(Call("day_of_week", time), 4);
  EXPECT_EQ(Call("day_of_year", time), 60);
  EXPECT_EQ(Call("days_in_month", time), 29);
  EXPECT_EQ(Call("hour", time), 12);
  EXPECT_EQ(Call("minute", time), 34);
}

TEST(DateFunctionsTest, GoBackBefore1970AndFarAway) {
  EXPECT_EQ(Call("year", -1), 1969);
  EXPECT_EQ(Call("day_of_month", -1), 31);
  EXPECT_EQ(Call("hour", -1), 23);
  EXPECT_EQ(Call("day_of_week", -86'400), 3);
  EXPECT_EQ(Call("year", -0.5), 1970);  // Cut towards zero.
  EXPECT_EQ(Call("year", -62'135'596'801), 0);
  EXPECT_EQ(Call("year", 1e18), 31'688'740'476);
  EXPECT_EQ(Call("year", -1e18), -31'688'736'537);
  EXPECT_EQ(Call("day_of_week", -1e18), 2);
}

TEST(DateFunctionsTest, WhatIsNoTimeIsTheFarFuture) {
  for (const double value : {kNan, kInfinity, -kInfinity, 1e30}) {
    EXPECT_EQ(Call("year", value), 292'277'026'596);
    EXPECT_EQ(Call("month", value), 12);
    EXPECT_EQ(Call("day_of_month", value), 4);
    EXPECT_EQ(Call("day_of_week", value), 0);
    EXPECT_EQ(Call("day_of_year", value), 339);
    EXPECT_EQ(Call("hour", value), 15);
    EXPECT_EQ(Call("minute", value), 30);
  }
}

TEST(CivilTimeTest, EveryDayFollowsTheOneBefore) {
  CivilTime before = ToCivilTime(-86'400 * 800);
  for (int64_t day = -799; day < 2'000; ++day) {
    const CivilTime time = ToCivilTime(day * 86'400);
    ASSERT_EQ(time.day_of_week, (before.day_of_week + 1) % 7);
    if (before.day < before.days_in_month) {
      ASSERT_EQ(time.day, before.day + 1);
      ASSERT_EQ(time.month, before.month);
    } else {
      ASSERT_EQ(time.day, 1);
      ASSERT_EQ(time.month, before.month % 12 + 1);
    }
    ASSERT_EQ(time.day_of_year, time.month == 1 && time.day == 1 ? 1 : before.day_of_year + 1);
    before = time;
  }
  std::string text;
  AppendRfc3339(&text, 1'709'210'096);
  EXPECT_EQ(text, "2024-02-29T12:34:56Z");
}

TEST(ClampTest, TreatsNanAndInfinityAsGoDoes) {
  std::vector<double> values = {-5, 0.5, 7, kNan};
  Clamp(values, 0, 1);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 0.5);
  EXPECT_EQ(values[2], 1);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(MaxOf(kNan, kInfinity), kInfinity);
  EXPECT_EQ(MinOf(-kInfinity, kNan), -kInfinity);
  EXPECT_TRUE(std::isnan(MaxOf(kNan, 1)));
  EXPECT_FALSE(std::signbit(MaxOf(-0.0, 0.0)));
  EXPECT_TRUE(std::signbit(MinOf(0.0, -0.0)));
}

TEST(RoundTest, TiesGoUp) {
  std::vector<double> values = {2.5, -2.5, 2.4, 1.24};
  Round(values, 1);
  EXPECT_EQ(values, (std::vector<double>{3, -2, 2, 1}));
  values = {2.45, 7};
  Round(values, 0.1);
  EXPECT_EQ(values[0], 2.5);
  values = {7};
  Round(values, 5);
  EXPECT_EQ(values[0], 5);
}

double OfHistogram(std::string_view name, const model::FloatHistogram& histogram) {
  return FindHistogramFunction(name)(histogram);
}

TEST(HistogramFunctionsTest, ReadOrEstimate) {
  const model::FloatHistogram histogram = test::MakeHistogram({.zero_threshold = 0.5,
                                                               .zero_count = 2,
                                                               .sum = 12,
                                                               .positive = {{1, 4}},
                                                               .negative = {{2, 2}}});
  EXPECT_EQ(OfHistogram("histogram_count", histogram), 8);
  EXPECT_EQ(OfHistogram("histogram_sum", histogram), 12);
  EXPECT_EQ(OfHistogram("histogram_avg", histogram), 1.5);
  // Values 0, sqrt(2) and -sqrt(8) about the mean of 1.5.
  const double want =
      (2 * 2.25 + 4 * std::pow(std::sqrt(2) - 1.5, 2) + 2 * std::pow(-std::sqrt(8) - 1.5, 2)) / 8;
  EXPECT_NEAR(OfHistogram("histogram_stdvar", histogram), want, 1e-14);
  EXPECT_NEAR(OfHistogram("histogram_stddev", histogram), std::sqrt(want), 1e-14);
  EXPECT_EQ(FindHistogramFunction("histogram_quantile"), nullptr);
}

TEST(HistogramFunctionsTest, CustomBucketsStandAtTheirMiddle) {
  const model::FloatHistogram histogram =
      test::MakeHistogram({.sum = 8, .positive = {{1, 1}, {2, 1}}, .custom_bounds = {1, 3, 9}});
  EXPECT_EQ(OfHistogram("histogram_stdvar", histogram), 4);  // 2 and 6 about 4.
}

TEST(AccumulatorsTest, TheVarianceOfAnAggregationIsSpoiledByAnInfiniteFirstValue) {
  FloatVariance variance;
  for (const double value : {2., 4., 4., 4., 5., 5., 7., 9.}) variance.Add(value);
  EXPECT_EQ(variance.variance(), 4);
  EXPECT_EQ(variance.deviation(), 2);
  FloatVariance spoiled;
  spoiled.Add(kInfinity);
  spoiled.Add(1);
  EXPECT_TRUE(std::isnan(spoiled.variance()));
}

TEST(AccumulatorsTest, AMeanOfNothingIsNan) { EXPECT_TRUE(std::isnan(FloatMean().value())); }

}  // namespace
}  // namespace narthex::promql
