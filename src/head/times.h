// Timestamp columns of open chunks. A column is shared by all series that were always appended
// together (a target's, scrape by scrape): extending a shared column makes its successor once per
// commit, and the other series of the commit find it. A series that falls out of step gets a column
// of its own.
//
// A column also knows which commit wrote its newest samples, so that a reader can leave out what
// was committed after it began: one small list per column, not a number per sample.
//
// Columns are changed by one writer at a time. A column that more than one owner holds never
// changes; one with a single owner may be changed under that series' stripe lock. Readers look only
// at columns of series whose stripe lock they hold.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "head/arena.h"
#include "head/paged_array.h"

namespace narthex::head {

// Commits are numbered as they are applied; the numbers may wrap and are compared by CommitAfter().
using CommitNumber = uint32_t;
inline bool CommitAfter(CommitNumber a, CommitNumber b) { return static_cast<int32_t>(a - b) > 0; }

using TimesId = uint32_t;
inline constexpr TimesId kNoTimes = 0;

struct TimesColumn {
  int64_t first_ms = 0;
  int64_t last_ms = 0;
  int64_t last_delta_ms = 0;
  int64_t next_cut_ms = 0;       // A float at this time or later starts a new chunk.
  int64_t commit_first_ms = 0;   // The first time that last_commit wrote.
  CommitNumber last_commit = 0;  // The commit that wrote the newest sample.
  uint32_t owners = 0;
  uint32_t version = 0;  // Equal id and version mean equal times.
  Handle bytes = 0;      // A chain, zig-zag LEB128: the first delta, then deltas of deltas.
  uint32_t size = 0;     // Bytes used.
  uint16_t count = 0;
  // Commits before last_commit that an open reader may not see, oldest first (array of Recent).
  // They may have written to older chunks of the series.
  Handle recent = 0;
  uint32_t num_recent = 0;
};

class Times {
 public:
  struct Recent {
    CommitNumber commit;
    int64_t first_ms;
  };
  // Whether a sample goes on with the series' open chunk or starts a new one.
  enum class Extend : uint8_t { kSameChunk, kNewChunk };

  Times(int64_t block_range_ms, uint32_t samples_per_chunk);

  const TimesColumn& operator[](TimesId id) const { return columns_[id]; }

  // Appends happen within commits. All readers, now and later, see commits up to `seen_by_all`.
  void BeginCommit(CommitNumber commit, CommitNumber seen_by_all);
  void EndCommit();

  // The column of a series after `time_ms` was added to its column `id` (kNoTimes: none yet),
  // which it gives up. The new column is the series' own or shared.
  // REQUIRES: time_ms > the column's last time; the stripe lock of the series is held.
  TimesId Append(TimesId id, int64_t time_ms, Extend extend);

  // Gives up a series' column. REQUIRES: the stripe lock of the series is held.
  void Drop(TimesId id) { Release(id); }

  // The end of the aligned block range that `time_ms` is in; chunks never reach over it.
  int64_t RangeEnd(int64_t time_ms) const;

  // Appends all times of the column.
  void Decode(TimesId id, std::vector<int64_t>* out) const;
  // Samples at this time or later are hidden from a reader that began after `seen`.
  int64_t HiddenFrom(TimesId id, CommitNumber seen) const;

  // Gives back memory that nothing uses.
  void Trim() { arena_.Trim(); }

  uint64_t num_bytes() const;

 private:
  struct Shared {
    TimesId from = kNoTimes;
    uint32_t from_version = 0;
    TimesId to = kNoTimes;
    int64_t time_ms = 0;
    Extend extend = Extend::kSameChunk;
  };

  TimesId New(uint32_t owners);
  std::unique_ptr<uint8_t[]> BytesOf(const TimesColumn& column) const;
  void Release(TimesId id);
  void Start(TimesColumn* column, int64_t time_ms);
  void Push(TimesColumn* column, int64_t time_ms);
  // Makes the commit of `column`'s newest sample, at `time_ms`, the current one; `from` is the
  // column before (it may be `column` itself).
  void NoteCommit(TimesColumn* column, const TimesColumn& from, int64_t time_ms);
  TimesId Successor(TimesId id, int64_t time_ms, Extend extend);

  const int64_t block_range_ms_;
  const uint32_t samples_per_chunk_;

  PagedArray<TimesColumn, 256> columns_;
  std::vector<TimesId> free_;
  Arena arena_;
  std::array<Shared, 64> shared_;  // Columns made in this commit, by hash of what they extend.
  std::vector<size_t> used_shared_;
  CommitNumber commit_ = 0;
  CommitNumber seen_by_all_ = 0;
  uint32_t next_version_ = 1;
  std::vector<Recent> scratch_;
};

}  // namespace narthex::head
