#include "remote/series_ref_cache.h"

#include <bit>

namespace narthex::remote {

SeriesRefCache::SeriesRefCache(size_t max_series)
    : max_shard_slots_(std::bit_floor(max_series / kNumShards)) {}

// The two places of a hash lie side by side, in one cache line mostly.
std::optional<model::SeriesRef> SeriesRefCache::Find(SeriesHash hash) const {
  const Shard& shard = ShardOf(hash);
  base::MutexLock lock(&shard.mutex);
  if (shard.slots.empty()) return std::nullopt;
  const size_t first = hash.low & (shard.slots.size() - 1) & ~size_t{1};
  for (size_t i = first; i < first + 2; ++i) {
    const Slot& slot = shard.slots[i];
    if (slot.hash == hash && slot.ref != model::kNoSeries) return slot.ref;
  }
  return std::nullopt;
}

void SeriesRefCache::Place(std::vector<Slot>* slots, const Slot& slot, size_t* num_lost) {
  const size_t first = slot.hash.low & (slots->size() - 1) & ~size_t{1};
  for (size_t i = first; i < first + 2; ++i) {
    Slot& place = (*slots)[i];
    if (place.ref != model::kNoSeries && place.hash != slot.hash) continue;
    place = slot;
    return;
  }
  ++*num_lost;
  (*slots)[first + ((slot.hash.high >> 32) & 1)] = slot;
}

void SeriesRefCache::Insert(SeriesHash hash, model::SeriesRef ref) {
  if (max_shard_slots_ < 2) return;
  Shard& shard = ShardOf(hash);
  base::MutexLock lock(&shard.mutex);
  if (shard.slots.empty()) shard.slots.resize(std::min(kFirstSlots, max_shard_slots_));
  const size_t num_slots = shard.slots.size();
  if (shard.num_lost > num_slots / 8 && num_slots < max_shard_slots_) {
    std::vector<Slot> larger(num_slots * 2);
    shard.num_lost = 0;
    for (const Slot& slot : shard.slots) {
      if (slot.ref != model::kNoSeries) Place(&larger, slot, &shard.num_lost);
    }
    shard.slots = std::move(larger);
  }
  Place(&shard.slots, {hash, ref}, &shard.num_lost);
}

void SeriesRefCache::Erase(SeriesHash hash) {
  Shard& shard = ShardOf(hash);
  base::MutexLock lock(&shard.mutex);
  for (size_t i = 0; i < 2 && !shard.slots.empty(); ++i) {
    Slot& slot = shard.slots[(hash.low & (shard.slots.size() - 1) & ~size_t{1}) + i];
    if (slot.hash == hash) slot = {};
  }
}

}  // namespace narthex::remote
