#include "narthex/head/head.h"

#include <gtest/gtest.h>

#include "tests/head/head_fixture.h"

namespace narthex::head {
namespace {

using model::AppendOutcome;
using model::MatchType;

constexpr int64_t kStart = 1'700'000'000'000;

model::Histogram Native(std::vector<int64_t> buckets, int32_t first_bucket = 1) {
  model::HistogramLayout layout;
  layout.schema = 3;
  layout.zero_threshold = 1e-128;
  layout.positive_spans = {{first_bucket, static_cast<uint32_t>(buckets.size())}};
  model::Histogram h;
  h.layout = std::make_shared<const model::HistogramLayout>(layout);
  for (const int64_t bucket : buckets) h.count += static_cast<uint64_t>(bucket);
  h.sum = static_cast<double>(h.count) * 1.5;
  h.buckets = std::move(buckets);
  return h;
}

TEST(HeadTest, ACommittedBatchIsReadBackAndAnUncommittedOneIsNot) {
  HeadHarness head;
  auto appender = head->NewAppender();
  const auto ref = HeadHarness::Resolve(appender.get(), {{"__name__", "up"}, {"job", "a"}});
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), ref, kStart, 1), AppendOutcome::kAccepted);
  EXPECT_TRUE(head.Read().empty());
  ASSERT_TRUE(appender->Commit().ok());
  EXPECT_EQ(head.Read(), (Contents{{{{"__name__", "up"}, {"job", "a"}}, {{kStart, Text(1.0)}}}}));

  appender = head->NewAppender();
  HeadHarness::AppendFloat(appender.get(), ref, kStart + 1, 2);
  appender->Rollback();
  EXPECT_EQ(head.Read().begin()->second.size(), 1u);
}

TEST(HeadTest, SamplesMustBeNewerThanTheirSeriesNewest) {
  HeadHarness head;
  const Pairs series = {{"__name__", "a"}};
  EXPECT_EQ(head.Add(series, kStart, 1), AppendOutcome::kAccepted);
  EXPECT_EQ(head.Add(series, kStart, 1), AppendOutcome::kDuplicateSame);
  EXPECT_EQ(head.Add(series, kStart, 2), AppendOutcome::kDuplicate);
  EXPECT_EQ(head.Add(series, kStart - 1, 1), AppendOutcome::kOutOfOrder);
  EXPECT_EQ(head.Add(series, kStart - 3'600'001, 1), AppendOutcome::kOutOfBounds);
  EXPECT_EQ(head.Add({{"__name__", "b"}}, kStart - 3'600'000, 1), AppendOutcome::kAccepted);
  EXPECT_EQ(head.Add({{"__name__", "c"}}, kStart - 3'600'001, 1), AppendOutcome::kOutOfBounds);
  EXPECT_EQ(head.Metric("prometheus_tsdb_out_of_order_samples_total", "float"), 1);
  EXPECT_EQ(head.Metric("prometheus_tsdb_out_of_bound_samples_total", "float"), 2);
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_samples_appended_total", "float"), 2);
}

TEST(HeadTest, WithoutBoundsAnySeriesMayStartAtTheEpoch) {
  HeadOptions options;
  options.enforce_bounds = false;
  HeadHarness head(options);
  EXPECT_EQ(head.Add({{"__name__", "a"}}, kStart, 1), AppendOutcome::kAccepted);
  EXPECT_EQ(head.Add({{"__name__", "b"}}, 0, 1), AppendOutcome::kAccepted);
  EXPECT_EQ(head.Read().size(), 2u);
  EXPECT_EQ(head->min_time_ms(), 0);
}

TEST(HeadTest, BadLabelSetsAreRefusedWithPrometheussTexts) {
  HeadHarness head;
  auto appender = head->NewAppender();
  EXPECT_EQ(appender->Resolve({}).status().message(), "empty labelset: invalid sample");
  const model::Label empty{"a", ""};
  EXPECT_EQ(appender->Resolve({&empty, 1}).status().message(), "empty labelset: invalid sample");
  const model::Label twice[] = {{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(appender->Resolve(twice).status().message(),
            "label name \"a\" is not unique: invalid sample");
  const model::Label with_empty[] = {{"a", "1"}, {"b", ""}};
  const model::Label without = {"a", "1"};
  EXPECT_EQ(*appender->Resolve(with_empty), *appender->Resolve({&without, 1}));
}

TEST(HeadTest, UnknownRefsAndInvalidHistogramsAreToldApart) {
  HeadHarness head;
  auto appender = head->NewAppender();
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), 0, kStart, 1), AppendOutcome::kUnknownSeries);
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), 9, kStart, 1), AppendOutcome::kUnknownSeries);
  const auto ref = HeadHarness::Resolve(appender.get(), {{"__name__", "h"}});
  model::Histogram bad = Native({1, 2});
  bad.count = 17;
  EXPECT_EQ(appender->AppendHistogram(ref, kStart, bad), AppendOutcome::kInvalidHistogram);
}

