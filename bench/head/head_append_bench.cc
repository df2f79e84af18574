// Time per sample of the head on one core: scrapes of many targets whose series are known, without
// and with a write-ahead log in a real directory; and bringing a head back from its log. Every run
// checks what it stored. 400 targets of 549 series each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/head/node_exporter.h"
#include "narthex/base/check.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/head/head.h"

namespace narthex::bench {
namespace {

constexpr uint64_t kNumTargets = 400;
constexpr int64_t kStart = 1'700'006'400'000;
constexpr int64_t kInterval = 15'000;

std::string Directory() {
  return std::filesystem::temp_directory_path() / "narthex_head_append_bench";
}

std::unique_ptr<head::Head> OpenHead(const head::HeadOptions& options) {
  auto head = head::Head::Open(options,
                               {.clock = &base::SystemClock(),
                                .fs = &base::PosixFs(),
                                .logger = &base::NullLogger(),
                                .registry = nullptr},
                               nullptr);
  NX_CHECK(head.ok());
  return std::move(head).value();
}

// The targets and their next scrape.
class Fleet {
 public:
  Fleet() : series_(NodeExporterSeries()), values_(kNumTargets * series_.size()) {
    samples_.resize(values_.size());
    outcomes_.resize(series_.size());
  }

  void Resolve(head::Head* head) {
    for (uint64_t target = 0; target < kNumTargets; ++target) {
      auto appender = head->NewAppender();
      for (uint64_t i = 0; i < series_.size(); ++i) {
        std::vector<std::pair<std::string, std::string>> pairs = series_[i].labels;
        pairs.emplace_back("instance", "10.0.0." + std::to_string(target) + ":9100");
        pairs.emplace_back("job", "node");
        std::sort(pairs.begin(), pairs.end());
        std::vector<model::Label> labels;
        for (const auto& [name, value] : pairs) labels.push_back({name, value});
        auto ref = appender->Resolve(labels);
        NX_CHECK(ref.ok());
        samples_[target * series_.size() + i].ref = *ref;
      }
    }
  }

  // Makes the values of the next scrape.
  void Prepare() {
    for (uint64_t target = 0; target < kNumTargets; ++target) {
      const int64_t time_ms = kStart + static_cast<int64_t>(scrape_) * kInterval +
                              static_cast<int64_t>(Mix(target) % kInterval) +
                              static_cast<int64_t>(Mix(target * 7919 + scrape_) % 11) - 5;
      for (uint64_t i = 0; i < series_.size(); ++i) {
        const uint64_t index = target * series_.size() + i;
        values_[index] = NextValue(series_[i].shape, target, i, scrape_, values_[index]);
        samples_[index].time_ms = time_ms;
        samples_[index].value = values_[index];
      }
    }
    ++scrape_;
  }

  // Appends it, a batch per target.
  void Append(head::Head* head) {
    for (uint64_t target = 0; target < kNumTargets; ++target) {
      auto appender = head->NewAppender();
      appender->AppendFloats(std::span(samples_).subspan(target * series_.size(), series_.size()),
                             outcomes_);
      for (const model::AppendOutcome outcome : outcomes_) NX_CHECK(model::IsStored(outcome));
      NX_CHECK(appender->Commit().ok());
    }
  }

  void Check(const head::Head& head) const {
    auto querier = head.NewQuerier({INT64_MIN, INT64_MAX});
    model::SelectHints hints;
    hints.range = {INT64_MIN, INT64_MAX};
    auto selection = (*querier)->Select({}, hints);
    NX_CHECK_EQ((*selection)->size(), values_.size());
    auto cursor = (*selection)->NewCursor(model::HistogramDetail::kFull);
    for (size_t i = 0; i < values_.size(); i += 997) {
      cursor->Seek(i, hints.range);
      uint64_t found = 0;
      double newest = 0;
      while (cursor->Next()) {
        found += cursor->batch().times_ms.size();
        newest = cursor->batch().values.back();
      }
      NX_CHECK_EQ(found, scrape_);
      NX_CHECK_EQ(newest, values_[i]);
    }
  }

  uint64_t num_series() const { return values_.size(); }
  uint64_t num_samples() const { return scrape_ * values_.size(); }

 private:
  const std::vector<MadeSeries> series_;
  std::vector<double> values_;
  std::vector<model::FloatSample> samples_;
  std::vector<model::AppendOutcome> outcomes_;
  uint64_t scrape_ = 0;
};

void Report(benchmark::State& state, uint64_t num_samples) {
  const auto samples = static_cast<double>(num_samples);
  state.counters["ns/sample"] =
      benchmark::Counter(samples / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["samples/s"] = benchmark::Counter(samples, benchmark::Counter::kIsRate);
}

head::HeadOptions WithLog(disk::WalCompression compression) {
  std::filesystem::remove_all(Directory());
  head::HeadOptions options;
  options.wal_directory = Directory();
  options.wal_compression = compression;
  return options;
}

void Append(benchmark::State& state, const head::HeadOptions& options) {
  Fleet fleet;
  auto head = OpenHead(options);
  fleet.Resolve(head.get());
  // The first scrape logs the series too.
  fleet.Prepare();
  fleet.Append(head.get());
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    fleet.Prepare();
    state.ResumeTiming();
    fleet.Append(head.get());
  }
  fleet.Check(*head);
  Report(state, fleet.num_samples() - fleet.num_series());
  std::filesystem::remove_all(Directory());
}

void BM_AppendWithoutLog(benchmark::State& state) { Append(state, {}); }
// 125 scrapes: one chunk of each series is cut.
BENCHMARK(BM_AppendWithoutLog)->Iterations(125)->Unit(benchmark::kMillisecond);

void BM_AppendWithLog(benchmark::State& state) {
  Append(state, WithLog(static_cast<disk::WalCompression>(state.range(0))));
}
BENCHMARK(BM_AppendWithLog)
    ->ArgName("compression")
    ->Arg(static_cast<int64_t>(disk::WalCompression::kSnappy))
    ->Arg(static_cast<int64_t>(disk::WalCompression::kNone))
    ->Arg(static_cast<int64_t>(disk::WalCompression::kZstd))
    ->Iterations(125)
    ->Unit(benchmark::kMillisecond);

void BM_Replay(benchmark::State& state) {
  const head::HeadOptions options = WithLog(disk::WalCompression::kSnappy);
  Fleet fleet;
  {
    auto head = OpenHead(options);
    fleet.Resolve(head.get());
    for (int scrape = 0; scrape < 125; ++scrape) {
      fleet.Prepare();
      fleet.Append(head.get());
    }
    NX_CHECK(head->Close().ok());
  }
  for ([[maybe_unused]] auto _ : state) {
    auto head = OpenHead(options);
    state.PauseTiming();
    fleet.Check(*head);
    NX_CHECK(head->Close().ok());
    head.reset();
    state.ResumeTiming();
  }
  Report(state, fleet.num_samples() * static_cast<uint64_t>(state.iterations()));
  std::filesystem::remove_all(Directory());
}
BENCHMARK(BM_Replay)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace narthex::bench

BENCHMARK_MAIN();
