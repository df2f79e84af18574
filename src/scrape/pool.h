// The targets of one job and their loops. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "narthex/base/mutex.h"
#include "scrape/loop.h"
#include "scrape/pool_config.h"
#include "scrape/target.h"

namespace narthex::scrape {

using TargetGroupPtr = std::shared_ptr<const TargetGroup>;

class Pool {
 public:
  // `metadata_pool` must outlive this and its loops.
  Pool(std::shared_ptr<const LoopShared> shared, std::shared_ptr<const PoolConfig> config,
       uint64_t offset_seed, MetadataPool* metadata_pool);

  // New options for the loops there are; Sync() then brings the targets up to date.
  void Reconfigure(std::shared_ptr<const PoolConfig> config);
  // Makes the targets of the options' static groups and of those that `find_discovered` gives what
  // is scraped. It is called while no other Sync() runs, so that the last one has the last word.
  void Sync(const std::function<std::vector<TargetGroupPtr>()>& find_discovered);
  // All targets are gone, for good: later Sync()s do nothing.
  void Retire();
  // All loops there ever were have ended.
  bool has_ended() const;
  void Halt();

  std::shared_ptr<const PoolConfig> config() const;
  std::vector<ActiveTarget> ActiveTargets() const;
  std::vector<DroppedTarget> DroppedTargets() const;
  uint64_t num_dropped() const;
  // Loops that run.
  std::vector<std::shared_ptr<Loop>> Loops() const;

 private:
  // What discovery gave, after relabelling.
  struct Found {
    std::vector<std::shared_ptr<Target>> targets;
    std::vector<DroppedTarget> dropped;
    uint64_t num_dropped = 0;
    uint64_t num_failed = 0;
  };
  Found FindTargets(const std::vector<TargetGroupPtr>& groups,
                    const std::shared_ptr<const PoolConfig>& config) const;
  // Starts, revives and retires loops; `targets` may repeat one.
  void Reconcile(std::vector<std::shared_ptr<Target>> targets) NX_REQUIRES(mutex_);
  void ApplyTargetLimit() NX_REQUIRES(mutex_);

  const std::shared_ptr<const LoopShared> shared_;
  const uint64_t offset_seed_;
  MetadataPool* const metadata_pool_;

  base::Mutex sync_mutex_;  // Held during a whole Sync(); before mutex_.
  bool is_retired_ NX_GUARDED_BY(sync_mutex_) = false;
  mutable base::Mutex mutex_;
  std::shared_ptr<const PoolConfig> config_ NX_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<Loop>> loops_ NX_GUARDED_BY(mutex_);  // By target hash.
  std::map<uint64_t, std::weak_ptr<Loop>> retired_ NX_GUARDED_BY(mutex_);
  std::vector<DroppedTarget> dropped_ NX_GUARDED_BY(mutex_);
  uint64_t num_dropped_ NX_GUARDED_BY(mutex_) = 0;
};

}  // namespace narthex::scrape
