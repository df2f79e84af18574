// Label name and value -> the series that have it, in memory. A value of one series holds its
// number in place; longer lists are runs, most of which cost a byte or two however long they are:
//
//   token, LEB128:  (gap - 1) << 1 | 0       one series, `gap` after the one before
//                   (length - 1) << 1 | 1    `length` more series, each 1 after the one before
//
// Gaps are taken modulo 2^32: the number of a series that is gone is given to a new one, which then
// stands behind greater ones. Lists with such a step are sorted when they are read.
//
// The last run is kept open in the list's head, so that series created one after the other (a
// target's) only count it up. Locks as SymbolStore: one writer; reads not beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "head/arena.h"
#include "head/label_sets.h"
#include "narthex/model/symbols.h"

namespace narthex::head {

class Postings {
 public:
  // REQUIRES: `series` does not have the pair yet.
  void Add(model::Symbol name, model::Symbol value, SeriesIndex series);

  // How many series have the pair.
  uint32_t Count(model::Symbol name, model::Symbol value) const;
  // Appends the series of the pair, ascending.
  void Decode(model::Symbol name, model::Symbol value, std::vector<SeriesIndex>* out) const;

  // Visits each value of `name` with the number of its series, in no particular order.
  void ForEachValue(model::Symbol name,
                    const std::function<void(model::Symbol value, uint32_t count)>& visit) const;
  // Visits each name that a series has, in no particular order.
  void ForEachName(const std::function<void(model::Symbol name, uint32_t num_values)>& visit) const;
  bool HasName(model::Symbol name) const { return names_.contains(name); }

  uint64_t num_pairs() const { return num_pairs_; }
  uint64_t num_bytes() const;

 private:
  // A list of two or more series.
  struct List {
    uint32_t count = 0;
    SeriesIndex last = 0;  // Added last.
    uint32_t run = 0;      // Series after the last written token, each 1 after the one before.
    Handle bytes = 0;
    uint32_t size = 0;  // Bytes used.
    bool sorted = true;
  };
  struct Slot {
    model::Symbol value = 0;
    uint32_t payload = kFree;
  };
  // All values of one name: open addressing by value symbol.
  struct Name {
    std::vector<Slot> slots;
    uint32_t used = 0;
  };
  static constexpr uint32_t kFree = 0xffffffff;
  static constexpr uint32_t kListBit = 0x80000000;  // The payload is a list, else a lone series.

  static size_t SlotOf(const std::vector<Slot>& slots, model::Symbol value);
  const Slot* Find(model::Symbol name, model::Symbol value) const;
  Slot* FindOrAdd(Name* name, model::Symbol value);
  void Append(List* list, SeriesIndex series);
  void WriteToken(List* list, uint64_t token);
  void DecodeList(const List& list, std::vector<SeriesIndex>* out) const;

  std::unordered_map<model::Symbol, Name> names_;
  PagedArray<List, 512> lists_;
  Arena arena_;
  uint64_t num_pairs_ = 0;
  uint64_t slots_bytes_ = 0;
};

}  // namespace narthex::head
