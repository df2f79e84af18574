// Storage in memory for tests of what writes through model::Appendable. It keeps the rules of the
// door: a batch shows as a whole at Commit() or not at all, samples of a series ascend in time, a
// resolved series is good until ForgetRefs(). Faults are set by hand. Thread-compatible; one
// appender at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "narthex/model/appendable.h"

namespace narthex::support {

// One sample as it was appended: a float unless it has one of the histograms.
struct AppendedSample {
  int64_t time_ms = 0;
  double value = 0;
  std::optional<model::Histogram> histogram;
  std::optional<model::FloatHistogram> float_histogram;
};

struct AppendedSeries {
  model::Labels labels;
  std::vector<AppendedSample> samples;
  std::vector<model::Exemplar> exemplars;
  model::Metadata metadata;
};

class FakeAppendable final : public model::Appendable {
 public:
  std::unique_ptr<model::Appender> NewAppender() override;

  // What was committed, by labels. Series without samples are not shown.
  std::vector<AppendedSeries> Committed() const;
  // The same as text: `{labels} value@time value@time`, one series a line, sorted by labels;
  // stale markers as "stale", histograms as "h<count>".
  std::string Text() const;

  // Samples before this are kOutOfBounds.
  void SetMinTimeMs(int64_t min_time_ms) { min_time_ms_ = min_time_ms; }
  // New series are refused with this status while it is an error.
  void SetNewSeriesStatus(absl::Status status) { new_series_status_ = std::move(status); }
  // What every later exemplar and commit answers.
  void SetExemplarStatus(absl::Status status) { exemplar_status_ = std::move(status); }
  void SetCommitStatus(absl::Status status) { commit_status_ = std::move(status); }
  // Every ref handed out so far becomes unknown.
  void ForgetRefs();

  int64_t num_resolves() const { return num_resolves_; }
  int64_t num_commits() const { return num_commits_; }
  int64_t num_rollbacks() const { return num_rollbacks_; }

 private:
  class BatchAppender;

  std::map<model::Labels, AppendedSeries> series_;
  std::vector<model::Labels> labels_by_ref_;  // Ref r is at r - first_ref_.
  std::map<model::Labels, model::SeriesRef> refs_;
  model::SeriesRef first_ref_ = 1;
  int64_t min_time_ms_ = std::numeric_limits<int64_t>::min();
  absl::Status new_series_status_, exemplar_status_, commit_status_;
  int64_t num_resolves_ = 0;
  int64_t num_commits_ = 0;
  int64_t num_rollbacks_ = 0;
};

}  // namespace narthex::support
