// How bodies become samples: labels, limits, times, staleness and the report.
#include <gmock/gmock.h>

#include "tests/scrape/scrape_fixture.h"

namespace narthex::scrape {
namespace {

using ::testing::HasSubstr;

class SamplesTest : public ScrapeFixture {};

TEST_F(SamplesTest, AScrapeStoresItsSamplesAndAReport) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb{x=\"y\"} 2\n");
  EXPECT_EQ(Stored(), "a 1\nb{x=\"y\"} 2\n");
  EXPECT_EQ(StoredReport(),
            "scrape_duration_seconds 0\nscrape_samples_post_metric_relabeling 2\n"
            "scrape_samples_scraped 2\nscrape_series_added 2\nup 1\n");
  EXPECT_EQ(storage_.num_commits(), 1) << "one batch per scrape";
  Scrape("a 3\nb{x=\"y\"} 4\n");
  EXPECT_EQ(Stored(), "a 1 3\nb{x=\"y\"} 2 4\n");
  EXPECT_EQ(ReportOf("scrape_series_added"), "2 0");
  EXPECT_EQ(storage_.num_resolves(), 2 + 5) << "known series are not resolved again";
}

TEST_F(SamplesTest, AllSamplesOfAScrapeHaveItsTime) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  Scrape("a 1\n");
  const ActiveTarget target = manager_->ActiveTargets().at(0);
  for (const support::AppendedSeries& series : storage_.Committed()) {
    ASSERT_EQ(series.samples.size(), 2u);
    EXPECT_EQ(series.samples[1].time_ms, target.last_scrape_ms);
    EXPECT_EQ(series.samples[1].time_ms - series.samples[0].time_ms, kIntervalMs);
  }
}

TEST_F(SamplesTest, ASeriesThatVanishesGetsAStalenessMarker) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 2\n");
  Scrape("b 3\n");
  Scrape("b 4\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 2 3 4\n");
  Scrape("a 5\nb 6\n");
  EXPECT_EQ(Stored(), "a 1 stale 5\nb 2 3 4 6\n");
  EXPECT_EQ(ReportOf("scrape_series_added"), "2 0 0 0");
}

TEST_F(SamplesTest, AFailedScrapeEndsAllSeriesOnce) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  FailScrape();
  FailScrape();
  EXPECT_EQ(Stored(), "a 1 stale\n");
  EXPECT_EQ(ReportOf("up"), "1 0 0");
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "1 0 0");
  EXPECT_EQ(LastError(), "Get \"http://h:1/metrics\": connection refused");
  Scrape("a 2\n");
  EXPECT_EQ(Stored(), "a 1 stale 2\n");
  EXPECT_EQ(LastError(), "");
}

TEST_F(SamplesTest, AMalformedBodyStoresNothingOfItself) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 1\n");
  Scrape("a 2\nnew 1\nb }{\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 1 stale\n");
  EXPECT_EQ(ReportOf("up"), "1 0");
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "2 2") << "what was read until the error";
  EXPECT_NE(LastError(), "");
  EXPECT_EQ(storage_.num_rollbacks(), 1);
}

TEST_F(SamplesTest, AnEmptyBodyIsATargetWithoutSeries) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  Scrape("", "");
  EXPECT_EQ(Stored(), "a 1 stale\n");
  EXPECT_EQ(ReportOf("up"), "1 1");
}

TEST_F(SamplesTest, OnlyStatus200WillDo) {
  ASSERT_TRUE(Apply().ok());
  body_ = "a 1\n";
  content_type_ = "text/plain";
  status_ = 500;
  reason_ = "Internal Server Error";
  scheduler_.AdvanceMs(kIntervalMs);
  EXPECT_EQ(LastError(), "server returned HTTP status 500 Internal Server Error");
  EXPECT_EQ(Stored(), "");
  EXPECT_EQ(ReportOf("up"), "0");
}

TEST_F(SamplesTest, TheContentTypeDecidesUnlessThereIsAFallback) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n", "");
  EXPECT_EQ(LastError(),
            "non-compliant scrape target sending blank Content-Type and no "
            "fallback_scrape_protocol specified for target");
  Scrape("a 1\n", "text/html");
  EXPECT_THAT(LastError(), HasSubstr("received unsupported Content-Type \"text/html\""));
  options_.fallback_protocol = ScrapeProtocol::kPrometheusText0_0_4;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n", "text/html");
  EXPECT_EQ(LastError(), "");
  EXPECT_EQ(Stored(), "a 1\n");
}

