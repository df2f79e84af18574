// The head: the writable window of a database, in memory, with its write-ahead log. Whoever owns a
// data directory opens one over it. Design: src/head/README.md, docs/memory.md. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/disk/wal.h"
#include "narthex/model/appendable.h"
#include "narthex/model/queryable.h"

namespace narthex::head {

struct HeadOptions {
  std::string wal_directory;  // "": no log, all is gone with the head.
  // Where full chunks go; "": they stay in memory. Used with a log only.
  std::string chunks_directory;
  int64_t block_range_ms = 2 * 3600 * 1000;  // At most 24 days.
  uint32_t samples_per_chunk = 120;
  uint64_t wal_segment_bytes = 128ull << 20;
  disk::WalCompression wal_compression = disk::WalCompression::kSnappy;
  // Whether samples older than half a block range before the newest are refused. Without, a sample
  // only has to be newer than its series' last.
  bool enforce_bounds = true;
  // What is older is in blocks: it is neither read back from the log nor taken.
  int64_t min_valid_time_ms = std::numeric_limits<int64_t>::min();
  // How long Truncate() waits for appenders that may hold series without samples; if some are open
  // still, these series stay until the next time.
  int64_t appender_patience_ms = 30'000;
};

// All must outlive the head.
struct HeadContext {
  const base::Clock* clock = nullptr;
  base::Fs* fs = nullptr;  // May be null without a log.
  const base::Logger* logger = nullptr;
  base::Registry* registry = nullptr;  // May be null: no metrics.
};

// Where the bytes of a head go: all memory its tables hold, spare room included.
struct MemoryBreakdown {
  uint64_t symbols = 0, label_sets = 0, series_table = 0, postings = 0, series_state = 0,
           timestamps = 0, values = 0, histograms = 0, sealed_chunks = 0;
  uint64_t Total() const {
    return symbols + label_sets + series_table + postings + series_state + timestamps + values +
           histograms + sealed_chunks;
  }
};

struct NamedCount {
  std::string name;
  uint64_t value = 0;
};

// Times of an empty head: min is INT64_MAX, max INT64_MIN. Lists are the largest first.
struct HeadStats {
  uint64_t num_series = 0, num_label_pairs = 0, num_chunks = 0;
  int64_t min_time_ms = 0, max_time_ms = 0;
  std::vector<NamedCount> series_by_metric, values_by_label, bytes_by_label, series_by_pair;
};

// Segments of the log; the checkpoint counts as none.
struct ReplayProgress {
  int64_t first_segment = 0, last_segment = 0, current_segment = 0;
};

class Head : public model::Appendable, public model::Queryable {
 public:
  // Replays the log, if any: what is damaged is cut off and reported by log line and metric.
  // `progress` may be null.
  static absl::StatusOr<std::unique_ptr<Head>> Open(
      const HeadOptions& options, const HeadContext& context,
      const std::function<void(const ReplayProgress&)>& progress);

  // Whether the samples span more than one and a half block ranges, so that the oldest range is
  // complete and should be written to a block.
  virtual bool IsCompactable() const = 0;
  // Returns true when all appenders that are open at the call are closed, so that nothing is added
  // to what may not be appended to any more; false after `timeout_ms`.
  virtual bool AwaitAppenders(int64_t timeout_ms) = 0;

  // Drops samples before `min_time_ms`, chunk by chunk: they are in a block that queries see.
  // Waits for queriers that read them (the caller holds none); new ones see only what is younger.
  // Series without samples go, with their names; refs to them answer kUnknownSeries. Removes head
  // chunk files and shortens the log. kUnavailable, kResourceExhausted: files could not be changed;
  // memory was freed nonetheless. One caller at a time.
  virtual absl::Status Truncate(int64_t min_time_ms) = 0;

  // The numbers under which the log must go on to know series, ascending, once samples before
  // `min_time_ms` are taken out of it: those of all series, and of gone ones with younger samples.
  virtual std::vector<uint64_t> RefsTheLogNeeds(int64_t min_time_ms) const = 0;
  // The log holds no samples before `min_time_ms` any more.
  virtual void ForgetRefsBefore(int64_t min_time_ms) = 0;

  // Closes the log; appends fail with kFailedPrecondition from then on. Idempotent.
  virtual absl::Status Close() = 0;
  virtual HeadStats Stats(size_t limit) const = 0;
  virtual MemoryBreakdown Memory() const = 0;
  virtual int64_t min_time_ms() const = 0;
  virtual int64_t max_time_ms() const = 0;
  // Damaged logs that were cut off when this one was opened.
  virtual uint64_t num_wal_corruptions() const = 0;
};

}  // namespace narthex::head
