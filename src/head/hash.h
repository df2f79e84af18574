// Hashes of the head's own tables: stable within a process only. Free functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace narthex::head {

uint64_t HashBytes(std::string_view bytes);

inline uint64_t HashWords(std::span<const uint32_t> words) {
  return HashBytes({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
}

// Maps a hash evenly to 0 .. num_slots - 1 for any num_slots > 0, by its upper bits.
inline size_t ScaleHash(uint64_t hash, size_t num_slots) {
  return static_cast<size_t>(((hash >> 32) * num_slots) >> 32);
}

}  // namespace narthex::head
