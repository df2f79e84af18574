#include "scrape/loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/codec/exposition/reader.h"
#include "narthex/model/stale.h"

namespace narthex::scrape {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr double kNsPerSecond = 1e9;
// Scrapes this little late count as on time, so that timestamps are evenly spaced; never more than
// a hundredth of the interval.
constexpr int64_t kMaxLatenessMs = 2;
// Samples further ahead than this are out of bounds.
constexpr int64_t kMaxAheadMs = 10 * 60 * 1000;
// How soon a full executor is asked again.
constexpr int64_t kRetryNs = 20 * kNsPerMs;
// Dropped samples are logged this often at most.
constexpr int64_t kLogEveryNs = 60'000 * kNsPerMs;

std::string SecondsText(int64_t duration_ms) {
  std::string text;
  base::AppendFloatFixed(&text, static_cast<double>(duration_ms) / 1000);
  return text;
}

constexpr std::string_view kBodyTooLarge = "body size limit exceeded";

// What is wrong with an answer, before its body is looked at.
absl::Status CheckResponse(const PoolOptions& options,
                           const absl::StatusOr<net::FetchResponse>& response) {
  if (!response.ok()) {
    // The client's errors name method and address.
    if (response.status().code() != absl::StatusCode::kResourceExhausted) return response.status();
    return base::ResourceExhausted(kBodyTooLarge);
  }
  if (response->status != 200) {
    return base::Unavailable("server returned HTTP status ", response->status, " ",
                             response->reason);
  }
  if (options.body_size_limit > 0 && response->body.size() >= options.body_size_limit) {
    return base::ResourceExhausted(kBodyTooLarge);
  }
  return absl::OkStatus();
}

bool IsBodyTooLarge(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         base::Message(status) == kBodyTooLarge;
}

void AppendStaleMarkers(const std::vector<model::SeriesRef>& refs, int64_t time_ms,
                        model::Appender* appender) {
  if (refs.empty()) return;
  std::vector<model::FloatSample> samples;
  samples.reserve(refs.size());
  for (const model::SeriesRef ref : refs) samples.push_back({ref, time_ms, model::StaleNan()});
  std::vector<model::AppendOutcome> outcomes(samples.size());
  // Whatever is refused (newer samples exist, the series is gone) needs no marker.
  appender->AppendFloats(samples, outcomes);
}

codec::ReaderOptions ReaderOptionsOf(const PoolOptions& options, const Target& target,
                                     bool type_and_unit_labels) {
  codec::ReaderOptions reader;
  reader.type_and_unit_labels = type_and_unit_labels;
  reader.native_histograms = target.Flag(kNativeHistogramsLabel, options.scrape_native_histograms);
  reader.classic_with_native =
      target.Flag(kClassicHistogramsLabel, options.always_scrape_classic_histograms);
  reader.convert_classic_to_custom_buckets =
      target.Flag(kConvertHistogramsLabel, options.convert_classic_histograms_to_nhcb);
  return reader;
}

}  // namespace

Loop::Loop(std::shared_ptr<const LoopShared> shared, std::shared_ptr<const PoolConfig> config,
           std::shared_ptr<Target> target)
    : shared_(std::move(shared)),
      target_(std::move(target)),
      interval_length_(shared_->metrics->interval_length->With(
          {base::FormatGoDuration(target_->interval_ms())})),
      interval_length_histogram_(shared_->metrics->interval_length_histogram->With(
          {base::FormatGoDuration(target_->interval_ms())})),
      config_(std::move(config)) {}

void Loop::Start(uint64_t offset_seed) {
  const base::Clock& clock = *shared_->services.clock;
  const int64_t interval_ms = target_->interval_ms();
  // A target has its fixed place in the interval, whenever the server starts.
  const auto offset_ms =
      static_cast<int64_t>((target_->hash() ^ offset_seed) % static_cast<uint64_t>(interval_ms));
  const int64_t position_ms = clock.NowMs() % interval_ms;
  const int64_t wait_ms = (interval_ms - position_ms + offset_ms) % interval_ms;
  base::MutexLock lock(&mutex_);
  next_due_ns_ = clock.MonotonicNs() + wait_ms * kNsPerMs;
  ScheduleTick();
}

void Loop::ScheduleTick() {
  shared_->services.scheduler->RunAt(
      next_due_ns_,
      [self = shared_from_this(), generation = generation_] { self->OnTick(generation); });
}

