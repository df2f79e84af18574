// What the evaluator costs beyond the storage: queries over 50,000 series whose samples are
// computed as they are read. Prints milliseconds (best of several runs) and nanoseconds per sample
// that a query looks at, counted as Prometheus counts them. Every answer is checked.
//
//   build/release/promql_engine_bench [runs]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/promql/formula_storage.h"
#include "narthex/base/cancellation.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/db/database.h"
#include "narthex/promql/engine.h"

namespace narthex::bench {
namespace {

constexpr size_t kNumSamples = 480;  // Two hours.

// 10 jobs x 100 instances x 50 paths of counters; 10 x 100 classic histograms of 12 buckets;
// 1,000 native histograms of 60 buckets.
std::vector<FormulaSeries> MakeSeries() {
  std::vector<FormulaSeries> all;
  for (int job = 0; job < 10; ++job) {
    for (int instance = 0; instance < 100; ++instance) {
      const std::string job_text = "job" + std::to_string(job);
      const std::string instance_text = "10.0.0." + std::to_string(instance) + ":9100";
      for (int path = 0; path < 50; ++path) {
        all.push_back({.labels = {{"__name__", "requests_total"},
                                  {"instance", instance_text},
                                  {"job", job_text},
                                  {"path", "/api/v1/" + std::to_string(path)}}});
      }
      for (int bucket = 0; bucket < 12; ++bucket) {
        const std::string le = bucket == 11 ? "+Inf" : std::to_string(1 << bucket);
        all.push_back({.labels = {{"__name__", "latency_bucket"},
                                  {"instance", instance_text},
                                  {"job", job_text},
                                  {"le", le}},
                       .slope = 1.0 + bucket});
      }
      all.push_back(
          {.labels = {{"__name__", "native"}, {"instance", instance_text}, {"job", job_text}},
           .is_histogram = true});
    }
  }
  return all;
}

struct Case {
  const char* text;
  int64_t step_ms;    // 0: instant, at two hours; else over the last hour.
  size_t num_series;  // Of the answer.
  double value;       // Of the first series' last point; of a histogram its count.
};

constexpr int64_t kEnd = static_cast<int64_t>(kNumSamples - 1) * FormulaStorage::kStepMs;
constexpr double kLast = kNumSamples - 1;

constexpr Case kCases[] = {
    {"requests_total", 0, 50'000, kLast},
    {"sum(requests_total)", 0, 1, 50'000 * kLast},
    {"sum by (job) (rate(requests_total[5m]))", 0, 10, 5000.0 / 15},
    {"topk(10, requests_total)", 0, 10, kLast},
    {"sum(requests_total)", 15'000, 1, 50'000 * kLast},
    {"sum by (job) (requests_total)", 60'000, 10, 5000 * kLast},
    {"sum by (job) (rate(requests_total[5m]))", 15'000, 10, 5000.0 / 15},
    {"sum by (job) (rate(requests_total[5m]))", 60'000, 10, 5000.0 / 15},
    {"max by (instance) (max_over_time(requests_total[10m]))", 60'000, 100, kLast},
    {"avg(requests_total)", 60'000, 1, kLast},
    {"quantile by (job) (0.9, requests_total)", 60'000, 10, kLast},
    {"requests_total / requests_total", 60'000, 50'000, 1},
    {"requests_total / on (instance, job) group_left () max by (instance, job) (requests_total)",
     60'000, 50'000, 1},
    {"requests_total > 1e9", 60'000, 0, 0},
    {"histogram_quantile(0.5, sum by (le, job) (rate(latency_bucket[5m])))", 60'000, 10, 32},
    {"histogram_quantile(0.5, rate(latency_bucket[5m]))", 60'000, 1000, 32},
    {"histogram_count(sum(rate(native[5m])))", 60'000, 1, 1000.0 * 60 / 15},
    {"sum by (job) (native)", 60'000, 10, 100 * 60 * kLast},
};

// The series' references, in order; empty on an error.
std::vector<model::SeriesRef> ResolveAll(const std::vector<FormulaSeries>& all,
                                         model::Appender* appender) {
  std::vector<model::SeriesRef> refs;
  for (const FormulaSeries& series : all) {
    std::vector<model::Label> labels;
    for (const auto& [name, value] : series.labels) labels.push_back({name, value});
    const auto ref = appender->Resolve(labels);
    if (!ref.ok()) return {};
    refs.push_back(*ref);
  }
  return refs;
}

// The same samples as the formula storage gives, appended scrape by scrape. False on an error.
bool Load(const std::vector<FormulaSeries>& all, db::Database* database) {
  std::unique_ptr<model::Appender> appender = database->NewAppender();
  const std::vector<model::SeriesRef> refs = ResolveAll(all, appender.get());
  if (refs.empty()) return false;
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->positive_spans = {{-20, FormulaStorage::kBuckets}};
  std::vector<model::FloatSample> samples;
  std::vector<model::AppendOutcome> outcomes;
  for (size_t i = 0; i < kNumSamples; ++i) {
    if (appender == nullptr) appender = database->NewAppender();
    const int64_t time_ms = static_cast<int64_t>(i) * FormulaStorage::kStepMs;
    samples.clear();
    for (size_t k = 0; k < all.size(); ++k) {
      const double value = all[k].slope * static_cast<double>(i);
      if (!all[k].is_histogram) {
        samples.push_back({refs[k], time_ms, value});
        continue;
      }
      model::Histogram histogram;
      histogram.layout = layout;
      histogram.buckets.assign(FormulaStorage::kBuckets, static_cast<int64_t>(i));
      histogram.count = FormulaStorage::kBuckets * i;
      histogram.sum = value;
      if (!model::IsStored(appender->AppendHistogram(refs[k], time_ms, histogram))) return false;
    }
    outcomes.resize(samples.size());
    appender->AppendFloats(samples, outcomes);
    if (!std::ranges::all_of(outcomes, model::IsStored) || !appender->Commit().ok()) return false;
    appender.reset();
  }
  return true;
}

double LastValue(const promql::ResultSeries& series) {
  if (!series.floats.empty()) return series.floats.back().value;
  return series.histograms.back().histogram->count;
}

bool Check(const Case& one, const promql::QueryResult& result) {
  if (result.series.size() != one.num_series) {
    std::printf("%s: %zu series, expected %zu\n", one.text, result.series.size(), one.num_series);
    return false;
  }
  if (result.series.empty()) return true;
  const double value = LastValue(result.series[0]);
  if (std::abs(value - one.value) <= 1e-9 * std::abs(one.value)) return true;
  std::printf("%s: %.17g, expected %.17g\n", one.text, value, one.value);
  return false;
}

bool Measure(const Case& one, const model::Queryable& storage, int num_runs) {
  promql::QuerySpec spec;
  spec.text = one.text;
  spec.end_ms = kEnd;
  spec.step_ms = one.step_ms;
  // So that the last step is the end whatever the step.
  spec.start_ms = one.step_ms == 0 ? kEnd : kEnd - 3'600'000;
  const promql::Engine engine{promql::EngineOptions()};
  const base::Cancellation cancellation(&base::SystemClock());
  double best_ms = 1e300;
  uint64_t samples = 0, bytes = 0;
  for (int run = 0; run < num_runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = engine.Run(spec, storage, cancellation);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!result.ok()) {
      std::printf("%s: %s\n", one.text, result.status().ToString().c_str());
      return false;
    }
    if (!Check(one, *result)) return false;
    best_ms = std::min(best_ms, took.count());
    samples = result->stats.samples_read;
    bytes = result->stats.peak_bytes;
  }
  std::printf("%9.1f ms %8.2f ns/sample %10.1f KiB  %-5s %s\n", best_ms,
              samples == 0 ? 0 : best_ms * 1e6 / static_cast<double>(samples),
              static_cast<double>(bytes) / 1024,
              one.step_ms == 0 ? "-" : (std::to_string(one.step_ms / 1000) + "s").c_str(),
              one.text);
  return true;
}

bool MeasureAll(const model::Queryable& storage, int num_runs) {
  bool all_right = true;
  for (const Case& one : kCases) all_right = Measure(one, storage, num_runs) && all_right;
  return all_right;
}

bool MeasureDatabase(int num_runs) {
  const db::DatabaseContext context{&base::SystemClock(), &base::PosixFs(), &base::NullLogger(),
                                    nullptr};
  auto database = db::Database::Open(db::DatabaseOptions(), context);
  if (!database.ok() || !Load(MakeSeries(), database->get())) {
    std::printf("the database cannot be filled\n");
    return false;
  }
  const bool all_right = MeasureAll(**database, num_runs);
  return (*database)->Close().ok() && all_right;
}

}  // namespace
}  // namespace narthex::bench

int main(int argc, char** argv) {
  const int num_runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  std::printf("computed samples\n");
  bool all_right = narthex::bench::MeasureAll(
      narthex::bench::FormulaStorage(narthex::bench::MakeSeries(), narthex::bench::kNumSamples),
      num_runs);
  std::printf("database in memory\n");
  all_right = narthex::bench::MeasureDatabase(num_runs) && all_right;
  return all_right ? 0 : 1;
}