TEST(HeadTest, HistogramsWidenResetAndEndInOneSeries) {
  HeadHarness head;
  const Pairs series = {{"__name__", "h"}};
  const std::vector<model::Histogram> samples = {
      Native({1, 2}), Native({1, 5}), Native({1, 5, 7}), Native({2, 1, 5, 9}, -1),
      Native({1, 2}), Native({3}, 2), Native({3}, 2),
  };
  Samples expected;
  int64_t time_ms = kStart;
  for (const model::Histogram& sample : samples) {
    auto appender = head->NewAppender();
    const auto ref = HeadHarness::Resolve(appender.get(), series);
    ASSERT_EQ(appender->AppendHistogram(ref, time_ms, sample), AppendOutcome::kAccepted);
    ASSERT_TRUE(appender->Commit().ok());
    expected[time_ms] = Text(sample);
    time_ms += 15'000;
    EXPECT_EQ(head.Read(), (Contents{{series, expected}}));
  }
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_native_histogram_series"), 1);
  // A float's stale marker ends it as a histogram; then it goes on as floats.
  EXPECT_EQ(head.Add(series, time_ms, model::StaleNan()), AppendOutcome::kAccepted);
  expected[time_ms] = "stale histogram";
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_stale_series"), 1);
  EXPECT_EQ(head.Add(series, time_ms + 1, 4.5), AppendOutcome::kAccepted);
  expected[time_ms + 1] = Text(4.5);
  EXPECT_EQ(head.Read(), (Contents{{series, expected}}));
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_native_histogram_series"), 0);
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_stale_series"), 0);
}

