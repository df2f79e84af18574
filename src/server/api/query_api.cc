#include "server/api/query_api.h"

#include <algorithm>
#include <limits>

#include "narthex/base/cancellation.h"
#include "narthex/base/status.h"

namespace narthex::server {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr double kSecondsPerNs = 1e-9;
constexpr int64_t kMaxPoints = 11'000;

base::SummaryOptions SliceSummary() { return {}; }
base::HistogramOptions SliceHistogram() {
  return {.bounds = {.01, .1, 1, 10}, .native = true, .max_buckets = 100};
}

// A parse error belongs to the parameter; everything else stands for itself.
absl::Status QueryError(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  return BadParameter("query", base::Message(status));
}

}  // namespace

struct QueryApi::Metrics {
  explicit Metrics(base::Registry* registry) {
    running = registry->AddGauge("prometheus_engine_queries",
                                 "The current number of queries being executed or waiting.");
    concurrent_max = registry->AddGauge("prometheus_engine_queries_concurrent_max",
                                        "The max number of concurrent queries.");
    samples = registry->AddCounter("prometheus_engine_query_samples_total",
                                   "The total number of samples loaded by all queries.");
    samples_read = registry->AddCounter("prometheus_engine_query_samples_read_total",
                                        "The total number of samples read by all queries.");
    summary = registry->AddSummaryFamily("prometheus_engine_query_duration_seconds",
                                         "Query timings", {"slice"}, SliceSummary());
    histogram = registry->AddHistogramFamily("prometheus_engine_query_duration_histogram_seconds",
                                             "Query timings", {"slice"}, SliceHistogram());
    for (const char* slice : {"queue_time", "prepare_time", "inner_eval", "result_sort"}) {
      summary->With({slice});
      histogram->With({slice});
    }
  }

  void Observe(const char* slice, double seconds) const {
    summary->With({slice})->Observe(seconds);
    histogram->With({slice})->Observe(seconds);
  }

  base::Gauge* running;
  base::Gauge* concurrent_max;
  base::Counter* samples;
  base::Counter* samples_read;
  base::Family<base::Summary>* summary;
  base::Family<base::Histogram>* histogram;
};

struct QueryApi::Job {
  Job(const base::Clock* clock, int64_t deadline_ns, Writer response_writer)
      : cancellation(std::make_shared<base::Cancellation>(clock, deadline_ns)),
        writer(std::move(response_writer)) {}

  promql::QuerySpec spec;
  size_t limit = 0;
  WithStats with_stats = WithStats::kNo;
  std::vector<std::string> warnings;
  int64_t queued_ns = 0;
  // Shared with the connection, which may outlive the query.
  std::shared_ptr<base::Cancellation> cancellation;
  Writer writer;
};

QueryApi::QueryApi(QueryApiOptions options, const promql::Engine* engine,
                   const model::Queryable* queryable, const base::Clock* clock,
                   base::Registry* registry)
    : options_(options),
      engine_(engine),
      queryable_(queryable),
      clock_(clock),
      metrics_(std::make_unique<Metrics>(registry)),
      pool_(std::make_unique<base::ThreadPool>("query", options.max_concurrency,
                                               options.max_queued)) {
  metrics_->concurrent_max->Set(static_cast<double>(options_.max_concurrency));
}

QueryApi::~QueryApi() = default;

void QueryApi::Stop() { pool_->Stop(); }

namespace {

// What both endpoints read: query, timeout, limit, lookback_delta, stats.
struct CommonParams {
  std::string query;
  int64_t timeout_ms = 0;
  size_t limit = 0;
  int64_t lookback_ms = 0;
  WithStats with_stats = WithStats::kNo;
  std::vector<std::string> warnings;
};

absl::StatusOr<CommonParams> ReadCommon(const Params& params, int64_t max_timeout_ms) {
  CommonParams out;
  out.timeout_ms = max_timeout_ms;
  if (!params.Get("timeout").empty()) {
    NX_ASSIGN_OR_RETURN(const int64_t timeout_ms, params.DurationMs("timeout"));
    out.timeout_ms = std::min(out.timeout_ms, timeout_ms);
  }
  if (!params.Get("lookback_delta").empty()) {
    NX_ASSIGN_OR_RETURN(out.lookback_ms, params.DurationMs("lookback_delta"));
    if (out.lookback_ms < 0) {
      return BadParameter("lookback_delta", "lookback_delta must be non-negative");
    }
  }
  const std::string_view stats = params.Get("stats");
  if (!stats.empty()) out.with_stats = WithStats::kYes;
  if (!stats.empty() && stats != "all" && stats != "true") {
    out.warnings.push_back(
        base::StrCat("value \"", stats,
                     "\" for parameter \"stats\" is deprecated and will be rejected in the "
                     "next major release, use \"true\" or \"all\""));
  }
  out.query = params.Get("query");
  return out;
}

absl::StatusOr<promql::QuerySpec> ReadRange(const Params& params) {
  promql::QuerySpec spec;
  NX_ASSIGN_OR_RETURN(spec.start_ms, params.TimeMs("start", std::nullopt));
  NX_ASSIGN_OR_RETURN(spec.end_ms, params.TimeMs("end", std::nullopt));
  if (spec.end_ms < spec.start_ms) {
    return BadParameter("end", "end timestamp must not be before start time");
  }
  NX_ASSIGN_OR_RETURN(spec.step_ms, params.DurationMs("step"));
  if (spec.step_ms <= 0) {
    return BadParameter("step",
                        "zero or negative query resolution step widths are not accepted. Try a "
                        "positive integer");
  }
  // Unsigned: the widest range does not fit into a signed number.
  const uint64_t width = static_cast<uint64_t>(spec.end_ms) - static_cast<uint64_t>(spec.start_ms);
  if (width / static_cast<uint64_t>(spec.step_ms) > kMaxPoints) {
    return base::InvalidArgument(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query "
        "resolution (?step=XX)");
  }
  return spec;
}

}  // namespace

