// An open-addressing index over a vector that someone else keeps: it stores positions of 32 bits
// and no keys, which are compared through the vector. Thread-compatible.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace narthex::scrape {

class DenseIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The position for which `is_it(position)` holds among those of `hash`; kNone if there is none.
  template <typename IsIt>
  uint32_t Find(uint64_t hash, IsIt is_it) const {
    if (slots_.empty()) return kNone;
    for (size_t slot = hash & mask();; slot = (slot + 1) & mask()) {
      if (slots_[slot] == kNone || is_it(slots_[slot])) return slots_[slot];
    }
  }

  // Adds position `position`, the newest and last. `hash_of(i)` gives the hash of position i.
  template <typename HashOf>
  void Add(uint32_t position, HashOf hash_of) {
    if ((size_t{position} + 1) * 4 > slots_.size() * 3) {
      Rebuild(size_t{position} + 1, hash_of);
    } else {
      Put(hash_of(position), position);
    }
  }

  // Indexes positions 0 .. num_positions - 1 and nothing else.
  template <typename HashOf>
  void Rebuild(size_t num_positions, HashOf hash_of) {
    const size_t num_slots = num_positions == 0 ? 0 : std::bit_ceil(num_positions * 4 / 3 + 8);
    std::vector<uint32_t>(num_slots, kNone).swap(slots_);
    for (uint32_t i = 0; i < num_positions; ++i) Put(hash_of(i), i);
  }

  size_t num_bytes() const { return slots_.capacity() * sizeof(uint32_t); }

 private:
  size_t mask() const { return slots_.size() - 1; }
  void Put(uint64_t hash, uint32_t position) {
    size_t slot = hash & mask();
    while (slots_[slot] != kNone) slot = (slot + 1) & mask();
    slots_[slot] = position;
  }

  std::vector<uint32_t> slots_;  // A power of two; at most three quarters are used.
};

}  // namespace narthex::scrape
