// The database: a data directory over time. Embedding programs open one and use it through the
// doors it implements (model::Appendable, model::Queryable). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/disk/wal.h"
#include "narthex/head/head.h"
#include "narthex/model/appendable.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

using WalCompression = disk::WalCompression;
using MemoryBreakdown = head::MemoryBreakdown;
using NamedCount = head::NamedCount;
using HeadStats = head::HeadStats;
using ReplayProgress = head::ReplayProgress;

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
  // For /api/v1/status/tsdb.
  virtual HeadStats Stats(size_t limit) const = 0;
  // Waits for a running commit.
  virtual MemoryBreakdown Memory() const = 0;
  // Oldest sample there may be, INT64_MAX if none.
  virtual int64_t min_time_ms() const = 0;
  virtual int64_t max_time_ms() const = 0;
  // Damaged logs that were cut off when this one was opened.
  virtual uint64_t num_wal_corruptions() const = 0;
};

}  // namespace narthex::db
