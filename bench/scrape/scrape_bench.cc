// A steady scrape: one target, the same series every time, from body to appender. The storage only
// counts, so the figure is reading, cache lookups and bookkeeping.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "narthex/base/check.h"
#include "narthex/base/log.h"
#include "narthex/scrape/manager.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_scheduler.h"

namespace narthex::scrape {
namespace {

class CountingStorage final : public model::Appendable {
 public:
  class Batch final : public model::Appender {
   public:
    explicit Batch(CountingStorage* storage) : storage_(storage) {}
    absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label> /*labels*/) override {
      return ++storage_->num_series;
    }
    void AppendFloats(std::span<const model::FloatSample> samples,
                      std::span<model::AppendOutcome> outcomes) override {
      storage_->num_samples += samples.size();
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
    absl::Status Commit() override { return absl::OkStatus(); }
    void Rollback() override {}

   private:
    CountingStorage* const storage_;
  };

  std::unique_ptr<model::Appender> NewAppender() override { return std::make_unique<Batch>(this); }

  uint64_t num_series = 0;
  uint64_t num_samples = 0;
};

std::string Body(int64_t num_series) {
  std::string body;
  for (int64_t i = 0; i < num_series; ++i) {
    if (i % 20 == 0) {
      const std::string family = "http_requests_" + std::to_string(i / 20) + "_total";
      body += "# HELP " + family + " Requests served.\n# TYPE " + family + " counter\n";
    }
    body += "http_requests_" + std::to_string(i / 20) + "_total{code=\"" +
            std::to_string(200 + i % 20) + "\",method=\"get\",path=\"/api/v1/query\"} " +
            std::to_string(1'000'000 + i * 37) + "\n";
  }
  return body;
}

void BM_SteadyScrape(benchmark::State& state) {
  constexpr int64_t kIntervalMs = 15'000;
  support::ManualClock clock(1'700'000'000'000);
  support::ManualScheduler scheduler(&clock);
  support::FakeHttpClient http;
  CountingStorage storage;
  base::Registry registry(&clock);
  const std::string body = Body(state.range(0));
  http.SetHandler([&](const net::FetchRequest&) -> absl::StatusOr<net::FetchResponse> {
    return net::FetchResponse{200, "OK", {{"Content-Type", "text/plain; version=0.0.4"}}, body};
  });
  Manager manager({&clock, &scheduler, &http,
                   [](std::function<void()> task) {
                     task();
                     return true;
                   },
                   &storage, &registry, &base::NullLogger(), &base::PosixFs()},
                  {});
  PoolOptions options;
  options.job_name = "j";
  options.scrape_interval_ms = kIntervalMs;
  options.static_groups = {{"static", {}, {{{"__address__", "h:1"}}}}};
  NX_CHECK(manager.Apply({options}, {}).ok());
  scheduler.AdvanceMs(kIntervalMs);
  const auto num_samples = static_cast<uint64_t>(state.range(0)) + 5;  // And the report's.
  NX_CHECK_EQ(storage.num_series, num_samples);
  uint64_t num_scrapes = 1;
  for (auto _ : state) {
    scheduler.AdvanceMs(kIntervalMs);
    ++num_scrapes;
  }
  NX_CHECK_EQ(storage.num_samples, num_samples * num_scrapes);
  NX_CHECK_EQ(storage.num_series, num_samples);
  http.Stop();
  manager.Stop();
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_SteadyScrape)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace narthex::scrape

BENCHMARK_MAIN();
