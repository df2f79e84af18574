// What one target exposed so far: how its bytes for a series map to the series' number, and which
// series were alive after its last scrape. A series costs about 32 bytes; no text is kept: the key
// is a hash of 96 bits, wide enough that two series of one target do not meet.
//
// Targets expose their series in the same order every time, so a lookup first tries the entry after
// the one found before. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "narthex/model/appendable.h"
#include "scrape/dense_index.h"

namespace narthex::scrape {

class SeriesCache {
 public:
  static constexpr uint32_t kNone = DenseIndex::kNone;

  // A scrape is BeginScrape(), then lookups, then EndScrape() or AbandonScrape().
  void BeginScrape();

  // The slot of a series; kNone if it is new. Slots are good until the scrape ends.
  uint32_t Find(std::string_view series_key);
  // Adds what Find() just did not find, as seen. kNoSeries: relabelling drops the series.
  uint32_t Add(std::string_view series_key, model::SeriesRef ref);
  // Notes that this scrape has the series; false if it had it before.
  bool MarkSeen(uint32_t slot);

  bool is_dropped(uint32_t slot) const { return entries_[slot].ref == model::kNoSeries; }
  model::SeriesRef ref(uint32_t slot) const { return entries_[slot].ref; }
  void set_ref(uint32_t slot, model::SeriesRef ref) { entries_[slot].ref = ref; }
  // The series is alive: when it is missing one day, it has ended.
  void Track(uint32_t slot);

  // Series that were alive after the last scrape and are not in this one. Before EndScrape().
  std::vector<model::SeriesRef> Vanished() const;

  // The scrape succeeded: what it tracked is alive now.
  void EndScrape();
  // The scrape failed: it is as if it had not been, and nothing lives on.
  // Returns what was alive before.
  std::vector<model::SeriesRef> AbandonScrape();

  // Series that are alive. Between scrapes.
  std::vector<model::SeriesRef> Alive() const;
  // Forgets which bytes mean which series, as relabelling changed; what is alive stays so, and is
  // found missing by the next scrape unless that tracks it. Between scrapes.
  void ForgetKeys();

  size_t size() const { return entries_.size(); }
  size_t num_bytes() const { return entries_.capacity() * sizeof(Entry) + index_.num_bytes(); }

 private:
  static constexpr uint32_t kTrackedNow = 1u << 30;
  static constexpr uint32_t kTrackedBefore = 1u << 31;
  static constexpr uint32_t kScrapeMask = kTrackedNow - 1;

  struct Entry {
    uint64_t hash;
    model::SeriesRef ref;
    uint32_t more_hash;
    uint32_t state;  // Number of the scrape that saw it last, and the two flags.
  };
  static_assert(sizeof(Entry) == 24);

  struct Key {
    uint64_t hash;
    uint32_t more_hash;
  };
  static Key KeyOf(std::string_view series_key);
  bool Has(uint32_t slot, const Key& key) const {
    return entries_[slot].hash == key.hash && entries_[slot].more_hash == key.more_hash;
  }
  bool WasAliveBefore(const Entry& entry) const;
  bool IsSeen(const Entry& entry) const { return (entry.state & kScrapeMask) == scrape_; }
  void DropUnseen();

  std::vector<Entry> entries_;  // In the order of first sight.
  DenseIndex index_;
  uint32_t scrape_ = 0;                              // Number of the running or last scrape; wraps.
  uint32_t next_guess_ = 0;                          // The slot that probably comes next.
  uint32_t num_before_ = 0;                          // Entries when the scrape began.
  uint32_t num_seen_ = 0;                            // By this scrape.
  uint32_t num_alive_ = 0;                           // After the last scrape ...
  uint32_t num_going_on_ = 0;                        // ... and of these tracked again by this one.
  std::vector<model::SeriesRef> alive_without_key_;  // Sorted; from ForgetKeys().
};

}  // namespace narthex::scrape
