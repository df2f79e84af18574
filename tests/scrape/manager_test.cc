// Pools and targets over time: starting, reloading, ending, and what the API sees of them.
#include <gmock/gmock.h>

#include "tests/scrape/scrape_fixture.h"

namespace narthex::scrape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManagerTest : public ScrapeFixture {};

TEST_F(ManagerTest, TargetsAreScrapedOncePerInterval) {
  options_.static_groups[0].targets = {{{"__address__", "h:1"}}, {{"__address__", "h:2"}}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  EXPECT_EQ(http_.requests.size(), 2u);
  scheduler_.AdvanceMs(9 * kIntervalMs);
  EXPECT_EQ(http_.requests.size(), 20u);
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_targets"), 2);
}

TEST_F(ManagerTest, TargetsAreSpreadOverTheInterval) {
  options_.static_groups[0].targets.clear();
  for (int i = 0; i < 100; ++i) {
    options_.static_groups[0].targets.push_back({{"__address__", "h:" + std::to_string(i)}});
  }
  ASSERT_TRUE(Apply().ok());
  body_ = "a 1\n";
  content_type_ = "text/plain";
  scheduler_.AdvanceMs(kIntervalMs / 2);
  EXPECT_GT(http_.requests.size(), 25u);
  EXPECT_LT(http_.requests.size(), 75u);
}

TEST_F(ManagerTest, RepeatedTargetsAreScrapedOnce) {
  options_.static_groups[0].targets = {{{"__address__", "h:1"}}, {{"__address__", "h:1"}}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  EXPECT_EQ(http_.requests.size(), 1u);
  EXPECT_EQ(manager_->ActiveTargets().size(), 1u);
}

TEST_F(ManagerTest, ALateScrapeOfTwoMillisecondsCountsAsOnTime) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  const int64_t first_ms = manager_->ActiveTargets().at(0).last_scrape_ms;
  clock_.SetNowMs(clock_.NowMs() + 2);
  Scrape("a 1\n");
  EXPECT_EQ(manager_->ActiveTargets().at(0).last_scrape_ms, first_ms + kIntervalMs);
  clock_.SetNowMs(clock_.NowMs() + 1);
  Scrape("a 1\n");
  EXPECT_EQ(manager_->ActiveTargets().at(0).last_scrape_ms, first_ms + 2 * kIntervalMs + 3);
}

TEST_F(ManagerTest, AClockThatIsSetBackDoesNotStopTimesFromAdvancing) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  clock_.SetNowMs(clock_.NowMs() - 3'600'000);
  Scrape("a 1\n");
  const int64_t second_ms = manager_->ActiveTargets().at(0).last_scrape_ms;
  Scrape("a 1\n");
  EXPECT_EQ(manager_->ActiveTargets().at(0).last_scrape_ms, second_ms + kIntervalMs);
}

TEST_F(ManagerTest, ASlowScrapeDelaysTheNextOneAndNoMore) {
  ASSERT_TRUE(Apply().ok());
  http_.Hold();
  Scrape("a 1\n");
  scheduler_.AdvanceMs(3 * kIntervalMs);
  EXPECT_EQ(http_.requests.size(), 1u) << "one at a time";
  http_.Release();
  EXPECT_EQ(http_.requests.size(), 2u) << "the missed ones are made up for once";
  scheduler_.AdvanceMs(kIntervalMs);
  EXPECT_EQ(http_.requests.size(), 3u);
}

TEST_F(ManagerTest, AFullExecutorIsAskedAgain) {
  ASSERT_TRUE(Apply().ok());
  executor_is_full_ = true;
  Scrape("a 1\n");
  EXPECT_EQ(Stored(), "");
  executor_is_full_ = false;
  scheduler_.AdvanceMs(20);
  EXPECT_EQ(Stored(), "a 1\n");
}

TEST_F(ManagerTest, ARemovedTargetEndsAfterTwoIntervals) {
  options_.static_groups[0].targets = {{{"__address__", "h:1"}}, {{"__address__", "h:2"}}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  options_.static_groups[0].targets.pop_back();
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(manager_->ActiveTargets().size(), 1u);
  Scrape("a 2\n");
  EXPECT_EQ(Stored(), "a 1 2\na{instance=\"h:2\"} 1\n");
  scheduler_.AdvanceMs(kIntervalMs + kIntervalMs / 10);
  EXPECT_THAT(Stored(), HasSubstr("a{instance=\"h:2\"} 1 stale\n"));
  EXPECT_THAT(StoredReport(), HasSubstr("up{instance=\"h:2\"} 1 stale\n"));
  scheduler_.AdvanceMs(5 * kIntervalMs);
  EXPECT_THAT(Stored(), HasSubstr("a{instance=\"h:2\"} 1 stale\n"));
}

TEST_F(ManagerTest, TheMarkersOfARemovedTargetHaveTheTimeOfTheScrapeThatDidNotCome) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  const int64_t last_ms = manager_->ActiveTargets().at(0).last_scrape_ms;
  ASSERT_TRUE(Apply(std::vector<PoolOptions>{}).ok());
  EXPECT_TRUE(manager_->PoolNames().empty());
  scheduler_.AdvanceMs(3 * kIntervalMs);
  for (const support::AppendedSeries& series : storage_.Committed()) {
    ASSERT_EQ(series.samples.size(), 2u) << series.labels.ToString();
    EXPECT_EQ(series.samples[1].time_ms, last_ms + kIntervalMs);
    EXPECT_TRUE(model::IsStaleNan(series.samples[1].value));
  }
}

