// Takes one body's entries to an appender: caches, relabels, limits, counts. One object per body.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/log.h"
#include "narthex/codec/exposition/reader.h"
#include "narthex/model/appendable.h"
#include "scrape/metrics.h"
#include "scrape/pool_config.h"
#include "scrape/series_cache.h"
#include "scrape/target.h"

namespace narthex::scrape {

// What a scrape did.
struct ScrapeCounts {
  uint64_t num_scraped = 0;        // Samples in the body ...
  uint64_t num_after_relabel = 0;  // ... and of these not dropped by relabelling.
  uint64_t num_series_added = 0;
  uint64_t num_out_of_order = 0;
  uint64_t num_duplicates = 0;
  uint64_t num_out_of_bounds = 0;
  uint64_t num_exemplars_out_of_order = 0;
};

// All must outlive the BodyAppender.
struct BodyContext {
  const PoolConfig& config;
  Target& target;
  SeriesCache& cache;  // Between BeginScrape() and the end of the scrape.
  const ScrapeMetrics& metrics;
  bool append_metadata = false;
};

class BodyAppender {
 public:
  // Samples without a time of their own get `scrape_ms`; those after `max_time_ms` are refused.
  BodyAppender(BodyContext context, model::Appender* appender, int64_t scrape_ms,
               int64_t max_time_ms);

  // Appends what `reader` gives. On error the batch must be rolled back: the body is malformed, a
  // limit was hit, or the storage refuses. Samples out of order or bounds are no error.
  absl::Status Append(codec::ExpositionReader* reader);

  const ScrapeCounts& counts() const { return counts_; }

 private:
  // A sample that waits for its batch to be full.
  struct Pending {
    uint32_t entry;  // Of the reader's batch.
    uint32_t slot;   // Of the cache.
    bool is_new;
  };

  absl::Status TakeBatch(const codec::EntryBatch& batch);
  void TakeMetadata(const codec::Entry& entry);
  absl::Status TakeSample(const codec::EntryBatch& batch, uint32_t index);
  // Labels of a series the cache does not know; false if relabelling drops it.
  absl::StatusOr<bool> NewLabels(const codec::Entry& entry, model::Labels* labels);
  absl::Status AppendSample(const codec::EntryBatch& batch, const Pending& sample);
  template <typename Kind>
  absl::Status AppendHistogram(const codec::EntryBatch& batch, const Pending& sample,
                               const Kind& histogram);
  absl::Status FlushFloats(const codec::EntryBatch& batch);
  absl::Status TakeOutcome(const codec::EntryBatch& batch, const Pending& sample,
                           model::AppendOutcome outcome);
  absl::Status ResolveAgain(const codec::EntryBatch& batch, const Pending& sample);
  void AppendExemplars(const codec::EntryBatch& batch, const Pending& sample);
  void AppendMetadata(const codec::Entry& entry, const Pending& sample);
  // Time of an entry, and whether it brought it along.
  int64_t TimeOf(const codec::Entry& entry) const;
  bool HasOwnTime(const codec::Entry& entry) const;

  const BodyContext context_;
  model::Appender* const appender_;
  const int64_t scrape_ms_;
  const int64_t max_time_ms_;
  const codec::ExpositionReader* reader_ = nullptr;

  ScrapeCounts counts_;
  uint64_t num_limited_ = 0;  // Samples that count for the sample limit.
  bool over_bucket_limit_ = false;
  bool exemplars_refused_ = false;
  model::LabelsBuilder builder_;
  std::vector<Pending> pending_;  // Floats only.
  std::vector<model::FloatSample> floats_;
  std::vector<model::AppendOutcome> outcomes_;
};

}  // namespace narthex::scrape
