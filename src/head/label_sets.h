// The label sets of all series and the way from a label set to its series. A label set is a shape
// (the interned list of its label names, shared by many series) and one symbol per value, written
// as LEB128 numbers into an append-only arena:
//
//   shape id | value symbol | value symbol | ...      names sorted by their text
//
// The table label set -> series is open addressing over series numbers with a byte of the hash
// beside each; keys are compared through the arena. Locks as SymbolStore: one writer, Decode()
// without a lock, Find() not beside Add().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "head/paged_array.h"
#include "narthex/model/symbols.h"

namespace narthex::head {

// A series' index in the head's tables: 0 .. number of series - 1.
using SeriesIndex = uint32_t;
inline constexpr SeriesIndex kNoSeriesIndex = 0xffffffff;

class LabelSets {
 public:
  // Where a label set stands in the arena, plus one; 0: the series has none.
  using Position = uint32_t;

  // The series that has exactly these labels, kNoSeriesIndex if none. Sorted by name text.
  SeriesIndex Find(std::span<const model::SymbolLabel> labels) const;
  // REQUIRES: neither `series` nor the labels are known yet.
  void Add(SeriesIndex series, std::span<const model::SymbolLabel> labels);
  bool Contains(SeriesIndex series) const {
    return series < positions_.size() && positions_[series] != 0;
  }

  void Decode(SeriesIndex series, std::vector<model::SymbolLabel>* out) const;
  // The value symbol of `name`; false if the series has no such label.
  bool FindValue(SeriesIndex series, model::Symbol name, model::Symbol* value) const;

  // How many there are.
  uint32_t size() const { return num_sets_; }
  uint64_t set_bytes() const;
  uint64_t table_bytes() const { return slots_.capacity() * 4 + tags_.capacity(); }

 private:
  static constexpr size_t kPageBytes = 32 * 1024;
  struct Shape {
    uint32_t first = 0;  // Into shape_names_.
    uint32_t size = 0;
  };

  const uint8_t* At(Position position) const {
    return pages_[(position - 1) / kPageBytes] + (position - 1) % kPageBytes;
  }
  uint32_t FindShape(std::span<const model::SymbolLabel> labels) const;
  uint32_t InternShape(std::span<const model::SymbolLabel> labels);
  bool Equals(SeriesIndex series, std::span<const model::SymbolLabel> labels) const;
  static uint64_t Hash(std::span<const model::SymbolLabel> labels);
  void Place(SeriesIndex series, uint64_t hash);
  void Rehash(size_t num_slots);

  PagedArray<Position, 4096> positions_;
  uint32_t num_sets_ = 0;
  PagedArray<const uint8_t*, 512> pages_;
  std::vector<std::unique_ptr<uint8_t[]>> owned_;
  uint8_t* page_ = nullptr;
  size_t page_used_ = kPageBytes;
  uint64_t page_bytes_ = 0;

  PagedArray<Shape, 64> shapes_;
  PagedArray<model::Symbol, 512> shape_names_;
  std::vector<uint32_t> shape_slots_;  // Open addressing: shape + 1, 0 is free.

  std::vector<SeriesIndex> slots_;  // kNoSeriesIndex is free.
  std::vector<uint8_t> tags_;       // Lowest byte of the hash of the slot's series.
};

}  // namespace narthex::head
