// The series that tell how a scrape went: up, scrape_duration_seconds and so on. One per target;
// thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "narthex/model/appendable.h"
#include "narthex/model/labels.h"

namespace narthex::scrape {

struct ReportValues {
  bool up = false;
  double duration_s = 0;
  double samples_scraped = 0;
  double samples_after_relabel = 0;
  double series_added = 0;
  // Only with extra_scrape_metrics:
  double timeout_s = 0;
  double sample_limit = 0;
  double body_bytes = 0;  // -1: over the limit.
};

class Report {
 public:
  // `with_extra`: also the three extra series. `append_metadata`: tell the storage what they are.
  // An error of the storage (no new series); the batch is to be rolled back.
  absl::Status Append(const model::Labels& target_labels, const ReportValues& values,
                      bool with_extra, bool append_metadata, int64_t time_ms,
                      model::Appender* appender);
  // Staleness markers for the series that were appended before.
  void AppendStale(int64_t time_ms, model::Appender* appender) const;

 private:
  static constexpr size_t kNumSeries = 8;
  absl::Status Resolve(size_t index, const model::Labels& target_labels, bool append_metadata,
                       model::Appender* appender);

  std::array<model::SeriesRef, kNumSeries> refs_{};
};

}  // namespace narthex::scrape