TEST_F(SamplesTest, TheErrorOfTheFetchIsTheTargets) {
  ASSERT_TRUE(Apply().ok());
  FailScrape(absl::DeadlineExceededError("Get \"http://h:1/metrics\": too late"));
  EXPECT_EQ(LastError(), "Get \"http://h:1/metrics\": too late");
}

TEST_F(SamplesTest, TheRequestSaysWhatThePoolWants) {
  options_.enable_compression = false;
  options_.scrape_timeout_ms = 2'500;
  options_.body_size_limit = 1234;
  options_.static_groups[0].targets[0]["__unix_socket__"] = "/run/s";
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  ASSERT_EQ(http_.requests.size(), 1u);
  const net::FetchRequest& request = http_.requests[0];
  EXPECT_EQ(request.url, "http://h:1/metrics");
  EXPECT_EQ(request.timeout_ms, 2'500);
  EXPECT_EQ(request.max_body_bytes, 1234u);
  EXPECT_EQ(request.unix_socket, "/run/s");
  EXPECT_EQ(
      request.headers,
      (net::HeaderList{{"Accept",
                        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                        "application/openmetrics-text;version=0.0.1;q=0.5,"
                        "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                        "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"},
                       {"Accept-Encoding", "identity"},
                       {"User-Agent", "Prometheus/3.14.0"},
                       {"X-Prometheus-Scrape-Timeout-Seconds", "2.5"}}));
}

TEST_F(SamplesTest, ConflictingLabelsMoveAside) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a{job=\"mine\",exported_job=\"x\"} 1\n");
  EXPECT_EQ(Stored(), "a{exported_exported_job=\"mine\", exported_job=\"x\"} 1\n");
}

TEST_F(SamplesTest, HonouredLabelsWin) {
  options_.honor_labels = true;
  ASSERT_TRUE(Apply().ok());
  Scrape("a{job=\"mine\"} 1\nb{instance=\"\"} 2\n");
  EXPECT_EQ(storage_.Committed().at(0).labels.ToString(),
            R"({__name__="a", instance="h:1", job="mine"})");
  EXPECT_EQ(storage_.Committed().at(1).labels.ToString(), R"({__name__="b", job="j"})");
}

TEST_F(SamplesTest, MetricRelabellingDropsAndRenames) {
  options_.metric_relabel_configs = {
      {.source_labels = {"__name__"}, .regex = "secret", .action = "drop"},
      {.source_labels = {"__name__"},
       .regex = "old_(.*)",
       .target_label = "__name__",
       .replacement = "new_$1"}};
  ASSERT_TRUE(Apply().ok());
  Scrape("secret 1\nold_a 2\n");
  Scrape("secret 1\nold_a 3\n");
  EXPECT_EQ(Stored(), "new_a 2 3\n");
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "2 2");
  EXPECT_EQ(ReportOf("scrape_samples_post_metric_relabeling"), "1 1");
}

