// LEB128 and zig-zag numbers in the head's own byte streams. The bytes are always ours and whole,
// so there is nothing to check. Free functions.
#pragma once

#include <cstdint>

namespace narthex::head {

inline uint32_t ReadVarint32(const uint8_t** at) {
  uint32_t value = **at & 0x7f;
  for (int shift = 7; (*(*at)++ & 0x80) != 0; shift += 7) {
    value |= static_cast<uint32_t>(**at & 0x7f) << shift;
  }
  return value;
}

inline void WriteVarint32(uint8_t** at, uint32_t value) {
  for (; value >= 0x80; value >>= 7) *(*at)++ = static_cast<uint8_t>(value | 0x80);
  *(*at)++ = static_cast<uint8_t>(value);
}

inline uint64_t ReadVarint64(const uint8_t** at) {
  uint64_t value = **at & 0x7f;
  for (int shift = 7; (*(*at)++ & 0x80) != 0; shift += 7) {
    value |= static_cast<uint64_t>(**at & 0x7f) << shift;
  }
  return value;
}

inline void WriteVarint64(uint8_t** at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *(*at)++ = static_cast<uint8_t>(value | 0x80);
  *(*at)++ = static_cast<uint8_t>(value);
}

// The most bytes WriteVarint64() writes.
inline constexpr int kMaxVarint64 = 10;

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace narthex::head
