#include "narthex/base/metrics.h"

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "base/native_buckets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/manual_clock.h"

namespace narthex::base {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(MetricsTest, CountersAndGaugesAddUp) {
  Counter counter;
  counter.Add();
  counter.Add(2.5);
  EXPECT_EQ(counter.value(), 3.5);
  Gauge gauge;
  gauge.Set(5);
  gauge.Add(-7);
  EXPECT_EQ(gauge.value(), -2);
}

TEST(HistogramTest, ClassicBucketsAreCumulativeAndClosedAbove) {
  Histogram histogram({.bounds = {0.1, 1, 10}});
  for (const double value : {0.05, 0.1, 0.5, 1.0, 7.0, 11.0, -3.0}) histogram.Observe(value);
  const HistogramData data = histogram.Collect();
  EXPECT_THAT(data.upper_bounds, ElementsAre(0.1, 1, 10));
  EXPECT_THAT(data.cumulative_counts, ElementsAre(3, 5, 6));
  EXPECT_EQ(data.count, 7u);
  EXPECT_DOUBLE_EQ(data.sum, 16.65);
  EXPECT_FALSE(data.has_native);
}

TEST(HistogramTest, NanIsCountedInNoBucket) {
  Histogram histogram({.bounds = {1}, .native = true});
  histogram.Observe(kNan);
  const HistogramData data = histogram.Collect();
  EXPECT_EQ(data.count, 1u);
  EXPECT_TRUE(std::isnan(data.sum));
  EXPECT_THAT(data.cumulative_counts, ElementsAre(0));
  EXPECT_EQ(data.native.zero_count, 0u);
  EXPECT_TRUE(data.native.positive.empty());
}

TEST(HistogramTest, NativeBucketsHaveSchemaThreeAndATinyZeroBucket) {
  Histogram histogram({.native = true});
  for (const double value : {1.0, 1.05, 1.1, 2.0, 0.0, 0x1p-128, -0x1p-128, -1.0, 0x1.8p-128}) {
    histogram.Observe(value);
  }
  const NativeHistogramData data = histogram.Collect().native;
  EXPECT_EQ(data.schema, 3);
  EXPECT_EQ(data.zero_threshold, 2.938735877055719e-39);
  EXPECT_EQ(data.zero_count, 3u);
  // (2^-1/8, 1] is bucket 0, (1, 1.0905] bucket 1, (1.0905, 1.189] bucket 2, (1.834, 2] bucket 8.
  EXPECT_THAT(data.positive,
              ElementsAre(Pair(-1019, 1), Pair(0, 1), Pair(1, 1), Pair(2, 1), Pair(8, 1)));
  EXPECT_THAT(data.negative, ElementsAre(Pair(0, 1)));
}

TEST(NativeBucketsTest, BordersBelongToTheBucketBelow) {
  for (int32_t schema = kCoarsestSchema; schema <= kOwnMetricsSchema; ++schema) {
    SCOPED_TRACE(schema);
    for (const int32_t index : {-3, -1, 0, 1, 2, 5}) {
      const double exponent = std::ldexp(index, -schema);
      if (exponent != std::floor(exponent) || std::fabs(exponent) > 1000) continue;
      const double border = std::ldexp(1.0, static_cast<int>(exponent));
      EXPECT_EQ(NativeBucketIndex(border, schema), index);
      EXPECT_EQ(NativeBucketIndex(std::nextafter(border, kInfinity), schema), index + 1);
      EXPECT_EQ(NativeBucketIndex(std::nextafter(border, 0), schema), index);
    }
  }
}

TEST(NativeBucketsTest, PinnedIndices) {
  EXPECT_EQ(NativeBucketIndex(0.7, 3), -4);   // (0.648, 0.7071]
  EXPECT_EQ(NativeBucketIndex(0.71, 3), -3);  // (0.7071, 0.771]
  EXPECT_EQ(NativeBucketIndex(0.71, 1), 0);
  EXPECT_EQ(NativeBucketIndex(100, 3), 54);
  EXPECT_EQ(NativeBucketIndex(100, 0), 7);
  EXPECT_EQ(NativeBucketIndex(100, -1), 4);
  EXPECT_EQ(NativeBucketIndex(100, -4), 1);
  EXPECT_EQ(NativeBucketIndex(std::numeric_limits<double>::max(), 3), 8192);
  EXPECT_EQ(NativeBucketIndex(kInfinity, 3), 8193);
  EXPECT_EQ(NativeBucketIndex(4.9e-324, 3), -8592);
}

TEST(NativeBucketsTest, TooManyBucketsLowerTheSchema) {
  NativeHistogramData data;
  data.schema = kOwnMetricsSchema;
  data.zero_threshold = kOwnMetricsZeroThreshold;
  for (int i = 0; i < 8; ++i) ObserveNative(std::exp2(i / 8.0) * 1.01, 8, &data);
  EXPECT_EQ(data.schema, 3);
  EXPECT_EQ(data.positive.size(), 8u);
  ObserveNative(2.02, 8, &data);  // Buckets 1..8, now 9.
  EXPECT_EQ(data.schema, 2);
  EXPECT_THAT(data.positive,
              ElementsAre(Pair(1, 2), Pair(2, 2), Pair(3, 2), Pair(4, 2), Pair(5, 1)));
}

TEST(NativeBucketsTest, LoweringTheSchemaIsAsIfAllHadBeenObservedAtIt) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> distribution(0, 6);
  NativeHistogramData data;
  data.schema = kOwnMetricsSchema;
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(distribution(random) * (i % 3 == 0 ? -1 : 1));
    ObserveNative(values.back(), 20, &data);
  }
  EXPECT_LE(data.positive.size() + data.negative.size(), 20u);
  std::map<int32_t, uint64_t> positive;
  std::map<int32_t, uint64_t> negative;
  for (const double value : values) {
    ++(value > 0 ? positive : negative)[NativeBucketIndex(std::fabs(value), data.schema)];
  }
  EXPECT_EQ(data.positive, positive);
  EXPECT_EQ(data.negative, negative);
}

