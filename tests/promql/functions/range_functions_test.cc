#include "promql/functions/range_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/model/histogram_text.h"
#include "tests/support/histograms.h"

namespace narthex::promql {
namespace {

using model::CounterResetHint;
using model::FloatHistogram;
using model::HistogramView;
using test::MakeHistogram;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// A window over (0 s, 300 s] with what lies in it.
struct Samples {
  std::vector<std::pair<int64_t, double>> floats = {};  // Seconds and values.
  std::vector<std::pair<int64_t, FloatHistogram>> histograms = {};
  RangeMode mode = RangeMode::kPlain;
  RangeArguments arguments = {};
  int64_t start_s = 0;
  int64_t end_s = 300;
};

class RangeFunctionsTest : public testing::Test {
 protected:
  Outcome Evaluate(std::string_view name, const Samples& samples) {
    const RangeFunction* const function = FindRangeFunction(name);
    EXPECT_NE(function, nullptr) << name;
    std::vector<int64_t> float_times, histogram_times;
    std::vector<double> values;
    std::vector<HistogramView> views;
    for (const auto& [time_s, value] : samples.floats) {
      float_times.push_back(time_s * 1000);
      values.push_back(value);
    }
    for (const auto& [time_s, histogram] : samples.histograms) {
      histogram_times.push_back(time_s * 1000);
      views.push_back(histogram);
    }
    Window window;
    window.start_ms = samples.start_s * 1000;
    window.end_ms = window.eval_time_ms = samples.end_s * 1000;
    window.mode = samples.mode;
    window.float_times_ms = float_times;
    window.values = values;
    window.histogram_times_ms = histogram_times;
    window.histograms = views;
    notes_.Clear();
    return function->kernel(window, samples.arguments, &notes_, &result_);
  }

  // nullopt unless the result is a float.
  std::optional<double> Float(std::string_view name, const Samples& samples) {
    if (Evaluate(name, samples) != Outcome::kFloat) return std::nullopt;
    return result_.value;
  }
  // "" unless the result is a histogram.
  std::string Histogram(std::string_view name, const Samples& samples) {
    if (Evaluate(name, samples) != Outcome::kHistogram) return "";
    return model::ToTestNotation(result_.histogram);
  }

