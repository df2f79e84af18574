#include "head/times.h"

#include <cstring>

#include "head/chain.h"
#include "head/varint.h"
#include "narthex/base/check.h"

namespace narthex::head {

Times::Times(int64_t block_range_ms, uint32_t samples_per_chunk)
    : block_range_ms_(block_range_ms), samples_per_chunk_(samples_per_chunk) {
  columns_.Grow();  // Id 0 is kNoTimes: an empty column.
}

int64_t Times::RangeEnd(int64_t time_ms) const {
  // Division rounds towards zero as the reference's does; only times before 1970 tell.
  const int64_t start = time_ms / block_range_ms_ * block_range_ms_;
  int64_t end = 0;
  if (__builtin_add_overflow(start, block_range_ms_, &end)) {
    return std::numeric_limits<int64_t>::max();
  }
  return end;
}

void Times::BeginCommit(CommitNumber commit, CommitNumber seen_by_all) {
  commit_ = commit;
  seen_by_all_ = seen_by_all;
}

void Times::EndCommit() {
  for (const size_t slot : used_shared_) {
    Release(shared_[slot].to);
    shared_[slot] = {};
  }
  used_shared_.clear();
}

TimesId Times::New(uint32_t owners) {
  TimesId id = kNoTimes;
  if (free_.empty()) {
    id = static_cast<TimesId>(columns_.Grow());
  } else {
    id = free_.back();
    free_.pop_back();
  }
  columns_[id] = {};
  columns_[id].owners = owners;
  return id;
}

void Times::Release(TimesId id) {
  if (id == kNoTimes || --columns_[id].owners > 0) return;
  const TimesColumn& column = columns_[id];
  FreeChain(&arena_, column.bytes, column.size);
  if (column.recent != 0) arena_.Free(column.recent, column.num_recent * sizeof(Recent));
  free_.push_back(id);
}

void Times::Start(TimesColumn* column, int64_t time_ms) {
  column->first_ms = time_ms;
  column->last_ms = time_ms;
  column->last_delta_ms = 0;
  column->count = 1;
  column->size = 0;
  column->next_cut_ms = RangeEnd(time_ms);
}

void Times::Push(TimesColumn* column, int64_t time_ms) {
  // Differences wrap: any two times are told apart, however far from each other.
  const auto delta =
      static_cast<int64_t>(static_cast<uint64_t>(time_ms) - static_cast<uint64_t>(column->last_ms));
  uint8_t buffer[kMaxVarint64];
  uint8_t* end = buffer;
  WriteVarint64(&end, ZigZag(static_cast<int64_t>(static_cast<uint64_t>(delta) -
                                                  static_cast<uint64_t>(column->last_delta_ms))));
  const auto need = static_cast<size_t>(end - buffer);
  column->bytes = AppendToChain(&arena_, column->bytes, column->size, buffer, need);
  column->size = static_cast<uint32_t>(column->size + need);
  column->last_ms = time_ms;
  column->last_delta_ms = delta;
  ++column->count;
  if (column->count != samples_per_chunk_ / 4) return;
  // A quarter full: spread the rest of the range over equally long chunks. In floating point, as
  // spans of times may be wider than 64 bits count.
  const double span =
      static_cast<double>(column->next_cut_ms) - static_cast<double>(column->first_ms);
  const double quarter = static_cast<double>(time_ms) - static_cast<double>(column->first_ms) + 1;
  const double chunks = span / (quarter * 4);
  if (chunks <= 1) return;
  column->next_cut_ms =
      column->first_ms +
      static_cast<int64_t>(span / static_cast<double>(static_cast<int64_t>(chunks)));
}

void Times::NoteCommit(TimesColumn* column, const TimesColumn& from, int64_t time_ms) {
  if (column == &from && from.last_commit == commit_) return;
  scratch_.clear();
  if (from.recent != 0) {
    const auto* recent = reinterpret_cast<const Recent*>(arena_.Bytes(from.recent));
    for (uint32_t i = 0; i < from.num_recent; ++i) {
      if (CommitAfter(recent[i].commit, seen_by_all_)) scratch_.push_back(recent[i]);
    }
  }
  const bool same = from.count > 0 && from.last_commit == commit_;
  if (from.count > 0 && !same && CommitAfter(from.last_commit, seen_by_all_)) {
    scratch_.push_back({from.last_commit, from.commit_first_ms});
  }
  const int64_t first_ms = same ? from.commit_first_ms : time_ms;
  if (column->recent != 0) arena_.Free(column->recent, column->num_recent * sizeof(Recent));
  column->recent = 0;
  column->num_recent = static_cast<uint32_t>(scratch_.size());
  if (!scratch_.empty()) {
    column->recent = arena_.Allocate(scratch_.size() * sizeof(Recent));
    std::memcpy(arena_.Bytes(column->recent), scratch_.data(), scratch_.size() * sizeof(Recent));
  }
  column->last_commit = commit_;
  column->commit_first_ms = first_ms;
}

std::unique_ptr<uint8_t[]> Times::BytesOf(const TimesColumn& column) const {
  auto bytes = std::make_unique_for_overwrite<uint8_t[]>(column.size);
  ReadChain(arena_, column.bytes, column.size, bytes.get());
  return bytes;
}

TimesId Times::Successor(TimesId id, int64_t time_ms, Extend extend) {
  const TimesId next_id = New(1);
  const TimesColumn& from = columns_[id];
  TimesColumn& next = columns_[next_id];
  if (extend == Extend::kNewChunk || from.count == 0) {
    Start(&next, time_ms);
  } else {
    next.first_ms = from.first_ms;
    next.last_ms = from.last_ms;
    next.last_delta_ms = from.last_delta_ms;
    next.next_cut_ms = from.next_cut_ms;
    next.count = from.count;
    next.size = from.size;
    if (from.bytes != 0) {
      const auto bytes = BytesOf(from);
      next.bytes = AppendToChain(&arena_, 0, 0, bytes.get(), from.size);
    }
    Push(&next, time_ms);
  }
  NoteCommit(&next, from, time_ms);
  next.version = next_version_++;
  return next_id;
}

TimesId Times::Append(TimesId id, int64_t time_ms, Extend extend) {
  TimesColumn& column = columns_[id];
  const uint32_t version = column.version;
  const uint64_t key =
      (static_cast<uint64_t>(time_ms) * 0x9e3779b97f4a7c15 + id) * 0x9e3779b97f4a7c15;
  const auto slot = static_cast<size_t>(key >> 58);
  Shared& shared = shared_[slot];
  const bool found = shared.to != kNoTimes && shared.from == id && shared.from_version == version &&
                     shared.time_ms == time_ms && shared.extend == extend;
  if (!found && id != kNoTimes && column.owners == 1) {
    // Nobody else holds the column: change it in place.
    NoteCommit(&column, column, time_ms);
    if (extend == Extend::kNewChunk) {
      FreeChain(&arena_, column.bytes, column.size);
      column.bytes = 0;
      Start(&column, time_ms);
    } else {
      Push(&column, time_ms);
    }
    column.version = next_version_++;
    return id;
  }
  if (!found) {
    const TimesId next = Successor(id, time_ms, extend);
    if (shared.to == kNoTimes) {
      used_shared_.push_back(slot);
    } else {
      Release(shared.to);
    }
    // The table is an owner too, so the column stays as it is until the commit ends.
    shared = {
        .from = id, .from_version = version, .to = next, .time_ms = time_ms, .extend = extend};
  }
  const TimesId to = shared.to;
  ++columns_[to].owners;
  Release(id);
  return to;
}

void Times::Decode(TimesId id, std::vector<int64_t>* out) const {
  const TimesColumn& column = columns_[id];
  if (column.count == 0) return;
  auto time = static_cast<uint64_t>(column.first_ms);
  out->push_back(column.first_ms);
  if (column.bytes == 0) return;
  const auto bytes = BytesOf(column);
  const uint8_t* at = bytes.get();
  uint64_t delta = 0;
  for (uint16_t i = 1; i < column.count; ++i) {
    delta += static_cast<uint64_t>(UnZigZag(ReadVarint64(&at)));
    time += delta;
    out->push_back(static_cast<int64_t>(time));
  }
}

int64_t Times::HiddenFrom(TimesId id, CommitNumber seen) const {
  const TimesColumn& column = columns_[id];
  if (column.count == 0 || !CommitAfter(column.last_commit, seen)) {
    return std::numeric_limits<int64_t>::max();
  }
  if (column.recent != 0) {
    const auto* recent = reinterpret_cast<const Recent*>(arena_.Bytes(column.recent));
    for (uint32_t i = 0; i < column.num_recent; ++i) {
      if (CommitAfter(recent[i].commit, seen)) return recent[i].first_ms;
    }
  }
  return column.commit_first_ms;
}

uint64_t Times::num_bytes() const {
  return columns_.num_bytes() + arena_.num_bytes() + free_.capacity() * sizeof(TimesId);
}

}  // namespace narthex::head