TEST_F(ManagerTest, ATargetThatComesBackInTimeGoesOn) {
  ASSERT_TRUE(Apply().ok());
  const auto targets = std::exchange(options_.static_groups[0].targets, {});
  Scrape("a 1\n");
  ASSERT_TRUE(Apply().ok());
  EXPECT_TRUE(manager_->ActiveTargets().empty());
  options_.static_groups[0].targets = targets;
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(manager_->ActiveTargets().at(0).health, TargetHealth::kUp);
  Scrape("a 2\n");
  scheduler_.AdvanceMs(4 * kIntervalMs);
  EXPECT_EQ(Stored(), "a 1 2 2 2 2 2\n");
}

// Another interval makes another target, but its series are the same.
TEST_F(ManagerTest, SeriesThatLiveOnUnderAnotherTargetGetNoMarkers) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 1\n");
  options_.scrape_interval_ms = 11'000;
  ASSERT_TRUE(Apply().ok());
  body_ = "a 2\n";
  scheduler_.AdvanceMs(33'000);
  EXPECT_THAT(Stored(), HasSubstr("a 1 2 2 2\n"));
  EXPECT_EQ(ReportOf("up").find("stale"), std::string::npos);
}

TEST_F(ManagerTest, AChangeOfRelabellingEndsWhatItRenames) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\nb 1\n");
  options_.metric_relabel_configs = {{.source_labels = {"__name__"},
                                      .regex = "b",
                                      .target_label = "__name__",
                                      .replacement = "c"}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 2\nb 2\n");
  EXPECT_EQ(Stored(), "a 1 2\nb 1 stale\nc 2\n");
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_reloads_total"), 1);
}

TEST_F(ManagerTest, AChangeThatRenamesNothingKeepsTheCache) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  const int64_t num_resolves = storage_.num_resolves();
  options_.sample_limit = 100;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 2\n");
  EXPECT_EQ(Stored(), "a 1 2\n");
  EXPECT_EQ(storage_.num_resolves(), num_resolves);
}

TEST_F(ManagerTest, AnUnchangedPoolIsNotTouched) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_reloads_total"), 0);
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_sync_total"), 1);
  Scrape("a 2\n");
  EXPECT_EQ(http_.requests.size(), 2u);
}

