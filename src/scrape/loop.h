// Scrapes one target again and again: the scheduler ticks, the HTTP client fetches, the executor
// parses and appends. A loop has no thread; at most one scrape of it runs at a time.
//
//   running --Retire()--> retired --(two intervals)--> ended, with staleness markers
//      ^---------Revive()----'          Halt() at any time: nothing more happens
//
// Lock order: work_mutex_ before mutex_. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/mutex.h"
#include "narthex/net/http_client.h"
#include "narthex/scrape/manager.h"
#include "scrape/body_appender.h"
#include "scrape/metrics.h"
#include "scrape/report.h"
#include "scrape/running_gate.h"
#include "scrape/series_cache.h"
#include "scrape/target.h"

namespace narthex::scrape {

class Loop;

// What a loop asks about the others.
class LoopHost {
 public:
  virtual ~LoopHost() = default;
  // Removes from `*refs` (sorted) what other running loops whose series carry the same target
  // labels keep alive. True if there is such a loop and it has scraped.
  virtual bool RemoveAliveElsewhere(const Loop& asking, std::vector<model::SeriesRef>* refs) = 0;
};

// What all loops of a manager share. Immutable.
struct LoopShared {
  ManagerServices services;
  ManagerOptions options;
  std::shared_ptr<ScrapeMetrics> metrics;
  std::shared_ptr<RunningGate> gate;
  std::weak_ptr<LoopHost> host;
};

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  Loop(std::shared_ptr<const LoopShared> shared, std::shared_ptr<const PoolConfig> config,
       std::shared_ptr<Target> target);

  // Starts ticking. `offset_seed` shifts all targets' schedules alike.
  void Start(uint64_t offset_seed);
  // From the next scrape on. `series_changed`: what the target exposes may get other labels now.
  void Reconfigure(std::shared_ptr<const PoolConfig> config, bool series_changed);
  // While set, scrapes fail with it instead of asking the target. OK: none.
  void SetForcedError(absl::Status error);
  // The target is gone.
  void Retire();
  // The target is back. False if its series were ended already.
  bool Revive();
  void Halt();

  const std::shared_ptr<Target>& target() const { return target_; }
  // Series that live on because of this loop; sorted. Empty when it does not run.
  std::vector<model::SeriesRef> AliveSeries() const;
  bool has_scraped() const;
  size_t num_cache_bytes() const;

 private:
  enum class Phase : uint8_t { kRunning, kRetired, kEnded, kHalted };

  // One scrape on its way.
  struct Job {
    std::shared_ptr<const PoolConfig> config;
    absl::Status forced_error;
    bool series_changed = false;
    int64_t start_ns = 0;   // Monotonic.
    int64_t scrape_ms = 0;  // The time its samples get.
    std::shared_ptr<void> gate_pass;
    absl::StatusOr<net::FetchResponse> response = absl::CancelledError();
  };

  void OnTick(uint64_t generation);
  void ScheduleTick() NX_REQUIRES(mutex_);
  // REQUIRES: busy_ was set by the caller.
  void StartScrape();
  net::FetchRequest MakeRequest(const PoolConfig& config) const;
  int64_t AlignedTime() NX_REQUIRES(mutex_);
  // Runs `task` on the executor, now or as soon as it has room.
  void Dispatch(std::function<void()> task);
  void FinishScrape(Job& job);
  void Scrape(Job& job) NX_REQUIRES(work_mutex_);
  // The samples of a body; on error the appender was rolled back and replaced.
  absl::Status AppendBody(const Job& job, std::unique_ptr<model::Appender>* appender,
                          ScrapeCounts* counts) NX_REQUIRES(work_mutex_);
  void LogDropped(const ScrapeCounts& counts) NX_REQUIRES(work_mutex_);
  void LogFailure(const Job& job, const absl::Status& error);
  void FreeForNext();
  void ScheduleEnd(int64_t due_ns, uint64_t generation, int64_t stale_ms);
  void EndSeries(uint64_t generation, int64_t stale_ms);

  const std::shared_ptr<const LoopShared> shared_;
  const std::shared_ptr<Target> target_;
  base::Summary* const interval_length_;
  base::Histogram* const interval_length_histogram_;

  // Held while a scrape is appended.
  mutable base::Mutex work_mutex_;
  SeriesCache cache_ NX_GUARDED_BY(work_mutex_);
  Report report_ NX_GUARDED_BY(work_mutex_);
  ScrapeCounts unlogged_ NX_GUARDED_BY(work_mutex_);  // Dropped samples no line told of yet.
  int64_t next_log_ns_ NX_GUARDED_BY(work_mutex_) = 0;

  mutable base::Mutex mutex_;
  Phase phase_ NX_GUARDED_BY(mutex_) = Phase::kRunning;
  bool busy_ NX_GUARDED_BY(mutex_) = false;        // A scrape is on its way.
  bool tick_waits_ NX_GUARDED_BY(mutex_) = false;  // Another is due already.
  uint64_t generation_ NX_GUARDED_BY(mutex_) = 0;  // Tells old ticks from those after Revive().
  std::shared_ptr<const PoolConfig> config_ NX_GUARDED_BY(mutex_);
  bool series_changed_ NX_GUARDED_BY(mutex_) = false;
  absl::Status forced_error_ NX_GUARDED_BY(mutex_);
  int64_t next_due_ns_ NX_GUARDED_BY(mutex_) = 0;
  int64_t aligned_ms_ NX_GUARDED_BY(mutex_) = 0;  // The ideal time of the last scrape; 0: none.
  int64_t last_start_ns_ NX_GUARDED_BY(mutex_) = 0;
  bool has_scraped_ NX_GUARDED_BY(mutex_) = false;
};

}  // namespace narthex::scrape
