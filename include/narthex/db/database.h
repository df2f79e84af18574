// The database: a data directory over time. Embedding programs open one and use it through the
// doors it implements (model::Appendable, model::Queryable). Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/model/appendable.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

enum class WalCompression : uint8_t { kNone, kSnappy, kZstd };

struct DatabaseOptions {
  std::string path;  // Data directory, made if missing; "" keeps all in memory.
  int64_t block_range_ms = 2 * 3600 * 1000;  // Chunks never straddle a multiple of it.
  uint64_t wal_segment_bytes = 128ull << 20;
  WalCompression wal_compression = WalCompression::kSnappy;
  uint32_t samples_per_chunk = 120;
  bool no_lockfile = false;
};

// What a Database needs from its process; all must outlive it.
struct DatabaseContext {
  const base::Clock* clock = nullptr;
  base::Fs* fs = nullptr;
  const base::Logger* logger = nullptr;
  base::Registry* registry = nullptr;  // May be null: no metrics.
};

// Where the bytes of a head go; see docs/memory.md.
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

// For /api/v1/status/tsdb. Times of an empty head: min is INT64_MAX, max INT64_MIN.
struct HeadStats {
  uint64_t num_series = 0, num_label_pairs = 0, num_chunks = 0;
  int64_t min_time_ms = 0, max_time_ms = 0;
  std::vector<NamedCount> series_by_metric, values_by_label, bytes_by_label, series_by_pair;
};

struct ReplayProgress {
  int64_t first_segment = 0, last_segment = 0, current_segment = 0;
};

class Database : public model::Appendable, public model::Queryable {
 public:
  // Locks the directory, replays the write-ahead log (cutting off and reporting a damaged tail).
  // kFailedPrecondition: another process holds the lock. `progress`, if not null, is called from
  // the opening thread while replaying.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const DatabaseOptions& options, const DatabaseContext& context,
      std::function<void(const ReplayProgress&)> progress = nullptr);

  // Syncs and closes files; appends and queries must have ended. Idempotent.
  virtual absl::Status Close() = 0;
  virtual HeadStats Stats(size_t limit) const = 0;
  virtual MemoryBreakdown Memory() const = 0;
  // Oldest sample there may be, INT64_MAX if none.
  virtual int64_t min_time_ms() const = 0;
  virtual int64_t max_time_ms() const = 0;
};

}  // namespace narthex::db