void Loop::OnTick(uint64_t generation) {
  {
    base::MutexLock lock(&mutex_);
    if (phase_ != Phase::kRunning || generation != generation_) return;
    // Ticks that could not be served in time are left out.
    const int64_t interval_ns = target_->interval_ms() * kNsPerMs;
    const int64_t late_ns = shared_->services.clock->MonotonicNs() - next_due_ns_;
    next_due_ns_ += interval_ns * (1 + std::max<int64_t>(late_ns, 0) / interval_ns);
    ScheduleTick();
    if (busy_) {
      tick_waits_ = true;
      return;
    }
    busy_ = true;
  }
  StartScrape();
}

int64_t Loop::AlignedTime() {
  const int64_t interval_ms = target_->interval_ms();
  const int64_t now_ms = shared_->services.clock->NowMs();
  // A clock that was set back starts a new grid.
  if (aligned_ms_ == 0 || now_ms < aligned_ms_) {
    aligned_ms_ = now_ms;
    return now_ms;
  }
  aligned_ms_ += (now_ms - aligned_ms_) / interval_ms * interval_ms;
  const int64_t max_lateness_ms = std::min(interval_ms / 100, kMaxLatenessMs);
  return now_ms - aligned_ms_ <= max_lateness_ms ? aligned_ms_ : now_ms;
}

void Loop::StartScrape() {
  auto job = std::make_shared<Job>();
  job->gate_pass = shared_->gate->Enter();
  if (job->gate_pass == nullptr) return;
  job->start_ns = shared_->services.clock->MonotonicNs();
  {
    base::MutexLock lock(&mutex_);
    job->config = config_;
    job->forced_error = forced_error_;
    job->series_changed = std::exchange(series_changed_, false);
    job->scrape_ms = AlignedTime();
    if (has_scraped_) {
      const double gap_s = static_cast<double>(job->start_ns - last_start_ns_) / kNsPerSecond;
      interval_length_->Observe(gap_s);
      interval_length_histogram_->Observe(gap_s);
    }
    has_scraped_ = true;
    last_start_ns_ = job->start_ns;
  }
  const auto finish = [self = shared_from_this(), job] {
    self->Dispatch([self, job] { self->FinishScrape(*job); });
  };
  if (!job->forced_error.ok()) {
    finish();
    return;
  }
  shared_->services.http->Fetch(MakeRequest(*job->config), job->config->http,
                                [job, finish](absl::StatusOr<net::FetchResponse> response) {
                                  job->response = std::move(response);
                                  finish();
                                });
}

net::FetchRequest Loop::MakeRequest(const PoolConfig& config) const {
  net::FetchRequest request;
  request.url = target_->url();
  request.headers = {
      {"Accept", config.accept},
      {"Accept-Encoding", config.accept_encoding},
      {"User-Agent", shared_->options.user_agent},
      {"X-Prometheus-Scrape-Timeout-Seconds", SecondsText(target_->timeout_ms())},
  };
  request.timeout_ms = target_->timeout_ms();
  request.max_body_bytes = config.options.body_size_limit;
  request.unix_socket = target_->unix_socket();
  return request;
}

void Loop::Dispatch(std::function<void()> task) {
  if (shared_->services.executor(task)) return;
  {
    base::MutexLock lock(&mutex_);
    if (phase_ == Phase::kHalted) return;
  }
  shared_->services.scheduler->RunAt(
      shared_->services.clock->MonotonicNs() + kRetryNs,
      [self = shared_from_this(), task = std::move(task)] { self->Dispatch(task); });
}

void Loop::FinishScrape(Job& job) {
  {
    base::MutexLock work_lock(&work_mutex_);
    // A server that shuts down cuts scrapes short; that says nothing about the target.
    bool is_cut_short =
        job.forced_error.ok() && job.response.status().code() == absl::StatusCode::kCancelled;
    {
      base::MutexLock lock(&mutex_);
      is_cut_short |= phase_ == Phase::kHalted;
    }
    if (!is_cut_short) Scrape(job);
  }
  job.gate_pass.reset();
  FreeForNext();
}

void Loop::FreeForNext() {
  {
    base::MutexLock lock(&mutex_);
    busy_ = false;
    if (!std::exchange(tick_waits_, false) || phase_ != Phase::kRunning) return;
    busy_ = true;
  }
  StartScrape();
}

