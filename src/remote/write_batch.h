// One remote write request on its way into storage. Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/codec/remote/write_v1.h"
#include "narthex/model/appendable.h"
#include "remote/series_ref_cache.h"

namespace narthex::remote {

class WriteBatch {
 public:
  struct Options {
    int64_t max_time_ms = 0;  // Later samples are refused.
    uint64_t hash_seed = 0;
  };
  // Both must outlive this.
  WriteBatch(Options options, model::Appendable* storage, SeriesRefCache* cache);

  // Adds all of one series; a series with invalid labels is left out and counted. What it views
  // into must live until Commit(). kInvalidArgument: a sample or the message is bad;
  // kResourceExhausted, kUnavailable: storage takes nothing. After an error only destruction is
  // allowed, which rolls back.
  absl::Status AddSeries(codec::WriteSeries* series);
  // Hands all that still waits to storage; the same errors.
  absl::Status Flush();
  // REQUIRES: Flush() was the last call.
  absl::Status Commit();

  int64_t num_invalid_labels() const { return num_invalid_labels_; }  // Series.
  int64_t num_samples() const { return num_samples_; }                // Histograms too.

 private:
  // How to find a series again whose ref has gone stale.
  struct SeriesName {
    std::string_view bytes;
    std::string_view labels_bytes;
  };

  // The series' ref; kNoSeries if its labels are invalid.
  absl::StatusOr<model::SeriesRef> RefOf(const SeriesName& name);
  absl::StatusOr<model::SeriesRef> Resolve(const SeriesName& name);
  absl::StatusOr<model::SeriesRef> ResolveAgain(const SeriesName& name);
  SeriesHash HashOf(const SeriesName& name) const;
  absl::Status RetryFloat(size_t index);
  absl::Status AddHistogram(const SeriesName& name, model::SeriesRef* ref,
                            codec::WriteHistogram* histogram);
  template <typename Histogram>
  absl::Status AppendHistogram(const SeriesName& name, model::SeriesRef* ref, int64_t time_ms,
                               Histogram* histogram);

  const Options options_;
  SeriesRefCache* const cache_;
  const std::unique_ptr<model::Appender> appender_;
  std::vector<model::Label> labels_;
  // Floats that wait to be appended together, and the series of each.
  std::vector<model::FloatSample> floats_;
  std::vector<SeriesName> float_names_;
  std::vector<model::AppendOutcome> outcomes_;
  int64_t num_invalid_labels_ = 0;
  int64_t num_samples_ = 0;
};

}  // namespace narthex::remote