TEST_F(SamplesTest, ASeriesWithoutANameFailsTheScrape) {
  options_.metric_relabel_configs = {{.regex = "__name__", .action = "labeldrop"}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  EXPECT_EQ(LastError(), "missing metric name (__name__ label)");
}

TEST_F(SamplesTest, LegacyValidationRefusesOtherNames) {
  ASSERT_TRUE(Apply().ok());
  Scrape("{\"a.b\"} 1\n");
  EXPECT_EQ(Stored(), "a.b 1\n");
  options_.name_validation = model::NameValidation::kLegacy;
  options_.name_escaping = NameEscaping::kUnderscores;
  ASSERT_TRUE(Apply().ok());
  Scrape("{\"a.b\"} 1\n");
  EXPECT_EQ(LastError(),
            R"(invalid metric name or label names: {__name__="a.b", instance="h:1", job="j"})");
}

TEST_F(SamplesTest, TheSampleLimitCountsWhatRelabellingLeaves) {
  options_.sample_limit = 2;
  options_.metric_relabel_configs = {
      {.source_labels = {"__name__"}, .regex = "x", .action = "drop"}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 1\nx 1\n");
  EXPECT_EQ(Stored(), "a 1\nb 1\n");
  Scrape("a 2\nb 2\nc 2\nx 1\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 1 stale\n");
  EXPECT_EQ(LastError(), "sample limit exceeded");
  EXPECT_EQ(ReportOf("up"), "1 0");
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "3 4");
  EXPECT_EQ(ReportOf("scrape_samples_post_metric_relabeling"), "2 3");
  EXPECT_EQ(Metric("prometheus_target_scrapes_exceeded_sample_limit_total"), 1);
}

TEST_F(SamplesTest, LabelLimitsFailTheScrape) {
  options_.label_limit = 4;
  ASSERT_TRUE(Apply().ok());
  Scrape("a{x=\"1\"} 1\n");
  EXPECT_EQ(LastError(), "");
  Scrape("a{x=\"1\",y=\"2\"} 1\n");
  EXPECT_EQ(LastError(), "label_limit exceeded (metric: a, number of labels: 5, limit: 4)");
  options_.label_limit = 0;
  options_.label_name_length_limit = 8;
  ASSERT_TRUE(Apply().ok());
  Scrape("a{muchlonger=\"1\"} 1\n");
  EXPECT_EQ(LastError(),
            "label_name_length_limit exceeded (metric: a, label name: muchlonger, length: 10, "
            "limit: 8)");
  options_.label_name_length_limit = 0;
  options_.label_value_length_limit = 3;
  ASSERT_TRUE(Apply().ok());
  Scrape("a{x=\"1234\"} 1\n");
  EXPECT_EQ(LastError(),
            "label_value_length_limit exceeded (metric: a, label name: x, value: \"1234\", length: "
            "4, limit: 3)");
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_exceeded_label_limits_total"), 3);
}

TEST_F(SamplesTest, TheBodySizeLimitIsReported) {
  options_.body_size_limit = 10;
  options_.extra_scrape_metrics = true;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  Scrape("a 1234567\n");
  EXPECT_EQ(LastError(), "body size limit exceeded");
  EXPECT_EQ(ReportOf("scrape_body_size_bytes"), "4 -1");
  FailScrape(absl::ResourceExhaustedError("body size limit exceeded"));
  EXPECT_EQ(LastError(), "body size limit exceeded");
  FailScrape();
  EXPECT_EQ(ReportOf("scrape_body_size_bytes"), "4 -1 -1 0");
  EXPECT_EQ(Metric("prometheus_target_scrapes_exceeded_body_size_limit_total"), 2);
}

TEST_F(SamplesTest, ExtraMetricsTellTheLimits) {
  options_.extra_scrape_metrics = true;
  options_.sample_limit = 7;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  EXPECT_EQ(ReportOf("scrape_timeout_seconds"), "5");
  EXPECT_EQ(ReportOf("scrape_sample_limit"), "7");
  EXPECT_EQ(ReportOf("scrape_body_size_bytes"), "4");
}

TEST_F(SamplesTest, TimesOfTheTargetAreHonouredAndNotTracked) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1 1700000000123\n");
  Scrape("b 1\n");
  EXPECT_THAT(storage_.Text(), HasSubstr("1@1700000000123\n")) << "no marker after it";
}

TEST_F(SamplesTest, TimesOfTheTargetCanBeTracked) {
  options_.track_timestamps_staleness = true;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1 1700000000123\n");
  Scrape("b 1\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 1\n");
}

TEST_F(SamplesTest, TimesOfTheTargetCanBeIgnored) {
  options_.honor_timestamps = false;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1 1700000000123\n");
  EXPECT_EQ(storage_.Committed().at(0).samples.at(0).time_ms,
            manager_->ActiveTargets().at(0).last_scrape_ms);
  Scrape("b 1\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 1\n");
}

TEST_F(SamplesTest, SamplesOutOfOrderOrBoundsAreDroppedAndTheTargetStaysUp) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1 1700000000500\nb 1\n");
  Scrape("a 2 1700000000400\nb 1\n");  // Older than the last.
  Scrape("a 3 1700000000500\nb 1\n");  // Another value at the same time.
  Scrape("a 4 1800000000000\nb 1\n");  // Far in the future.
  EXPECT_EQ(Stored(), "a 1\nb 1 1 1 1\n");
  EXPECT_EQ(ReportOf("up"), "1 1 1 1");
  EXPECT_EQ(ReportOf("scrape_samples_post_metric_relabeling"), "2 2 2 2");
  EXPECT_EQ(Metric("prometheus_target_scrapes_sample_out_of_order_total"), 1);
  EXPECT_EQ(Metric("prometheus_target_scrapes_sample_duplicate_timestamp_total"), 1);
  EXPECT_EQ(Metric("prometheus_target_scrapes_sample_out_of_bounds_total"), 1);
  storage_.SetMinTimeMs(1'700'000'000'000);
  Scrape("a 5 1600000000000\nb 1\n");
  EXPECT_EQ(Metric("prometheus_target_scrapes_sample_out_of_bounds_total"), 2);
}

