// Every label text of the head, once: an append-only arena of bytes and a number per text. Adding
// is for one writer at a time; Text() of a known symbol needs no lock; Find() must not run beside
// Intern() (the owner holds its index lock shared for one, exclusive for the other).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "head/paged_array.h"
#include "narthex/model/symbols.h"

namespace narthex::head {

class SymbolStore {
 public:
  std::string_view Text(model::Symbol symbol) const;
  std::optional<model::Symbol> Find(std::string_view text) const;
  model::Symbol Intern(std::string_view text);
  // Symbols are 0 .. size() - 1, in the order of their first use.
  uint32_t size() const { return static_cast<uint32_t>(offsets_.size()); }
  uint64_t num_bytes() const;

 private:
  static constexpr size_t kPageBytes = 32 * 1024;

  size_t SlotOf(std::string_view text) const;
  void Rehash(size_t num_slots);

  // Where a text starts: page * kPageBytes + offset. The text is preceded by its length (LEB128).
  // Texts that would not fit a page have pages (entries) of their own.
  PagedArray<uint32_t, 1024> offsets_;
  PagedArray<const uint8_t*, 512> pages_;
  std::vector<std::unique_ptr<uint8_t[]>> owned_;
  uint8_t* page_ = nullptr;
  size_t page_used_ = kPageBytes;
  uint64_t page_bytes_ = 0;
  std::vector<uint32_t> slots_;  // Open addressing: symbol + 1, 0 is free.
};

}  // namespace narthex::head