TEST(HeadTest, ChunksAreCutAtTheirSizeAndAtTheRangesEnd) {
  HeadHarness head;
  const Pairs series = {{"__name__", "c"}};
  const int64_t begin = kStart / 7'200'000 * 7'200'000;
  for (int64_t i = 0; i < 480; ++i) head.Add(series, begin + i * 15'000, static_cast<double>(i));
  // 480 samples fill one range exactly: four chunks of 120.
  EXPECT_EQ(head->Stats(1).num_chunks, 4u);
  head.Add(series, begin + 480 * 15'000, 480);
  EXPECT_EQ(head->Stats(1).num_chunks, 5u);
  EXPECT_EQ(head.Read().at(series).size(), 481u);
}

TEST(HeadTest, RangesCutSamplesAndSeries) {
  HeadHarness head;
  for (int64_t i = 0; i < 1000; ++i) head.Add({{"__name__", "a"}}, kStart + i, 1);
  head.Add({{"__name__", "b"}}, kStart + 2000, 1);
  const model::TimeRange range{.min_time_ms = kStart + 100, .max_time_ms = kStart + 899};
  const Contents contents = head.Read({}, range);
  ASSERT_EQ(contents.size(), 1u);
  EXPECT_EQ(contents.begin()->second.size(), 800u);
  EXPECT_EQ(contents.begin()->second.begin()->first, kStart + 100);
  EXPECT_EQ(contents.begin()->second.rbegin()->first, kStart + 899);
}

TEST(HeadTest, AnOpenQuerierSeesNothingNew) {
  HeadHarness head;
  head.Add({{"__name__", "a"}}, kStart, 1);
  auto querier = head->NewQuerier(kAllTime).value();
  const Contents before = ReadAll(*querier);
  for (int64_t i = 1; i < 400; ++i) {
    head.Add({{"__name__", "a"}}, kStart + i, static_cast<double>(i));
    head.Add({{"__name__", "new"}, {"l", std::to_string(i)}}, kStart + i, 1);
    ASSERT_EQ(ReadAll(*querier), before) << i;
  }
  EXPECT_EQ(querier->symbols().Find("new"), std::nullopt);
  EXPECT_TRUE(querier->symbols().Find("a").has_value());
  EXPECT_EQ(querier->LabelNames({}, 0).value(), (std::vector<std::string>{"__name__"}));
  EXPECT_EQ(head.Read().size(), 400u);
}

TEST(HeadTest, TheNewestSampleIsKnownWithoutReadingChunks) {
  HeadHarness head;
  head.Add({{"__name__", "a"}}, kStart, 1);
  head.Add({{"__name__", "a"}}, kStart + 5, 2);
  auto querier = head->NewQuerier(kAllTime).value();
  model::SelectHints hints;
  hints.range = kAllTime;
  auto selection = querier->Select({}, hints).value();
  model::LatestSample sample;
  using Latest = model::SeriesSelection::Latest;
  ASSERT_EQ(selection->FindLatest(0, {.min_time_ms = kStart, .max_time_ms = kStart + 9}, &sample),
            Latest::kHave);
  EXPECT_EQ(sample.time_ms, kStart + 5);
  EXPECT_EQ(sample.value, 2);
  EXPECT_EQ(
      selection->FindLatest(0, {.min_time_ms = kStart + 6, .max_time_ms = kStart + 9}, &sample),
      Latest::kNone);
  EXPECT_EQ(selection->FindLatest(0, {.min_time_ms = kStart, .max_time_ms = kStart + 4}, &sample),
            Latest::kAskCursor);
  head.Add({{"__name__", "a"}}, kStart + 7, 3);
  EXPECT_EQ(selection->FindLatest(0, kAllTime, &sample), Latest::kAskCursor);
}

TEST(HeadTest, MatchersSelectAsPrometheusDoes) {
  HeadHarness head;
  for (int i = 0; i < 300; ++i) {
    Pairs pairs = {{"__name__", i % 3 == 0 ? "up" : "down"}, {"i", std::to_string(i)}};
    if (i % 2 == 0) pairs.emplace_back("job", i % 4 == 0 ? "api" : "db");
    head.Add(pairs, kStart, i);
  }
  const auto count = [&](std::vector<model::Matcher> matchers) {
    return head.Read(matchers).size();
  };
  const auto m = [](MatchType type, std::string_view name, std::string_view value) {
    return Match(type, name, value);
  };
  EXPECT_EQ(count({m(MatchType::kEqual, "__name__", "up")}), 100u);
  EXPECT_EQ(count({m(MatchType::kEqual, "__name__", "up"), m(MatchType::kEqual, "i", "3")}), 1u);
  EXPECT_EQ(count({m(MatchType::kEqual, "job", "")}), 150u);
  EXPECT_EQ(count({m(MatchType::kNotEqual, "job", "")}), 150u);
  EXPECT_EQ(count({m(MatchType::kNotEqual, "job", "api")}), 225u);
  EXPECT_EQ(count({m(MatchType::kRegex, "job", "api|db")}), 150u);
  EXPECT_EQ(count({m(MatchType::kRegex, "job", "api|")}), 225u);
  EXPECT_EQ(count({m(MatchType::kRegex, "job", ".*")}), 300u);
  EXPECT_EQ(count({m(MatchType::kRegex, "job", ".+")}), 150u);
  EXPECT_EQ(count({m(MatchType::kNotRegex, "job", "a.*")}), 225u);
  EXPECT_EQ(count({m(MatchType::kNotRegex, "job", ".*")}), 0u);
  EXPECT_EQ(count({m(MatchType::kRegex, "i", "1.")}), 10u);
  EXPECT_EQ(count({m(MatchType::kEqual, "none", "x")}), 0u);
  EXPECT_EQ(count({m(MatchType::kEqual, "none", "")}), 300u);
  EXPECT_EQ(count({m(MatchType::kEqual, "__name__", "up"), m(MatchType::kNotEqual, "job", "db"),
                   m(MatchType::kRegex, "i", "[0-9]+")}),
            75u);
  auto querier = head->NewQuerier(kAllTime).value();
  const std::vector<model::Matcher> db = {m(MatchType::kEqual, "job", "db")};
  EXPECT_EQ(querier->LabelValues("job", {}, 0).value(), (std::vector<std::string>{"api", "db"}));
  EXPECT_EQ(querier->LabelValues("job", db, 0).value(), (std::vector<std::string>{"db"}));
  EXPECT_EQ(querier->LabelNames(db, 2).value(), (std::vector<std::string>{"__name__", "i"}));
  EXPECT_EQ(querier->LabelValues("nothing", {}, 0).value(), std::vector<std::string>{});
}

TEST(HeadTest, StatsNameTheLargest) {
  HeadHarness head;
  head.Add({{"__name__", "a"}, {"x", "1"}}, kStart, 1);
  head.Add({{"__name__", "a"}, {"x", "2"}}, kStart + 1, 1);
  head.Add({{"__name__", "b"}, {"x", "1"}}, kStart + 2, 1);
  const HeadStats stats = head->Stats(1);
  EXPECT_EQ(stats.num_series, 3u);
  EXPECT_EQ(stats.num_label_pairs, 4u);
  EXPECT_EQ(stats.min_time_ms, kStart);
  EXPECT_EQ(stats.max_time_ms, kStart + 2);
  ASSERT_EQ(stats.series_by_metric.size(), 1u);
  EXPECT_EQ(stats.series_by_metric[0].name, "a");
  EXPECT_EQ(stats.series_by_metric[0].value, 2u);
  EXPECT_EQ(stats.series_by_pair[0].name, "__name__=a");
  EXPECT_EQ(stats.values_by_label[0].value, 2u);
  EXPECT_GT(head->Memory().Total(), 0u);
}

}  // namespace
}  // namespace narthex::head