absl::Status Loop::AppendBody(const Job& job, std::unique_ptr<model::Appender>* appender,
                              ScrapeCounts* counts) {
  const net::FetchResponse& response = *job.response;
  // An empty body is a target without series, whatever its type.
  if (response.body.empty()) return absl::OkStatus();
  NX_ASSIGN_OR_RETURN(const codec::ExpositionFormat format,
                      codec::FormatOfContentType(net::FindHeader(response.headers, "Content-Type"),
                                                 job.config->fallback));
  const std::unique_ptr<codec::ExpositionReader> reader = codec::NewExpositionReader(
      format, response.body,
      ReaderOptionsOf(job.config->options, *target_, shared_->options.type_and_unit_labels));
  BodyAppender body(
      {*job.config, *target_, cache_, *shared_->metrics, shared_->options.append_metadata},
      appender->get(), job.scrape_ms, shared_->services.clock->NowMs() + kMaxAheadMs);
  const absl::Status status = body.Append(reader.get());
  *counts = body.counts();
  if (status.ok()) return status;
  (*appender)->Rollback();
  *appender = shared_->services.appendable->NewAppender();
  return status;
}

void Loop::Scrape(Job& job) {
  const PoolOptions& options = job.config->options;
  if (job.series_changed) cache_.ForgetKeys();
  ScrapeCounts counts;
  std::unique_ptr<model::Appender> appender = shared_->services.appendable->NewAppender();
  absl::Status status = job.forced_error;
  if (status.ok()) status = CheckResponse(options, job.response);
  const bool has_body = status.ok();
  if (IsBodyTooLarge(status)) shared_->metrics->exceeded_body_size_limit->Add();

  cache_.BeginScrape();
  target_->metadata().BeginScrape();
  if (has_body) status = AppendBody(job, &appender, &counts);
  if (status.ok()) {
    AppendStaleMarkers(cache_.Vanished(), job.scrape_ms, appender.get());
    cache_.EndScrape();
    target_->metadata().EndScrape();
  } else {
    AppendStaleMarkers(cache_.AbandonScrape(), job.scrape_ms, appender.get());
    if (job.forced_error.ok()) LogFailure(job, status);
  }
  const auto seconds_since_start = [&] {
    return static_cast<double>(shared_->services.clock->MonotonicNs() - job.start_ns) /
           kNsPerSecond;
  };
  ReportValues values;
  values.up = status.ok();
  values.duration_s = seconds_since_start();
  values.samples_scraped = static_cast<double>(counts.num_scraped);
  values.samples_after_relabel = static_cast<double>(counts.num_after_relabel);
  values.series_added = static_cast<double>(counts.num_series_added);
  values.timeout_s = static_cast<double>(target_->timeout_ms()) / 1000;
  values.sample_limit = static_cast<double>(options.sample_limit);
  if (has_body) values.body_bytes = static_cast<double>(job.response->body.size());
  if (IsBodyTooLarge(status)) values.body_bytes = -1;
  target_->Report(job.scrape_ms, values.duration_s, status);
  LogDropped(counts);

  absl::Status stored =
      report_.Append(target_->public_labels(), values, options.extra_scrape_metrics,
                     shared_->options.append_metadata, job.scrape_ms, appender.get());
  if (stored.ok()) {
    stored = appender->Commit();
  } else {
    appender->Rollback();
  }
  if (options.extra_scrape_metrics) {
    shared_->metrics->scrape_duration->Observe(seconds_since_start());
  }
  if (!stored.ok()) {
    shared_->services.logger->Error("scrape commit failed", {{"scrape_pool", options.job_name},
                                                             {"target", target_->url()},
                                                             {"err", base::Message(stored)}});
  }
}

void Loop::LogFailure(const Job& job, const absl::Status& error) {
  shared_->services.logger->Debug("scrape failed", {{"scrape_pool", job.config->options.job_name},
                                                    {"target", target_->url()},
                                                    {"err", base::Message(error)}});
  if (job.config->failure_log == nullptr) return;
  job.config->failure_log->Write(shared_->services.clock->NowMs(), job.config->options.job_name,
                                 target_->url(), base::Message(error));
}

void Loop::LogDropped(const ScrapeCounts& counts) {
  unlogged_.num_out_of_order += counts.num_out_of_order;
  unlogged_.num_duplicates += counts.num_duplicates;
  unlogged_.num_out_of_bounds += counts.num_out_of_bounds;
  unlogged_.num_exemplars_out_of_order += counts.num_exemplars_out_of_order;
  const int64_t now_ns = shared_->services.clock->MonotonicNs();
  if (next_log_ns_ != 0 && now_ns < next_log_ns_) return;
  const auto log = [&](std::string_view message, uint64_t* count) {
    if (*count == 0) return;
    shared_->services.logger->Warn(message, {{"target", target_->url()}, {"num_dropped", *count}});
    *count = 0;
    next_log_ns_ = now_ns + kLogEveryNs;
  };
  log("error on ingesting out-of-order samples", &unlogged_.num_out_of_order);
  log("error on ingesting samples with different value but same timestamp",
      &unlogged_.num_duplicates);
  log("error on ingesting samples that are too old or are too far into the future",
      &unlogged_.num_out_of_bounds);
  log("error on ingesting out-of-order exemplars", &unlogged_.num_exemplars_out_of_order);
}