void QueryApi::Instant(const Params& params, Writer writer) {
  const auto limit = params.Limit("limit");
  if (!limit.ok()) return SendError(writer, limit.status());
  const auto time_ms = params.TimeMs("time", clock_->NowMs());
  if (!time_ms.ok()) return SendError(writer, time_ms.status());
  auto common = ReadCommon(params, options_.timeout_ms);
  if (!common.ok()) return SendError(writer, common.status());
  auto job = std::make_shared<Job>(clock_, clock_->MonotonicNs() + common->timeout_ms * kNsPerMs,
                                   std::move(writer));
  job->spec = {.text = std::move(common->query),
               .start_ms = *time_ms,
               .end_ms = *time_ms,
               .step_ms = 0,
               .lookback_ms = common->lookback_ms};
  job->limit = *limit;
  job->with_stats = common->with_stats;
  job->warnings = std::move(common->warnings);
  Enqueue(std::move(job));
}

void QueryApi::Range(const Params& params, Writer writer) {
  const auto limit = params.Limit("limit");
  if (!limit.ok()) return SendError(writer, limit.status());
  const auto range = ReadRange(params);
  if (!range.ok()) return SendError(writer, range.status());
  auto common = ReadCommon(params, options_.timeout_ms);
  if (!common.ok()) return SendError(writer, common.status());
  auto job = std::make_shared<Job>(clock_, clock_->MonotonicNs() + common->timeout_ms * kNsPerMs,
                                   std::move(writer));
  job->spec = *range;
  job->spec.text = std::move(common->query);
  job->spec.lookback_ms = common->lookback_ms;
  job->limit = *limit;
  job->with_stats = common->with_stats;
  job->warnings = std::move(common->warnings);
  Enqueue(std::move(job));
}

void QueryApi::Enqueue(std::shared_ptr<Job> job) {
  job->queued_ns = clock_->MonotonicNs();
  job->writer->OnClientGone([cancellation = job->cancellation] { cancellation->Cancel(); });
  metrics_->running->Add(1);
  Writer writer = job->writer;
  const bool queued = pool_->TrySubmit([this, job] {
    Run(job.get());
    metrics_->running->Add(-1);
  });
  if (queued) return;
  metrics_->running->Add(-1);
  SendError(writer, {503, "timeout"}, "too many queries are waiting in the query queue");
}

void QueryApi::Run(Job* job) {
  const double queue_s =
      static_cast<double>(clock_->MonotonicNs() - job->queued_ns) * kSecondsPerNs;
  metrics_->Observe("queue_time", queue_s);
  if (const absl::Status status = job->cancellation->Check(); !status.ok()) {
    const bool late = status.code() == absl::StatusCode::kDeadlineExceeded;
    return SendError(job->writer,
                     base::MakeStatus(status.code(), late ? "query timed out in query queue"
                                                          : "query was canceled in query queue"));
  }
  auto result = engine_->Run(job->spec, *queryable_, *job->cancellation);
  if (!result.ok()) return SendError(job->writer, QueryError(result.status()));
  result->stats.queue_s = queue_s;
  result->stats.exec_total_s += queue_s;
  metrics_->Observe("prepare_time", result->stats.preparation_s);
  metrics_->Observe("inner_eval", result->stats.inner_eval_s);
  metrics_->Observe("result_sort", result->stats.result_sort_s);
  metrics_->samples->Add(static_cast<double>(result->stats.total_queryable_samples));
  metrics_->samples_read->Add(static_cast<double>(result->stats.samples_read));
  DataResponse response(job->writer);
  const bool truncated = WriteResult(*result, job->limit, job->with_stats, &response);
  std::vector<std::string> warnings = std::move(result->warnings);
  warnings.insert(warnings.end(), job->warnings.begin(), job->warnings.end());
  if (truncated) warnings.push_back("results truncated due to limit");
  response.Finish(warnings, result->infos);
}

}  // namespace narthex::server
