#include "scrape/report.h"

#include <span>
#include <string_view>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/model/metadata.h"
#include "narthex/model/stale.h"

namespace narthex::scrape {
namespace {

struct ReportSeries {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};

constexpr size_t kNumAlways = 5;
constexpr std::array<ReportSeries, 8> kSeries = {{
    {"up", "targets",
     "Health of the scrape target. 1 means the target is healthy, 0 if the scrape failed."},
    {"scrape_duration_seconds", "seconds", "Duration of the last scrape in seconds."},
    {"scrape_samples_scraped", "samples", "Number of samples last scraped."},
    {"scrape_samples_post_metric_relabeling", "samples",
     "Number of samples remaining after metric relabeling was applied."},
    {"scrape_series_added", "series", "Number of series in the last scrape."},
    {"scrape_timeout_seconds", "seconds", "The configured scrape timeout for a target."},
    {"scrape_sample_limit", "samples",
     "The configured sample limit for a target. Returns zero if there is no limit configured."},
    {"scrape_body_size_bytes", "bytes",
     "The uncompressed size of the last scrape response, if successful. Scrapes failing because "
     "body_size_limit is exceeded report -1, other scrape failures report 0."},
}};

}  // namespace

absl::Status Report::Resolve(size_t index, const model::Labels& target_labels, bool append_metadata,
                             model::Appender* appender) {
  const ReportSeries& series = kSeries[index];
  std::vector<model::Label> pairs = target_labels.Views();
  pairs.push_back({model::kMetricName, series.name});
  const model::Labels labels = model::Labels::FromPairs(std::move(pairs));
  NX_ASSIGN_OR_RETURN(refs_[index], appender->Resolve(labels.Views()));
  if (append_metadata) {
    appender->SetMetadata(refs_[index], {model::MetricType::kGauge, std::string(series.unit),
                                         std::string(series.help)});
  }
  return absl::OkStatus();
}

absl::Status Report::Append(const model::Labels& target_labels, const ReportValues& values,
                            bool with_extra, bool append_metadata, int64_t time_ms,
                            model::Appender* appender) {
  static_assert(kSeries.size() == kNumSeries);
  const std::array<double, kNumSeries> numbers = {
      values.up ? 1.0 : 0.0,        values.duration_s,   values.samples_scraped,
      values.samples_after_relabel, values.series_added, values.timeout_s,
      values.sample_limit,          values.body_bytes};
  const size_t num_series = with_extra ? kNumSeries : kNumAlways;
  std::array<model::FloatSample, kNumSeries> samples;
  std::array<model::AppendOutcome, kNumSeries> outcomes{};
  for (size_t i = 0; i < num_series; ++i) {
    if (refs_[i] == model::kNoSeries) {
      NX_RETURN_IF_ERROR(Resolve(i, target_labels, append_metadata, appender));
    }
    samples[i] = {refs_[i], time_ms, numbers[i]};
  }
  appender->AppendFloats(std::span(samples).first(num_series),
                         std::span(outcomes).first(num_series));
  for (size_t i = 0; i < num_series; ++i) {
    // Out of order is to be expected when a target comes back; only lost series are worth a retry.
    if (outcomes[i] != model::AppendOutcome::kUnknownSeries) continue;
    NX_RETURN_IF_ERROR(Resolve(i, target_labels, append_metadata, appender));
    samples[i].ref = refs_[i];
    appender->AppendFloats(std::span(samples).subspan(i, 1), std::span(outcomes).subspan(i, 1));
  }
  return absl::OkStatus();
}

void Report::AppendStale(int64_t time_ms, model::Appender* appender) const {
  std::vector<model::FloatSample> samples;
  for (const model::SeriesRef ref : refs_) {
    if (ref != model::kNoSeries) samples.push_back({ref, time_ms, model::StaleNan()});
  }
  std::vector<model::AppendOutcome> outcomes(samples.size());
  appender->AppendFloats(samples, outcomes);
}

}  // namespace narthex::scrape