void Loop::Reconfigure(std::shared_ptr<const PoolConfig> config, bool series_changed) {
  base::MutexLock lock(&mutex_);
  config_ = std::move(config);
  series_changed_ |= series_changed;
}

void Loop::SetForcedError(absl::Status error) {
  base::MutexLock lock(&mutex_);
  forced_error_ = std::move(error);
}

void Loop::Halt() {
  base::MutexLock lock(&mutex_);
  phase_ = Phase::kHalted;
}

// The target may come back under another name. So its series end only after the next scrape would
// have been, and one more, and a little time; but they end at the time of that next scrape.
void Loop::Retire() {
  base::MutexLock lock(&mutex_);
  if (phase_ != Phase::kRunning) return;
  phase_ = has_scraped_ ? Phase::kRetired : Phase::kEnded;
  if (phase_ == Phase::kEnded) return;
  ++generation_;
  tick_waits_ = false;
  const int64_t interval_ns = target_->interval_ms() * kNsPerMs;
  const int64_t end_ns = next_due_ns_ + interval_ns + interval_ns / 10;
  shared_->services.scheduler->RunAt(
      next_due_ns_, [self = shared_from_this(), end_ns, generation = generation_] {
        self->ScheduleEnd(end_ns, generation, self->shared_->services.clock->NowMs());
      });
}

void Loop::ScheduleEnd(int64_t due_ns, uint64_t generation, int64_t stale_ms) {
  shared_->services.scheduler->RunAt(due_ns, [self = shared_from_this(), generation, stale_ms] {
    self->Dispatch([self, generation, stale_ms] { self->EndSeries(generation, stale_ms); });
  });
}

bool Loop::Revive() {
  base::MutexLock lock(&mutex_);
  if (phase_ != Phase::kRetired) return false;
  phase_ = Phase::kRunning;
  ++generation_;
  const int64_t now_ns = shared_->services.clock->MonotonicNs();
  const int64_t interval_ns = target_->interval_ms() * kNsPerMs;
  if (next_due_ns_ < now_ns) {
    next_due_ns_ += (now_ns - next_due_ns_ + interval_ns - 1) / interval_ns * interval_ns;
  }
  ScheduleTick();
  return true;
}

void Loop::EndSeries(uint64_t generation, int64_t stale_ms) {
  const std::shared_ptr<void> gate_pass = shared_->gate->Enter();
  if (gate_pass == nullptr) return;
  {
    base::MutexLock lock(&mutex_);
    if (phase_ != Phase::kRetired || generation != generation_) return;
    if (busy_) {
      // Its last scrape has not been appended yet.
      ScheduleEnd(shared_->services.clock->MonotonicNs() + target_->interval_ms() * kNsPerMs,
                  generation, stale_ms);
      return;
    }
    phase_ = Phase::kEnded;
  }
  std::vector<model::SeriesRef> refs;
  {
    base::MutexLock work_lock(&work_mutex_);
    refs = cache_.Alive();
  }
  // Not under a lock of this loop: the host looks into the others.
  bool is_elsewhere = false;
  if (const std::shared_ptr<LoopHost> host = shared_->host.lock()) {
    is_elsewhere = host->RemoveAliveElsewhere(*this, &refs);
  }
  std::unique_ptr<model::Appender> appender = shared_->services.appendable->NewAppender();
  AppendStaleMarkers(refs, stale_ms, appender.get());
  {
    base::MutexLock work_lock(&work_mutex_);
    if (!is_elsewhere) report_.AppendStale(stale_ms, appender.get());
  }
  const absl::Status status = appender->Commit();
  if (status.ok()) return;
  shared_->services.logger->Warn("stale commit failed",
                                 {{"target", target_->url()}, {"err", base::Message(status)}});
}

std::vector<model::SeriesRef> Loop::AliveSeries() const {
  base::MutexLock work_lock(&work_mutex_);
  base::MutexLock lock(&mutex_);
  if (phase_ != Phase::kRunning) return {};
  return cache_.Alive();
}

bool Loop::has_scraped() const {
  base::MutexLock lock(&mutex_);
  return has_scraped_;
}

size_t Loop::num_cache_bytes() const {
  base::MutexLock work_lock(&work_mutex_);
  return cache_.num_bytes();
}

}  // namespace narthex::scrape
