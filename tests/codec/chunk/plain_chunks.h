// A plain reading of chunks, bit by bit, as the format's description says it: the twin that the
// fast decoders must agree with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace narthex::codec {

class PlainBits {
 public:
  explicit PlainBits(std::string_view bytes) : bytes_(bytes) {}
  bool Bit() {
    if (next_ >= bytes_.size() * 8) {
      failed_ = true;
      return false;
    }
    const auto byte = static_cast<uint8_t>(bytes_[next_ / 8]);
    const bool bit = (byte >> (7 - next_ % 8) & 1) != 0;
    ++next_;
    return bit;
  }
  uint64_t Bits(int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 1 | (Bit() ? 1 : 0);
    return value;
  }
  int Ones(int max) {
    int ones = 0;
    while (ones < max && Bit()) ++ones;
    return ones;
  }
  int64_t Signed(int width) {
    const uint64_t raw = Bits(width);
    if (width < 64 && width > 0 && raw > uint64_t{1} << (width - 1)) {
      return static_cast<int64_t>(raw - (uint64_t{1} << width));
    }
    return static_cast<int64_t>(raw);
  }
  uint64_t Uvarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = Bits(8);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  int64_t Varint() {
    const uint64_t raw = Uvarint();
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }
  int64_t VarbitSigned() { return Signed(VarbitWidth()); }
  uint64_t VarbitUnsigned() { return Bits(VarbitWidth()); }
  bool failed() const { return failed_; }

 private:
  int VarbitWidth() {
    constexpr int kWidths[] = {0, 3, 6, 9, 12, 18, 25, 56, 64};
    return kWidths[Ones(8)];
  }

  std::string_view bytes_;
  size_t next_ = 0;
  bool failed_ = false;
};

// Times and value bits of an XOR chunk; nullopt if it is malformed.
inline std::optional<std::vector<std::pair<int64_t, uint64_t>>> PlainXor(std::string_view chunk) {
  if (chunk.size() < 2) return std::nullopt;
  PlainBits bits(chunk.substr(2));
  PlainBits header(chunk);
  const uint64_t count = header.Bits(16);
  std::vector<std::pair<int64_t, uint64_t>> samples;
  int64_t time = 0, delta = 0;
  uint64_t value = 0;
  int leading = 0, trailing = 0;
  for (uint64_t i = 0; i < count && !bits.failed(); ++i) {
    if (i == 0) {
      time = bits.Varint();
      value = bits.Bits(64);
    } else {
      constexpr int kWidths[] = {0, 14, 17, 20, 64};
      const int64_t step =
          i == 1 ? static_cast<int64_t>(bits.Uvarint()) : bits.Signed(kWidths[bits.Ones(4)]);
      delta = static_cast<int64_t>(static_cast<uint64_t>(delta) + static_cast<uint64_t>(step));
      time = static_cast<int64_t>(static_cast<uint64_t>(time) + static_cast<uint64_t>(delta));
      if (bits.Bit()) {
        if (bits.Bit()) {
          leading = static_cast<int>(bits.Bits(5));
          int significant = static_cast<int>(bits.Bits(6));
          if (significant == 0) significant = 64;
          trailing = 64 - leading - significant;
          if (trailing < 0) return std::nullopt;
        }
        value ^= bits.Bits(64 - leading - trailing) << trailing;
      }
    }
    samples.emplace_back(time, value);
  }
  if (bits.failed()) return std::nullopt;
  return samples;
}

}  // namespace narthex::codec
