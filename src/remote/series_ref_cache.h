// Series refs by a hash of the bytes that name the series on the wire. Lossy and bounded: a place
// that is taken is overwritten. Refs may have gone stale; whoever uses one must be able to tell.
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "narthex/base/mutex.h"
#include "narthex/model/appendable.h"

namespace narthex::remote {

// 128 bits with a secret seed: no two series of one server collide.
struct SeriesHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const SeriesHash&) const = default;
};

class SeriesRefCache {
 public:
  explicit SeriesRefCache(size_t max_series);

  std::optional<model::SeriesRef> Find(SeriesHash hash) const;
  void Insert(SeriesHash hash, model::SeriesRef ref);
  void Erase(SeriesHash hash);

 private:
  static constexpr size_t kNumShards = 16;  // Told by the top four bits.
  static constexpr size_t kFirstSlots = 256;  // Of a shard; it doubles as it fills.

  struct Slot {
    SeriesHash hash;
    model::SeriesRef ref = model::kNoSeries;
  };
  struct Shard {
    mutable base::Mutex mutex;
    std::vector<Slot> slots NX_GUARDED_BY(mutex);  // A power of two; pairs of two places each.
    size_t num_lost NX_GUARDED_BY(mutex) = 0;      // Overwritten since the last growth.
  };

  static void Place(std::vector<Slot>* slots, const Slot& slot, size_t* num_lost);
  Shard& ShardOf(SeriesHash hash) { return shards_[hash.high >> 60]; }
  const Shard& ShardOf(SeriesHash hash) const { return shards_[hash.high >> 60]; }

  const size_t max_shard_slots_;
  std::array<Shard, kNumShards> shards_;
};

}  // namespace narthex::remote