TEST_F(SamplesTest, TheFirstOfRepeatedSeriesWins) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\na 2\n");
  EXPECT_EQ(Stored(), "a 1\n");
  EXPECT_EQ(ReportOf("scrape_samples_post_metric_relabeling"), "2");
  EXPECT_EQ(Metric("prometheus_target_scrapes_sample_duplicate_timestamp_total"), 1);
  // With times of their own both are good.
  Scrape("b 1 1700000000001\nb 2 1700000000002\n");
  EXPECT_EQ(Stored(), "a 1 stale\nb 1 2\n");
}

TEST_F(SamplesTest, LostSeriesAreResolvedAgain) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 1\n");
  storage_.ForgetRefs();
  Scrape("a 2\nb 2\n");
  EXPECT_EQ(Stored(), "a 1 2\nb 1 2\n");
  EXPECT_EQ(ReportOf("up"), "1 1");
  Scrape("a 3\n");
  EXPECT_EQ(Stored(), "a 1 2 3\nb 1 2 stale\n");
}

TEST_F(SamplesTest, AStorageWithoutRoomForNewSeriesFailsTheScrape) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  storage_.SetNewSeriesStatus(absl::ResourceExhaustedError("too many series"));
  Scrape("a 2\nb 1\n");
  EXPECT_EQ(LastError(), "too many series");
  EXPECT_EQ(ReportOf("up"), "1 0");
  EXPECT_EQ(Stored(), "a 1 stale\n");
}

TEST_F(SamplesTest, AFullDiskLosesTheScrapeAndNothingElse) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  storage_.SetCommitStatus(absl::ResourceExhaustedError("no space"));
  Scrape("a 2\n");
  storage_.SetCommitStatus(absl::OkStatus());
  Scrape("a 3\n");
  EXPECT_EQ(Stored(), "a 1 3\n");
}

TEST_F(SamplesTest, ExemplarsGetTheTimeOfTheirSample) {
  ASSERT_TRUE(Apply().ok());
  Scrape("# TYPE a counter\na_total 1 # {trace_id=\"x\"} 0.5\n# EOF\n",
         "application/openmetrics-text; version=1.0.0");
  const support::AppendedSeries series = storage_.Committed().at(0);
  ASSERT_EQ(series.exemplars.size(), 1u);
  EXPECT_EQ(series.exemplars[0].labels.Get("trace_id"), "x");
  EXPECT_EQ(series.exemplars[0].value, 0.5);
  EXPECT_EQ(series.exemplars[0].time_ms, series.samples[0].time_ms);
  storage_.SetExemplarStatus(absl::InvalidArgumentError("out of order exemplar"));
  Scrape("# TYPE a counter\na_total 1 # {trace_id=\"y\"} 0.5 1\n# EOF\n",
         "application/openmetrics-text; version=1.0.0");
  EXPECT_EQ(ReportOf("up"), "1 1");
  EXPECT_EQ(Metric("prometheus_target_scrapes_exemplar_out_of_order_total"), 1);
}

TEST_F(SamplesTest, MetadataIsKeptForTheApi) {
  ASSERT_TRUE(Apply().ok());
  Scrape("# HELP a Some help.\n# TYPE a counter\na 1\n");
  const std::vector<TargetMetadata> all = manager_->Metadata();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].labels.ToString(), R"({instance="h:1", job="j"})");
  ASSERT_EQ(all[0].families.size(), 1u);
  EXPECT_EQ(all[0].families[0].family, "a");
  EXPECT_EQ(all[0].families[0].metadata,
            (model::Metadata{model::MetricType::kCounter, "", "Some help."}));
  EXPECT_EQ(manager_->Metadata("a").size(), 1u);
  EXPECT_TRUE(manager_->Metadata("b").empty());
  EXPECT_EQ(storage_.Committed().at(0).metadata, model::Metadata()) << "unless asked for";
  EXPECT_EQ(Metric("prometheus_target_metadata_cache_entries"), 1);
  EXPECT_EQ(Metric("prometheus_target_metadata_cache_bytes"), 17);
}

TEST_F(SamplesTest, MetadataGoesToTheStorageWhenAskedFor) {
  manager_options_.append_metadata = true;
  ASSERT_TRUE(Apply().ok());
  Scrape("# HELP a Some help.\n# TYPE a counter\na_total 1\nother 1\n");
  const std::vector<support::AppendedSeries> committed = storage_.Committed();
  EXPECT_EQ(committed.at(0).metadata.type, model::MetricType::kCounter);
  EXPECT_EQ(committed.at(1).metadata, model::Metadata()) << "not of that family";
  EXPECT_EQ(committed.at(2).metadata.unit, "seconds") << "scrape_duration_seconds";
}

}  // namespace
}  // namespace narthex::scrape
