// Scrapes, reloads, discovery and views at the same time, for the thread sanitizer to watch.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "narthex/base/thread_pool.h"
#include "narthex/scrape/manager.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_scheduler.h"

namespace narthex::scrape {
namespace {

// Takes everything, from any thread.
class OpenStorage final : public model::Appendable {
 public:
  class Batch final : public model::Appender {
   public:
    explicit Batch(OpenStorage* storage) : storage_(storage) {}
    absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label> /*labels*/) override {
      return ++storage_->num_series;
    }
    void AppendFloats(std::span<const model::FloatSample> samples,
                      std::span<model::AppendOutcome> outcomes) override {
      num_samples_ += samples.size();
      for (model::AppendOutcome& outcome : outcomes) outcome = model::AppendOutcome::kAccepted;
    }
    model::AppendOutcome AppendHistogram(model::SeriesRef, int64_t,
                                         const model::Histogram&) override {
      return model::AppendOutcome::kAccepted;
    }
    model::AppendOutcome AppendHistogram(model::SeriesRef, int64_t,
                                         const model::FloatHistogram&) override {
      return model::AppendOutcome::kAccepted;
    }
    absl::Status AppendExemplar(model::SeriesRef, const model::Exemplar&) override {
      return absl::OkStatus();
    }
    void SetMetadata(model::SeriesRef, const model::Metadata&) override {}
    absl::Status Commit() override {
      storage_->num_samples += num_samples_;
      return absl::OkStatus();
    }
    void Rollback() override {}

   private:
    OpenStorage* const storage_;
    uint64_t num_samples_ = 0;
  };

  std::unique_ptr<model::Appender> NewAppender() override { return std::make_unique<Batch>(this); }

  std::atomic<uint64_t> num_series{0};
  std::atomic<uint64_t> num_samples{0};
};

// Answers every fetch at once, on the thread that asks.
class InstantHttpClient final : public net::HttpClient {
 public:
  void Fetch(net::FetchRequest /*request*/, std::shared_ptr<const net::HttpClientOptions>,
             net::FetchCallback done) override {
    done(Response());
  }
  absl::StatusOr<net::FetchResponse> FetchNow(
      net::FetchRequest, std::shared_ptr<const net::HttpClientOptions>) override {
    return Response();
  }
  void Stop() override {}

 private:
  static net::FetchResponse Response() {
    return {200, "OK", {{"Content-Type", "text/plain"}}, "# HELP a Help.\n# TYPE a gauge\na 1\n"};
  }
};

PoolOptions Options(int variant) {
  PoolOptions options;
  options.job_name = "j" + std::to_string(variant % 2);
  options.scrape_interval_ms = 1'000;
  options.scrape_timeout_ms = 1'000;
  options.sample_limit = static_cast<uint64_t>(10 + variant);
  if (variant % 3 == 0) {
    options.metric_relabel_configs = {
        {.target_label = "v", .replacement = std::to_string(variant)}};
  }
  TargetGroup group{"static", {}, {}};
  for (int i = 0; i < 5 + variant % 5; ++i) {
    group.targets.push_back({{"__address__", "h:" + std::to_string(i)}});
  }
  options.static_groups = {group};
  return options;
}

TEST(ScrapeConcurrencyTest, EverythingAtOnce) {
  support::ManualClock clock(1'700'000'000'000);
  support::ManualScheduler scheduler(&clock);
  base::Registry registry(&clock);
  OpenStorage storage;
  InstantHttpClient http;
  base::ThreadPool pool("scrape", 2, 8);  // Short, so that it is full at times.
  Manager manager({&clock, &scheduler, &http,
                   [&](std::function<void()> task) { return pool.TrySubmit(std::move(task)); },
                   &storage, &registry, &base::NullLogger(), &base::PosixFs()},
                  {.discovery_reload_interval_ms = 100});
  ASSERT_TRUE(manager.Apply({Options(0), Options(1)}, {}).ok());

  std::atomic<bool> done{false};
  std::thread reloader([&] {
    for (int i = 0; i < 50; ++i) {
      std::vector<PoolOptions> pools = {Options(i)};
      if (i % 4 != 0) pools.push_back(Options(i + 1));
      EXPECT_TRUE(manager.Apply(std::move(pools), {}).ok());
      manager.SetTargetGroups("j0", "file", {{"f", {}, {{{"__address__", "f:1"}}}}});
    }
    done = true;
  });
  std::thread viewer([&] {
    while (!done) {
      for (const ActiveTarget& target : manager.ActiveTargets()) {
        EXPECT_NE(target.health, TargetHealth::kDown) << target.last_error;
      }
      manager.Metadata();
      manager.DroppedTargetCounts();
      registry.Collect();
    }
  });
  // Time goes on until the manager has stopped, which may wait for a task that waits for its time.
  std::atomic<bool> stopped{false};
  std::thread driver([&] {
    while (!stopped) scheduler.AdvanceMs(100);
  });
  reloader.join();
  viewer.join();
  // However fast the reloads were, what they left is scraped.
  while (storage.num_samples == 0) std::this_thread::yield();
  manager.Stop();
  stopped = true;
  driver.join();
  scheduler.AdvanceMs(10'000);
  pool.Stop();
  EXPECT_GT(storage.num_samples, 0u);
  EXPECT_GT(storage.num_series, 0u);
}

}  // namespace
}  // namespace narthex::scrape