TEST_F(ManagerTest, BadOptionsChangeNothing) {
  ASSERT_TRUE(Apply().ok());
  PoolOptions bad = options_;
  bad.relabel_configs = {{.action = "nonsense"}};
  EXPECT_EQ(Apply({bad}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Apply({options_, options_}).message(),
            "found multiple scrape configs with job name \"j\"");
  Scrape("a 1\n");
  EXPECT_EQ(Stored(), "a 1\n");
}

TEST_F(ManagerTest, ThePoolOverItsTargetLimitScrapesNothing) {
  options_.static_groups[0].targets = {{{"__address__", "h:1"}}, {{"__address__", "h:2"}}};
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  options_.target_limit = 1;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 2\n");
  EXPECT_EQ(http_.requests.size(), 2u);
  EXPECT_EQ(Stored(), "a 1 stale\na{instance=\"h:2\"} 1 stale\n");
  EXPECT_EQ(LastError(), "target_limit exceeded (number of targets: 2, limit: 1)");
  EXPECT_EQ(manager_->ActiveTargets().at(1).health, TargetHealth::kDown);
  EXPECT_EQ(Metric("prometheus_target_scrape_pool_exceeded_target_limit_total"), 1);
  options_.target_limit = 2;
  ASSERT_TRUE(Apply().ok());
  Scrape("a 3\n");
  EXPECT_EQ(LastError(), "");
}

TEST_F(ManagerTest, DroppedTargetsAreListedUpToTheirLimit) {
  options_.static_groups[0].targets = {
      {{"__address__", "h:1"}}, {{"__address__", "x:1"}}, {{"__address__", "x:2"}}};
  options_.relabel_configs = {{.source_labels = {"__address__"}, .regex = "x.*", .action = "drop"}};
  ASSERT_TRUE(Apply().ok());
  ASSERT_EQ(manager_->DroppedTargets().size(), 2u);
  EXPECT_EQ(manager_->DroppedTargets()[0].discovered_labels.Get("__address__"), "x:1");
  EXPECT_EQ(manager_->DroppedTargetCounts(), (std::map<std::string, uint64_t>{{"j", 2}}));
  options_.keep_dropped_targets = 1;
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(manager_->DroppedTargets("j").size(), 1u);
  EXPECT_EQ(manager_->DroppedTargetCounts().at("j"), 2u);
  EXPECT_TRUE(manager_->DroppedTargets("other").empty());
}

TEST_F(ManagerTest, BadTargetsAreCountedAndTheOthersScraped) {
  options_.static_groups[0].targets = {{{"__address__", "a/b"}}, {{"__address__", "h:1"}}};
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(manager_->ActiveTargets().size(), 1u);
  EXPECT_TRUE(manager_->DroppedTargets().empty());
  EXPECT_EQ(Metric("prometheus_target_sync_failed_total"), 1);
}

TEST_F(ManagerTest, ActiveTargetsTellHowTheyAre) {
  options_.static_groups[0].targets[0]["__meta_zone"] = "z";
  ASSERT_TRUE(Apply().ok());
  ActiveTarget target = manager_->ActiveTargets("j").at(0);
  EXPECT_EQ(target.health, TargetHealth::kUnknown);
  EXPECT_EQ(target.last_scrape_ms, 0);
  Scrape("a 1\n");
  target = manager_->ActiveTargets("j").at(0);
  EXPECT_EQ(TargetHealthName(target.health), "up");
  EXPECT_EQ(target.scrape_pool, "j");
  EXPECT_EQ(target.scrape_url, "http://h:1/metrics");
  EXPECT_EQ(target.labels.ToString(), R"({instance="h:1", job="j"})");
  EXPECT_EQ(target.discovered_labels.Get("__meta_zone"), "z");
  EXPECT_EQ(target.scrape_interval, "10s");
  EXPECT_EQ(target.scrape_timeout, "5s");
  FailScrape();
  EXPECT_EQ(TargetHealthName(manager_->ActiveTargets().at(0).health), "down");
  EXPECT_TRUE(manager_->ActiveTargets("other").empty());
  EXPECT_THAT(manager_->PoolNames(), ElementsAre("j"));
  EXPECT_EQ(manager_->OptionsOf("j").value(), options_);
  EXPECT_EQ(manager_->OptionsOf("x").status().message(), "scrape pool \"x\" not found");
}

TEST_F(ManagerTest, DiscoveredTargetsAreTakenOverEveryFewSeconds) {
  options_.static_groups.clear();
  ASSERT_TRUE(Apply().ok());
  manager_->SetTargetGroups("j", "file", {{"f", {}, {{{"__address__", "h:1"}}}}});
  manager_->SetTargetGroups("j", "dns", {{"d", {}, {{{"__address__", "h:2"}}}}});
  EXPECT_TRUE(manager_->ActiveTargets().empty());
  scheduler_.AdvanceMs(5'000);
  EXPECT_EQ(manager_->ActiveTargets().size(), 2u);
  manager_->SetTargetGroups("j", "file", {});
  scheduler_.AdvanceMs(5'000);
  ASSERT_EQ(manager_->ActiveTargets().size(), 1u);
  EXPECT_EQ(manager_->ActiveTargets()[0].labels.Get("instance"), "h:2");
  manager_->SetTargetGroups("other", "file", {{"f", {}, {{{"__address__", "h:3"}}}}});
  scheduler_.AdvanceMs(5'000);
  EXPECT_EQ(manager_->ActiveTargets().size(), 1u);
}

TEST_F(ManagerTest, StoppingWritesNoMarkersAndIsFinal) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  http_.Hold();
  Scrape("a 2\n");
  http_.Stop();
  manager_->Stop();
  manager_->Stop();
  scheduler_.AdvanceMs(10 * kIntervalMs);
  EXPECT_EQ(Stored(), "a 1\n");
  EXPECT_EQ(ReportOf("up"), "1");
  EXPECT_FALSE(Apply().ok());
}

TEST_F(ManagerTest, FailuresGoToTheirLogFile) {
  const std::string path = ::testing::TempDir() + "/" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                           std::to_string(getpid()) + ".log";
  options_.scrape_failure_log_file = path;
  ASSERT_TRUE(Apply().ok());
  FailScrape(absl::UnavailableError("Get \"http://h:1/metrics\": no \"route\""));
  const std::string text = base::PosixFs().ReadFile(path).value();
  EXPECT_THAT(text, HasSubstr("{\"time\":\"2023-11-14T22:13:"));
  EXPECT_THAT(text, HasSubstr(R"("level":"ERROR","msg":"Get \"http://h:1/metrics\": no \"route\"",)"
                              R"("job_name":"j","target":"http://h:1/metrics"})"));
  EXPECT_TRUE(base::PosixFs().Remove(path).ok());
}

TEST_F(ManagerTest, IntervalsBetweenScrapesAreMeasured) {
  ASSERT_TRUE(Apply().ok());
  Scrape("a 1\n");
  Scrape("a 1\n");
  Scrape("a 1\n");
  bool found = false;
  for (const base::FamilySnapshot& family : registry_.Collect()) {
    if (family.name != "prometheus_target_interval_length_seconds") continue;
    found = true;
    ASSERT_EQ(family.points.size(), 1u);
    EXPECT_EQ(family.points[0].labels,
              (std::vector<std::pair<std::string, std::string>>{{"interval", "10s"}}));
    EXPECT_EQ(family.points[0].summary.count, 2u);
    EXPECT_EQ(family.points[0].summary.sum, 20);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace narthex::scrape