  NoteSet notes_;
  RangeResult result_;
};

FloatHistogram Counter(double a, double b, CounterResetHint hint = CounterResetHint::kUnknown) {
  return MakeHistogram({.sum = a, .positive = {{0, a}, {1, b}}, .hint = hint});
}

TEST_F(RangeFunctionsTest, TheTableIsSortedAndComplete) {
  std::string_view before;
  for (const RangeFunction& function : AllRangeFunctions()) {
    EXPECT_LT(before, function.name);
    EXPECT_EQ(FindRangeFunction(function.name), &function);
    EXPECT_NE(function.kernel, nullptr);
    before = function.name;
  }
  EXPECT_EQ(AllRangeFunctions().size(), 26u);
  EXPECT_EQ(FindRangeFunction("absent_over_time"), nullptr);
  EXPECT_EQ(FindRangeFunction(""), nullptr);
  EXPECT_EQ(FindRangeFunction("zzz"), nullptr);
}

TEST_F(RangeFunctionsTest, AnEmptyWindowHasNoResult) {
  for (const RangeFunction& function : AllRangeFunctions()) {
    EXPECT_EQ(Evaluate(function.name, {}), Outcome::kNone) << function.name;
    EXPECT_TRUE(notes_.empty());
  }
}

TEST_F(RangeFunctionsTest, RateExtrapolatesToNearEdges) {
  // 30 s to each edge, 60 s between samples: the whole way. 240 in 240 s, then 300 in 300 s.
  const Samples samples = {
      .floats = {{30, 1000}, {90, 1060}, {150, 1120}, {210, 1180}, {270, 1240}}};
  EXPECT_EQ(Float("increase", samples), 300);
  EXPECT_EQ(Float("rate", samples), 1);
  EXPECT_EQ(Float("delta", samples), 300);
}

TEST_F(RangeFunctionsTest, RateGoesHalfAnIntervalTowardsFarEdges) {
  const Samples samples = {.floats = {{100, 1000}, {110, 1010}, {120, 1020}}};
  EXPECT_DOUBLE_EQ(*Float("increase", samples), 30);
}

TEST_F(RangeFunctionsTest, ACounterIsNotTakenBelowZero) {
  // Zero was 5 s before the first sample; the start is 30 s before it.
  const Samples samples = {.floats = {{30, 5}, {90, 65}, {150, 125}, {210, 185}, {270, 245}}};
  EXPECT_DOUBLE_EQ(*Float("increase", samples), 275);
  EXPECT_DOUBLE_EQ(*Float("delta", samples), 300);
}

TEST_F(RangeFunctionsTest, CounterResetsAreAddedBack) {
  const Samples samples = {.floats = {{30, 1000}, {90, 1060}, {150, 0}, {210, 60}, {270, 120}}};
  EXPECT_DOUBLE_EQ(*Float("increase", samples), 180 * 300. / 240);
  EXPECT_DOUBLE_EQ(*Float("delta", samples), -880 * 300. / 240);
  EXPECT_EQ(Float("resets", samples), 1);
}

TEST_F(RangeFunctionsTest, AResetAtTheSecondSampleStartsFromZero) {
  const Samples samples = {.floats = {{30, 1000}, {270, 240}}};
  // (240 - 1000) + 1000, and there is more than enough room to zero on the left.
  EXPECT_DOUBLE_EQ(*Float("increase", samples), 240 * 300. / 240);
}

TEST_F(RangeFunctionsTest, OneSampleIsNoRate) {
  for (const char* name : {"rate", "increase", "delta", "irate", "idelta", "deriv"}) {
    EXPECT_EQ(Evaluate(name, {.floats = {{30, 1}}}), Outcome::kNone) << name;
    EXPECT_EQ(Evaluate(name, {.histograms = {{30, Counter(1, 2)}}}), Outcome::kNone) << name;
    EXPECT_TRUE(notes_.empty()) << name;
  }
}

TEST_F(RangeFunctionsTest, NanAndInfinityGoThroughRate) {
  EXPECT_TRUE(std::isnan(*Float("rate", {.floats = {{30, 1}, {90, kNan}}})));
  EXPECT_EQ(Float("rate", {.floats = {{30, 1}, {90, kInfinity}}}), kInfinity);
}

TEST_F(RangeFunctionsTest, FloatsAndHistogramsDoNotMixInRates) {
  const Samples samples = {.floats = {{30, 1}, {90, 2}}, .histograms = {{150, Counter(1, 2)}}};
  for (const char* name :
       {"rate", "increase", "delta", "avg_over_time", "sum_over_time", "irate"}) {
    EXPECT_EQ(Evaluate(name, samples), Outcome::kNone) << name;
    EXPECT_TRUE(notes_.Has(Note::kMixedFloatsHistograms)) << name;
  }
}

TEST_F(RangeFunctionsTest, HistogramsBesideFloatsAreIgnoredWhereFloatsAreMeant) {
  const Samples samples = {
      .floats = {{30, 1}, {90, 2}}, .histograms = {{150, Counter(1, 2)}}, .arguments = {0.5, 0.5}};
  for (const char* name :
       {"min_over_time", "max_over_time", "stddev_over_time", "stdvar_over_time", "mad_over_time",
        "quantile_over_time", "ts_of_max_over_time", "ts_of_min_over_time", "deriv",
        "predict_linear", "double_exponential_smoothing"}) {
    EXPECT_EQ(Evaluate(name, samples), Outcome::kFloat) << name;
    EXPECT_TRUE(notes_.Has(Note::kHistogramsIgnored)) << name;
    EXPECT_EQ(Evaluate(name, {.histograms = samples.histograms}), Outcome::kNone) << name;
    EXPECT_TRUE(notes_.empty()) << name;
  }
}

TEST_F(RangeFunctionsTest, HistogramRateIsLastMinusFirst) {
  const Samples samples = {
      .histograms = {{30, Counter(100, 200)}, {150, Counter(150, 220)}, {270, Counter(160, 320)}}};
  // 60 and 120 over 240 s, extrapolated to 300 s.
  EXPECT_EQ(Histogram("increase", samples),
            "{{count:225 sum:75 counter_reset_hint:gauge buckets:[75 150]}}");
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(Histogram("delta", samples),
            "{{count:225 sum:75 counter_reset_hint:gauge buckets:[75 150]}}");
  EXPECT_TRUE(notes_.Has(Note::kNotGauge));
}

TEST_F(RangeFunctionsTest, HistogramResetsAreAddedBack) {
  const Samples samples = {
      .histograms = {{30, Counter(100, 200)}, {150, Counter(10, 20)}, {270, Counter(60, 120)}}};
  // The first sample counts for nothing, as the second is a reset.
  EXPECT_EQ(Histogram("increase", samples),
            "{{count:225 sum:75 counter_reset_hint:gauge buckets:[75 150]}}");
  EXPECT_EQ(Float("resets", samples), 1);
  EXPECT_EQ(Float("changes", samples), 2);
}

TEST_F(RangeFunctionsTest, AGaugeHistogramIsRatedWithAWarning) {
  const Samples samples = {.histograms = {{30, Counter(1, 2, CounterResetHint::kGauge)},
                                          {270, Counter(5, 6, CounterResetHint::kGauge)}}};
  EXPECT_EQ(Evaluate("rate", samples), Outcome::kHistogram);
  EXPECT_TRUE(notes_.Has(Note::kNotCounter));
  EXPECT_EQ(Evaluate("delta", samples), Outcome::kHistogram);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(RangeFunctionsTest, SchemasOfAnyResolutionMeetAtTheLowest) {
  const Samples samples = {
      .histograms = {{30, MakeHistogram({.schema = 1, .positive = {{1, 1}, {2, 1}}})},
                     {150, MakeHistogram({.schema = 0, .positive = {{1, 4}}})},
                     {270, MakeHistogram({.schema = 0, .positive = {{1, 10}, {2, 4}}})}}};
  EXPECT_EQ(Histogram("increase", samples),
            "{{count:15 counter_reset_hint:gauge offset:1 buckets:[10 5]}}");
}

TEST_F(RangeFunctionsTest, ExponentialAndCustomBucketsDoNotMix) {
  const FloatHistogram custom = MakeHistogram({.positive = {{0, 900}}, .custom_bounds = {1}});
  const Samples samples = {.histograms = {{30, Counter(1, 2)}, {90, Counter(2, 3)}, {150, custom}}};
  for (const char* name : {"rate", "increase", "delta", "avg_over_time", "sum_over_time"}) {
    EXPECT_EQ(Evaluate(name, samples), Outcome::kNone) << name;
    EXPECT_TRUE(notes_.Has(Note::kMixedSchemas)) << name;
  }
}

TEST_F(RangeFunctionsTest, DifferentCustomBoundsAreReconciled) {
  const Samples samples = {
      .histograms = {
          {30, MakeHistogram({.positive = {{0, 1}, {1, 1}}, .custom_bounds = {1, 2}})},
          {270, MakeHistogram({.positive = {{0, 3}, {1, 5}}, .custom_bounds = {2, 5}})}}};
  EXPECT_EQ(Evaluate("increase", samples), Outcome::kHistogram);
  EXPECT_TRUE(notes_.Has(Note::kReconciledInSubtraction));
  EXPECT_EQ(Histogram("sum_over_time", samples),
            "{{schema:-53 count:10 custom_values:[2] buckets:[5 5]}}");
  EXPECT_TRUE(notes_.Has(Note::kReconciledInAggregation));
}

TEST_F(RangeFunctionsTest, InstantRatesTakeTheLastTwoSamples) {
  const Samples samples = {.floats = {{30, 500}, {250, 10}, {270, 50}}};
  EXPECT_EQ(Float("irate", samples), 2);
  EXPECT_EQ(Float("idelta", samples), 40);
  const Samples reset = {.floats = {{250, 100}, {270, 50}}};
  EXPECT_EQ(Float("irate", reset), 2.5);
  EXPECT_EQ(Float("idelta", reset), -50);
  EXPECT_EQ(Evaluate("irate", {.floats = {{270, 1}, {270, 2}}}), Outcome::kNone);
}

TEST_F(RangeFunctionsTest, InstantRatesOfHistograms) {
  const Samples samples = {.histograms = {{250, Counter(10, 20)}, {270, Counter(50, 20)}}};
  EXPECT_EQ(Histogram("irate", samples), "{{count:2 sum:2 counter_reset_hint:gauge buckets:[2]}}");
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(Histogram("idelta", samples),
            "{{count:40 sum:40 counter_reset_hint:gauge buckets:[40]}}");
  EXPECT_TRUE(notes_.Has(Note::kNotGauge));
}

TEST_F(RangeFunctionsTest, AveragesAreCompensatedAndSurviveOverflow) {
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(Float("avg_over_time", {.floats = {{1, 5}, {2, 1e100}, {3, 4}, {4, -1e100}}}), 2.25);
  EXPECT_EQ(Float("sum_over_time", {.floats = {{1, 5}, {2, 1e100}, {3, 4}, {4, -1e100}}}), 9);
  EXPECT_DOUBLE_EQ(*Float("avg_over_time", {.floats = {{1, kMax}, {2, kMax}, {3, kMax}}}), kMax);
  EXPECT_EQ(Float("sum_over_time", {.floats = {{1, kMax}, {2, kMax}}}), kInfinity);
  EXPECT_EQ(Float("avg_over_time", {.floats = {{1, kInfinity}, {2, 1}}}), kInfinity);
}

TEST_F(RangeFunctionsTest, ExtremesSkipNan) {
  const Samples samples = {.floats = {{1, kNan}, {2, 3}, {3, kNan}, {4, 7}, {5, 7}, {6, 3}}};
  EXPECT_EQ(Float("max_over_time", samples), 7);
  EXPECT_EQ(Float("min_over_time", samples), 3);
  EXPECT_EQ(Float("ts_of_max_over_time", samples), 5);
  EXPECT_EQ(Float("ts_of_min_over_time", samples), 6);
  EXPECT_TRUE(std::isnan(*Float("max_over_time", {.floats = {{1, kNan}}})));
}

TEST_F(RangeFunctionsTest, CountsAndEndsLookAtBothKinds) {
  const Samples samples = {.floats = {{10, 4}, {90, 2}},
                           .histograms = {{5, Counter(1, 2)}, {80, Counter(3, 4)}}};
  EXPECT_EQ(Float("count_over_time", samples), 4);
  EXPECT_EQ(Float("present_over_time", samples), 1);
  EXPECT_EQ(Float("last_over_time", samples), 2);
  EXPECT_EQ(Histogram("first_over_time", samples), "{{count:3 sum:1 buckets:[1 2]}}");
  EXPECT_EQ(Float("ts_of_first_over_time", samples), 5);
  EXPECT_EQ(Float("ts_of_last_over_time", samples), 90);
  // Float after histogram, histogram after float, float after histogram.
  EXPECT_EQ(Float("changes", samples), 3);
  EXPECT_EQ(Float("resets", samples), 3);
}

TEST_F(RangeFunctionsTest, SpreadIsThatOfThePopulation) {
  const Samples samples = {
      .floats = {{1, 2}, {2, 4}, {3, 4}, {4, 4}, {5, 5}, {6, 5}, {7, 7}, {8, 9}}};
  EXPECT_EQ(Float("stdvar_over_time", samples), 4);
  EXPECT_EQ(Float("stddev_over_time", samples), 2);
  EXPECT_EQ(Float("mad_over_time", samples), 0.5);
  EXPECT_TRUE(std::isnan(*Float("mad_over_time", {.floats = {{1, kNan}, {2, 1}}})));
}

TEST_F(RangeFunctionsTest, QuantileOverTimeNotesWhatIsNoQuantile) {
  Samples samples = {.floats = {{1, 3}, {2, 1}, {3, 2}}, .arguments = {.first = 0.75}};
  EXPECT_EQ(Float("quantile_over_time", samples), 2.5);
  EXPECT_TRUE(notes_.empty());
  samples.arguments.first = 1.5;
  EXPECT_EQ(Float("quantile_over_time", samples), kInfinity);
  EXPECT_TRUE(notes_.Has(Note::kInvalidQuantile));
}

TEST_F(RangeFunctionsTest, ChangesDoNotCountNanAfterNan) {
  const Samples samples = {.floats = {{1, 1}, {2, kNan}, {3, kNan}, {4, 1}, {5, 1}}};
  EXPECT_EQ(Float("changes", samples), 2);
  EXPECT_EQ(Float("resets", samples), 0);
}

TEST_F(RangeFunctionsTest, RegressionFitsALine) {
  const Samples samples = {.floats = {{60, 10}, {120, 130}, {180, 250}},
                           .arguments = {.first = 100}};
  EXPECT_DOUBLE_EQ(*Float("deriv", samples), 2);
  // 2 per second from 10 at 60 s: 490 at the evaluation time of 300 s.
  EXPECT_DOUBLE_EQ(*Float("predict_linear", samples), 690);
  EXPECT_EQ(Float("deriv", {.floats = {{60, 5}, {120, 5}}}), 0);
  EXPECT_TRUE(std::isnan(*Float("deriv", {.floats = {{60, kInfinity}, {120, kInfinity}}})));
}

TEST_F(RangeFunctionsTest, SmoothingFollowsATrend) {
  const Samples samples = {.floats = {{1, 10}, {2, 20}, {3, 30}}, .arguments = {0.5, 0.5}};
  EXPECT_EQ(Float("double_exponential_smoothing", samples), 30);
  const auto check = [](double sf, double tf) {
    return std::string(base::Message(
        FindRangeFunction("double_exponential_smoothing")->check({.first = sf, .second = tf})));
  };
  EXPECT_EQ(check(0.5, 0.5), "");
  EXPECT_EQ(check(0, 0.5), "invalid smoothing factor. Expected: 0 < sf < 1, got: 0.000000");
  EXPECT_EQ(check(0.5, 1.5), "invalid trend factor. Expected: 0 < tf < 1, got: 1.500000");
  EXPECT_EQ(check(kInfinity, 1.5), "invalid smoothing factor. Expected: 0 < sf < 1, got: +Inf");
}

TEST_F(RangeFunctionsTest, AnAnchoredRangeStartsAtTheSampleBefore) {
  const Samples samples = {.floats = {{-40, 90}, {-20, 100}, {60, 160}, {200, 30}},
                           .mode = RangeMode::kAnchored};
  EXPECT_EQ(Float("increase", samples), 90);
  EXPECT_EQ(Float("delta", samples), -70);
  EXPECT_EQ(Float("changes", samples), 2);
  EXPECT_EQ(Float("resets", samples), 1);
  const Samples before = {.floats = {{-40, 90}, {-20, 100}}, .mode = RangeMode::kAnchored};
  for (const char* name : {"increase", "delta", "changes", "resets"}) {
    EXPECT_EQ(Evaluate(name, before), Outcome::kNone) << name;
  }
  // One sample is enough.
  EXPECT_EQ(Float("increase", {.floats = {{10, 5}}, .mode = RangeMode::kAnchored}), 0);
}

TEST_F(RangeFunctionsTest, ASmoothedRangeInterpolatesAtItsEdges) {
  const Samples samples = {.floats = {{-50, 100}, {50, 200}, {250, 400}, {350, 500}},
                           .mode = RangeMode::kSmoothed};
  EXPECT_EQ(Float("increase", samples), 300);
  EXPECT_EQ(Float("rate", samples), 1);
  // Across a reset the line starts at zero: 50 on the left edge, and no correction for it.
  const Samples reset = {.floats = {{-50, 1000}, {50, 100}, {350, 400}},
                         .mode = RangeMode::kSmoothed};
  EXPECT_EQ(Float("increase", reset), 300);
}

TEST_F(RangeFunctionsTest, ExtendedRangesOfHistograms) {
  const auto gauge = [](double a) { return Counter(a, 2 * a, CounterResetHint::kGauge); };
  const Samples samples = {.histograms = {{-50, gauge(100)}, {50, gauge(200)}, {350, gauge(500)}},
                           .mode = RangeMode::kSmoothed};
  EXPECT_EQ(Histogram("delta", samples),
            "{{count:900 sum:300 counter_reset_hint:gauge buckets:[300 600]}}");
  EXPECT_TRUE(notes_.empty());
  const Samples reset = {
      .histograms = {{-50, Counter(100, 200)}, {50, Counter(10, 20)}, {350, Counter(40, 80)}},
      .mode = RangeMode::kSmoothed};
  EXPECT_EQ(Histogram("increase", reset),
            "{{count:90 sum:30 counter_reset_hint:gauge buckets:[30 60]}}");
  const Samples anchored = {
      .histograms = {{-50, Counter(100, 200)}, {50, Counter(10, 20)}, {290, Counter(40, 80)}},
      .mode = RangeMode::kAnchored};
  EXPECT_EQ(Histogram("increase", anchored),
            "{{count:120 sum:40 counter_reset_hint:gauge buckets:[40 80]}}");
}

TEST_F(RangeFunctionsTest, CounterNamesEndInKnownWords) {
  EXPECT_TRUE(LooksLikeNoCounter("requests"));
  EXPECT_FALSE(LooksLikeNoCounter("requests_total"));
  EXPECT_FALSE(LooksLikeNoCounter("x_bucket"));
  EXPECT_TRUE(LooksLikeNoCounter(""));
}

}  // namespace
}  // namespace narthex::promql
