// Bytes per active series of the head: by its own accounting, part by part, and by the growth of
// a process of its own. Answers are checked by reading series back. With a log and head chunk files
// in a temporary directory, so that only open chunks are in memory.
//
//   head_memory_bench [targets = 400]
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

#include "bench/head/node_exporter.h"
#include "narthex/base/check.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/head/head.h"

namespace narthex::bench {
namespace {

constexpr int64_t kStart = 1'700'006'400'000;
constexpr int64_t kInterval = 15'000;

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void Print(const char* what, const head::MemoryBreakdown& memory, uint64_t resident,
           uint64_t num_series) {
  const auto per = [&](uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(num_series);
  };
  std::printf(
      "%-24s all %7.1f  resident %7.1f | symbols %5.1f  labels %5.1f  table %5.1f  postings %5.1f"
      "  state %5.1f  times %5.1f  values %6.1f  histograms %7.1f  sealed %6.1f\n",
      what, per(memory.Total()), per(resident), per(memory.symbols), per(memory.label_sets),
      per(memory.series_table), per(memory.postings), per(memory.series_state),
      per(memory.timestamps), per(memory.values), per(memory.histograms),
      per(memory.sealed_chunks));
  std::fflush(stdout);
}

std::string Directory() {
  return std::filesystem::temp_directory_path() / "narthex_head_memory_bench";
}

// With a log and head chunk files, in a fresh directory.
std::unique_ptr<head::Head> OpenHead() {
  std::filesystem::remove_all(Directory());
  head::HeadOptions options;
  options.wal_directory = Directory() + "/wal";
  options.chunks_directory = Directory() + "/chunks_head";
  auto head = head::Head::Open(options,
                               {.clock = &base::SystemClock(),
                                .fs = &base::PosixFs(),
                                .logger = &base::NullLogger(),
                                .registry = nullptr},
                               nullptr);
  NX_CHECK(head.ok());
  return std::move(head).value();
}

// Series of a target under its instance and job.
std::vector<std::pair<std::string, std::string>> WithTarget(
    std::vector<std::pair<std::string, std::string>> labels, uint64_t target) {
  labels.emplace_back("instance", "10.0." + std::to_string(target / 250) + "." +
                                      std::to_string(target % 250) + ":9100");
  labels.emplace_back("job", "node");
  std::sort(labels.begin(), labels.end());
  return labels;
}

model::SeriesRef Resolve(model::Appender* appender,
                         const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<model::Label> labels;
  for (const auto& [name, value] : pairs) labels.push_back({name, value});
  auto ref = appender->Resolve(labels);
  NX_CHECK(ref.ok());
  return *ref;
}

int64_t TimeOf(uint64_t target, uint64_t scrape) {
  return kStart + static_cast<int64_t>(scrape) * kInterval +
         static_cast<int64_t>(Mix(target) % kInterval) +
         static_cast<int64_t>(Mix(target * 7919 + scrape) % 11) - 5;
}

void CheckFloats(const head::Head& head, const std::vector<double>& last, uint64_t num_samples) {
  auto querier = head.NewQuerier({INT64_MIN, INT64_MAX});
  model::SelectHints hints;
  hints.range = {INT64_MIN, INT64_MAX};
  auto selection = (*querier)->Select({}, hints);
  NX_CHECK_EQ((*selection)->size(), last.size());
  auto cursor = (*selection)->NewCursor(model::HistogramDetail::kFull);
  for (size_t i = 0; i < last.size(); i += 97) {
    cursor->Seek(i, hints.range);
    uint64_t found = 0;
    double newest = 0;
    while (cursor->Next()) {
      found += cursor->batch().times_ms.size();
      newest = cursor->batch().values.back();
    }
    NX_CHECK_EQ(found, num_samples);
    NX_CHECK_EQ(newest, last[i]);
  }
}

void Floats(uint64_t num_targets) {
  const std::vector<MadeSeries> made = NodeExporterSeries();
  const uint64_t num_series = num_targets * made.size();
  // What the benchmark itself needs, touched before the measurement begins.
  std::vector<double> last(num_series, 1);
  std::vector<model::SeriesRef> refs(num_series, 1);
  std::vector<model::FloatSample> samples(made.size());
  std::vector<model::AppendOutcome> outcomes(made.size());
  const uint64_t resident_before = ResidentBytes();
  auto head = OpenHead();
  for (uint64_t scrape = 0; scrape < 125; ++scrape) {
    for (uint64_t target = 0; target < num_targets; ++target) {
      auto appender = head->NewAppender();
      for (uint64_t i = 0; i < made.size(); ++i) {
        const uint64_t index = target * made.size() + i;
        if (scrape == 0) {
          refs[index] = Resolve(appender.get(), WithTarget(made[i].labels, target));
        }
        last[index] = NextValue(made[i].shape, target, i, scrape, scrape == 0 ? 0 : last[index]);
        samples[i] = {refs[index], TimeOf(target, scrape), last[index]};
      }
      appender->AppendFloats(samples, outcomes);
      for (const model::AppendOutcome outcome : outcomes) NX_CHECK(model::IsStored(outcome));
      NX_CHECK(appender->Commit().ok());
    }
    if (scrape == 0 || scrape == 59 || scrape == 118 || scrape == 124) {
      char what[64];
      std::snprintf(what, sizeof what, "floats, %" PRIu64 " samples", scrape + 1);
      Print(what, head->Memory(), ResidentBytes() - resident_before, num_series);
      CheckFloats(*head, last, scrape + 1);
    }
  }
}

// Nine tenths of the targets end, and a block is written: what comes back.
void Churn(uint64_t num_targets) {
  const std::vector<MadeSeries> made = NodeExporterSeries();
  std::vector<model::FloatSample> samples(made.size());
  std::vector<model::AppendOutcome> outcomes(made.size());
  std::vector<double> last(num_targets * made.size(), 1);
  std::vector<model::SeriesRef> refs(last.size(), 1);
  const uint64_t resident_before = ResidentBytes();
  auto head = OpenHead();
  const auto scrapes = [&](uint64_t first_scrape, uint64_t last_scrape, uint64_t targets) {
    for (uint64_t scrape = first_scrape; scrape < last_scrape; ++scrape) {
      for (uint64_t target = 0; target < targets; ++target) {
        auto appender = head->NewAppender();
        for (uint64_t i = 0; i < made.size(); ++i) {
          const uint64_t index = target * made.size() + i;
          if (scrape == 0) {
            refs[index] = Resolve(appender.get(), WithTarget(made[i].labels, target));
          }
          last[index] = NextValue(made[i].shape, target, i, scrape, scrape == 0 ? 0 : last[index]);
          samples[i] = {refs[index], TimeOf(target, scrape), last[index]};
        }
        appender->AppendFloats(samples, outcomes);
        for (const model::AppendOutcome outcome : outcomes) NX_CHECK(model::IsStored(outcome));
        NX_CHECK(appender->Commit().ok());
      }
    }
  };
  scrapes(0, 60, num_targets);
  Print("floats before truncation", head->Memory(), ResidentBytes() - resident_before, last.size());
  scrapes(60, 64, num_targets / 10);
  NX_CHECK(head->Truncate(kStart + 61 * kInterval).ok());
  NX_CHECK_EQ(head->Stats(1).num_series, num_targets / 10 * made.size());
  malloc_trim(0);
  Print("... after, a tenth left", head->Memory(), ResidentBytes() - resident_before, last.size());
}

// `observations` a scrape over a bell of buckets of which about `width` are populated.
void Histograms(const char* name, uint64_t num_series, uint64_t width, uint64_t observations) {
  struct State {
    std::vector<int64_t> buckets;
    double sum = 0;
  };
  std::vector<State> states(num_series);
  for (State& state : states) state.buckets.assign(width, 1);
  model::HistogramLayout layout;
  layout.schema = 3;
  layout.zero_threshold = 2.938735877055719e-39;
  layout.positive_spans = {{-20, static_cast<uint32_t>(width)}};
  const auto shared = std::make_shared<const model::HistogramLayout>(layout);
  const uint64_t resident_before = ResidentBytes();
  auto head = OpenHead();
  std::vector<model::SeriesRef> refs(num_series);
  for (uint64_t scrape = 0; scrape < 120; ++scrape) {
    for (uint64_t first = 0; first < num_series; first += 100) {
      auto appender = head->NewAppender();
      for (uint64_t i = first; i < std::min(first + 100, num_series); ++i) {
        State& state = states[i];
        const uint64_t roll = Mix(i * 131 + scrape);
        for (uint64_t k = 0; k < observations; ++k) {
          const uint64_t at = Mix(roll + k);
          // The sum of three dice is bell enough.
          const uint64_t bucket = (at % width + at / 64 % width + at / 4096 % width) / 3;
          ++state.buckets[bucket];
          state.sum +=
              0.001 * static_cast<double>(bucket + 1) + 1e-6 * static_cast<double>(at % 997);
        }
        model::Histogram h;
        h.layout = shared;
        h.buckets = state.buckets;
        for (const int64_t bucket : h.buckets) h.count += static_cast<uint64_t>(bucket);
        h.sum = state.sum;
        if (scrape == 0) {
          refs[i] =
              Resolve(appender.get(), WithTarget({{"__name__", "request_seconds"},
                                                  {"handler", "/api/" + std::to_string(i % 100)}},
                                                 i / 100));
        }
        NX_CHECK(model::IsStored(appender->AppendHistogram(refs[i], TimeOf(first, scrape), h)));
      }
      NX_CHECK(appender->Commit().ok());
    }
    if (scrape == 0 || scrape == 59 || scrape == 119) {
      char what[64];
      std::snprintf(what, sizeof what, "%s, %" PRIu64 " samples", name, scrape + 1);
      Print(what, head->Memory(), ResidentBytes() - resident_before, num_series);
    }
  }
  auto querier = head->NewQuerier({INT64_MIN, INT64_MAX});
  model::SelectHints hints;
  hints.range = {INT64_MIN, INT64_MAX};
  auto selection = (*querier)->Select({}, hints);
  NX_CHECK_EQ((*selection)->size(), num_series);
  auto cursor = (*selection)->NewCursor(model::HistogramDetail::kFull);
  for (size_t i = 0; i < num_series; i += 97) {
    cursor->Seek(i, hints.range);
    size_t found = 0;
    double sum = 0;
    while (cursor->Next()) {
      found += cursor->batch().times_ms.size();
      sum = cursor->batch().sums.back();
    }
    NX_CHECK_EQ(found, size_t{120});
    NX_CHECK_EQ(sum, states[i].sum);
  }
}

// Runs a scenario in a process of its own, whose resident memory is only its.
void InChild(const std::function<void()>& scenario) {
  std::fflush(stdout);
  const pid_t child = fork();
  NX_CHECK_GE(child, 0);
  if (child == 0) {
    scenario();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  NX_CHECK_EQ(waitpid(child, &status, 0), child);
  NX_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace narthex::bench

int main(int argc, char** argv) {
  using narthex::bench::Floats;
  using narthex::bench::Histograms;
  using narthex::bench::InChild;
  const uint64_t targets = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  std::printf(
      "bytes per series; each scenario in a process of its own\n"
      "floors: float series with 60 samples <= 150 in all; open histogram series of 60 buckets\n"
      "        <= 1750, a quarter of Prometheus's 7,000; hoped for: 1,000\n");
  InChild([&] { Floats(targets); });
  InChild([] { Histograms("histograms, 14 buckets", 20'000, 14, 10); });
  InChild([] { Histograms("histograms, 60 buckets", 10'000, 60, 150); });
  InChild([&] { narthex::bench::Churn(targets); });
  return 0;
}