TEST(NativeBucketsTest, TheCoarsestSchemaMayExceedTheLimit) {
  NativeHistogramData data;
  data.schema = kOwnMetricsSchema;
  ObserveNative(1e-300, 1, &data);
  ObserveNative(1e300, 1, &data);
  EXPECT_EQ(data.schema, kCoarsestSchema);
  EXPECT_EQ(data.positive.size(), 2u);
}

class SummaryTest : public testing::Test {
 protected:
  std::vector<double> Quantiles() const {
    std::vector<double> values;
    for (const auto& [quantile, value] : summary_.Collect().quantiles) values.push_back(value);
    return values;
  }
  support::ManualClock clock_;
  Summary summary_{SummaryOptions{}, &clock_};
};

TEST_F(SummaryTest, ConstantObservationsAreExact) {
  for (int i = 0; i < 100; ++i) summary_.Observe(14.999937);
  EXPECT_THAT(summary_.Collect().quantiles,
              ElementsAre(Pair(0.5, 14.999937), Pair(0.9, 14.999937), Pair(0.99, 14.999937)));
}

TEST_F(SummaryTest, QuantilesAreWithinTwoPercent) {
  for (int i = 1; i <= 10'000; ++i) summary_.Observe(i);
  EXPECT_THAT(Quantiles(),
              ElementsAre(testing::DoubleNear(5000, 100), testing::DoubleNear(9000, 180),
                          testing::DoubleNear(9900, 198)));
}

TEST_F(SummaryTest, NegativeValuesZeroAndInfinitiesAreOrdered) {
  for (const double value : {-10.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, kInfinity}) {
    summary_.Observe(value);
  }
  EXPECT_THAT(Quantiles(), ElementsAre(1, 2, kInfinity));
  Summary low({.quantiles = {0, 0.1, 0.2, 0.4}}, &clock_);
  for (const double value : {0.0, -1.0, -kInfinity, -10.0, 5.0}) low.Observe(value);
  std::vector<double> values;
  for (const auto& [quantile, value] : low.Collect().quantiles) values.push_back(value);
  EXPECT_THAT(values, ElementsAre(-kInfinity, -kInfinity, -kInfinity, -10));
}

TEST_F(SummaryTest, QuantilesForgetWhatIsOlderThanTheWindow) {
  EXPECT_THAT(Quantiles(), testing::Each(testing::IsNan()));
  clock_.AdvanceMs(1'000'000);
  summary_.Observe(1);
  clock_.AdvanceMs(300'000);
  summary_.Observe(5);
  EXPECT_THAT(Quantiles(), ElementsAre(1, 5, 5));
  clock_.AdvanceMs(301'000);
  EXPECT_THAT(Quantiles(), ElementsAre(5, 5, 5));
  clock_.AdvanceMs(300'000);
  EXPECT_THAT(Quantiles(), testing::Each(testing::IsNan()));
  EXPECT_EQ(summary_.Collect().count, 2u);
  EXPECT_EQ(summary_.Collect().sum, 6);
}

TEST_F(SummaryTest, WithoutQuantilesOnlySumAndCountRemain) {
  Summary plain({.quantiles = {}}, &clock_);
  plain.Observe(2);
  EXPECT_TRUE(plain.Collect().quantiles.empty());
  EXPECT_EQ(plain.Collect().sum, 2);
}

TEST(RegistryTest, CollectsEverythingInOrder) {
  support::ManualClock clock;
  Registry registry(&clock);
  registry.AddGauge("m_gauge", "Help.")->Set(3);
  Family<Counter>* const family = registry.AddCounterFamily("b_total", "B.", {"z", "a"});
  family->With({"1", "y"})->Add();
  family->With({"2", "x"})->Add(2);
  EXPECT_EQ(family->With({"2", "x"}), family->With({"2", "x"}));
  registry.AddHistogramFamily("h", "H.", {"le_vel"}, {.bounds = {1}})->With({"v"})->Observe(0.5);
  registry.AddSummaryFamily("s", "S.", {"k"}, {})->With({"v"})->Observe(4);
  registry.AddGaugeFunction("f", "F.", [] { return 7.0; });
  registry.AddCollector([](std::vector<FamilySnapshot>* families) {
    FamilySnapshot& added = families->emplace_back();
    added.name = "a";
    added.points.resize(2);
    added.points[0].labels = {{"k", "2"}};
    added.points[1].labels = {{"k", "1"}};
  });

  const std::vector<FamilySnapshot> families = registry.Collect();
  std::vector<std::string> names;
  for (const FamilySnapshot& snapshot : families) names.push_back(snapshot.name);
  EXPECT_THAT(names, ElementsAre("a", "b_total", "f", "h", "m_gauge", "s"));
  EXPECT_THAT(families[0].points[0].labels, ElementsAre(Pair("k", "1")));
  EXPECT_EQ(families[1].help, "B.");
  EXPECT_EQ(families[1].type, MetricType::kCounter);
  ASSERT_EQ(families[1].points.size(), 2u);
  EXPECT_THAT(families[1].points[0].labels, ElementsAre(Pair("a", "x"), Pair("z", "2")));
  EXPECT_EQ(families[1].points[0].value, 2);
  EXPECT_EQ(families[2].points[0].value, 7);
  EXPECT_THAT(families[3].points[0].histogram.cumulative_counts, ElementsAre(1));
  EXPECT_EQ(families[4].points[0].value, 3);
  EXPECT_EQ(families[5].points[0].summary.sum, 4);

  family->Remove({"1", "y"});
  EXPECT_EQ(registry.Collect()[1].points.size(), 1u);
}

TEST(RegistryDeathTest, ANameIsTakenOnce) {
  support::ManualClock clock;
  Registry registry(&clock);
  registry.AddCounter("c", "");
  EXPECT_DEATH(registry.AddGauge("c", ""), "check failed");
}

TEST(RegistryTest, UpdatesAndCollectionsFromManyThreadsAddUp) {
  support::ManualClock clock;
  Registry registry(&clock);
  Counter* const counter = registry.AddCounter("c_total", "");
  Family<Gauge>* const gauges = registry.AddGaugeFamily("g", "", {"k"});
  Histogram* const histogram = registry.AddHistogram("h", "", {.bounds = {1, 2}, .native = true});
  Summary* const summary = registry.AddSummary("s", "", {});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 500; ++j) {
        counter->Add();
        gauges->With({std::to_string(j % 7)})->Add(1);
        histogram->Observe(j % 3);
        summary->Observe(j);
        if (j % 100 == 0) {
          registry.AddGauge("own_" + std::to_string(i) + "_" + std::to_string(j), "");
          registry.Collect();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter->value(), 2000);
  const HistogramData data = histogram->Collect();
  EXPECT_EQ(data.count, 2000u);
  EXPECT_EQ(summary->Collect().count, 2000u);
  double sum = 0;
  gauges->ForEach(
      [&](const std::vector<std::string>&, const Gauge& gauge) { sum += gauge.value(); });
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace narthex::base
