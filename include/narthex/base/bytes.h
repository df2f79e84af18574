// Bytes as the formats lay them out: big-endian integers and Go's varints (LEB128, signed ones
// zig-zagged), appended to strings and read by a cursor that never runs over its end.
// Thread-compatible; views belong to whoever made the bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace narthex::base {

inline constexpr size_t kMaxVarintBytes = 10;

// Reads a big-endian integer. REQUIRES: sizeof(Integer) readable bytes.
template <typename Integer>
Integer LoadBigEndian(const char* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (sizeof(Integer) == 2) return static_cast<Integer>(__builtin_bswap16(value));
  if constexpr (sizeof(Integer) == 4) return static_cast<Integer>(__builtin_bswap32(value));
  if constexpr (sizeof(Integer) == 8) return static_cast<Integer>(__builtin_bswap64(value));
  return value;
}
static_assert(std::endian::native == std::endian::little, "big-endian loads swap bytes");

// Writes a big-endian integer. REQUIRES: sizeof(Integer) writable bytes.
template <typename Integer>
void StoreBigEndian(char* bytes, Integer value) {
  if constexpr (sizeof(Integer) == 2) value = static_cast<Integer>(__builtin_bswap16(value));
  if constexpr (sizeof(Integer) == 4) value = static_cast<Integer>(__builtin_bswap32(value));
  if constexpr (sizeof(Integer) == 8) value = static_cast<Integer>(__builtin_bswap64(value));
  std::memcpy(bytes, &value, sizeof value);
}

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Writes a uvarint; returns the byte after it. REQUIRES: kMaxVarintBytes writable bytes.
inline char* StoreUvarint(char* bytes, uint64_t value) {
  while (value >= 0x80) {
    *bytes++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *bytes++ = static_cast<char>(value);
  return bytes;
}
inline char* StoreVarint(char* bytes, int64_t value) { return StoreUvarint(bytes, ZigZag(value)); }

inline void AppendU8(std::string* out, uint8_t value) { out->push_back(static_cast<char>(value)); }
inline void AppendU16(std::string* out, uint16_t value) {
  char bytes[2];
  StoreBigEndian(bytes, value);
  out->append(bytes, sizeof bytes);
}
inline void AppendU32(std::string* out, uint32_t value) {
  char bytes[4];
  StoreBigEndian(bytes, value);
  out->append(bytes, sizeof bytes);
}
inline void AppendU64(std::string* out, uint64_t value) {
  char bytes[8];
  StoreBigEndian(bytes, value);
  out->append(bytes, sizeof bytes);
}
inline void AppendI64(std::string* out, int64_t value) {
  AppendU64(out, static_cast<uint64_t>(value));
}
inline void AppendF64(std::string* out, double value) {
  AppendU64(out, std::bit_cast<uint64_t>(value));
}
inline void AppendUvarint(std::string* out, uint64_t value) {
  char bytes[kMaxVarintBytes];
  out->append(bytes, static_cast<size_t>(StoreUvarint(bytes, value) - bytes));
}
inline void AppendVarint(std::string* out, int64_t value) { AppendUvarint(out, ZigZag(value)); }
// Length as uvarint, then the bytes.
inline void AppendLengthPrefixed(std::string* out, std::string_view text) {
  AppendUvarint(out, text.size());
  out->append(text);
}

// Reads front to back. A read past the end, or of a malformed varint, fails the reader: it gives 0
// from then on and ok() is false, so that a whole record is read before one look at ok().
class Reader {
 public:
  // `bytes` must outlive the reader and the views it gives.
  explicit Reader(std::string_view bytes)
      : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  // True when all is read or the reader failed.
  bool empty() const { return cursor_ == end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - cursor_); }
  std::string_view rest() const { return {cursor_, remaining()}; }

  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t U16() { return Fixed<uint16_t>(); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }
  int64_t I64() { return static_cast<int64_t>(Fixed<uint64_t>()); }
  double F64() { return std::bit_cast<double>(Fixed<uint64_t>()); }

  uint64_t Uvarint() {
    // Fast path: most numbers of these formats are small deltas.
    if (cursor_ != end_ && static_cast<uint8_t>(*cursor_) < 0x80) [[likely]]
      return static_cast<uint8_t>(*cursor_++);
    return UvarintSlow();
  }
  int64_t Varint() { return UnZigZag(Uvarint()); }
  // Fails on values above 32 bits.
  uint32_t Uvarint32() {
    const uint64_t value = Uvarint();
    if (value > UINT32_MAX) [[unlikely]] {
      Fail();
      return 0;
    }
    return static_cast<uint32_t>(value);
  }

  // `size` bytes as a view into the input; empty on failure.
  std::string_view Bytes(uint64_t size) {
    if (size > remaining()) [[unlikely]] {
      Fail();
      return {};
    }
    const std::string_view bytes(cursor_, static_cast<size_t>(size));
    cursor_ += size;
    return bytes;
  }
  std::string_view LengthPrefixed() { return Bytes(Uvarint()); }

  // Marks the input as bad; for callers that find a value impossible.
  void Fail() {
    ok_ = false;
    cursor_ = end_;
  }

 private:
  template <typename Integer>
  Integer Fixed() {
    if (remaining() < sizeof(Integer)) [[unlikely]] {
      Fail();
      return 0;
    }
    const Integer value = LoadBigEndian<Integer>(cursor_);
    cursor_ += sizeof(Integer);
    return value;
  }

  uint64_t UvarintSlow() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (cursor_ == end_) break;
      const auto byte = static_cast<uint8_t>(*cursor_++);
      if (shift == 63 && byte > 1) break;  // Over 64 bits.
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  const char* cursor_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace narthex::base
