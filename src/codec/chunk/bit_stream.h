// Bits packed most significant first, and the variable-width integers chunks are made of.
//
// The reader holds the next bits left-aligned in a 64-bit window, so that one look at the window
// and a count of leading ones classifies a prefix. Past the end it reads zero bits and remembers;
// callers look at overrun() once per row instead of once per field.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/base/bytes.h"

namespace narthex::codec {

// Thread-compatible.
class BitWriter {
 public:
  // Continues `*out`, whose last byte has `num_free_bits` (0..7) unused low bits. Until Finish()
  // the last bits are held back.
  BitWriter(std::string* out, uint8_t num_free_bits) : out_(out) {
    if (num_free_bits == 0) return;
    pending_ = static_cast<uint64_t>(static_cast<uint8_t>(out->back())) << 56;
    num_pending_ = 8 - num_free_bits;
    out->pop_back();
  }

  // Writes the low `num_bits` (1..64) of `value`; its other bits do not matter.
  void Write(uint64_t value, int num_bits) {
    value <<= 64 - num_bits;
    pending_ |= value >> num_pending_;
    const int total = num_pending_ + num_bits;
    if (total < 64) {
      num_pending_ = total;
      return;
    }
    base::AppendU64(out_, pending_);
    pending_ = num_pending_ == 0 ? 0 : value << (64 - num_pending_);
    num_pending_ = total - 64;
  }

  // Writes what was held back, padded with zeroes; returns the free bits of the last byte.
  uint8_t Finish() {
    const int num_bytes = (num_pending_ + 7) / 8;
    for (int i = 0; i < num_bytes; ++i) {
      out_->push_back(static_cast<char>(pending_ >> (56 - 8 * i)));
    }
    return static_cast<uint8_t>(num_bytes * 8 - num_pending_);
  }

 private:
  std::string* out_;
  uint64_t pending_ = 0;  // Left-aligned; the rest is zero.
  int num_pending_ = 0;   // 0..63.
};

// A value: kernels pass it in and out of slow paths by copy, which keeps it in registers.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes)
      : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Makes at least 56 bits available.
  void Refill() {
    if (end_ - cursor_ >= 8) [[likely]] {
      // Bits below the valid ones are stream bits too; or-ing them again changes nothing.
      window_ |= base::LoadBigEndian<uint64_t>(cursor_) >> num_valid_;
      const int num_bytes = (63 - num_valid_) >> 3;
      cursor_ += num_bytes;
      num_valid_ += num_bytes * 8;
      return;
    }
    // Slow path: the last 8 bytes, and zeroes after them.
    while (num_valid_ < 56) {
      if (cursor_ != end_) {
        window_ |= static_cast<uint64_t>(static_cast<uint8_t>(*cursor_++)) << (56 - num_valid_);
      } else {
        num_beyond_ += 8;
      }
      num_valid_ += 8;
    }
  }

  // The next bits, left-aligned; only num_valid() of them count.
  uint64_t window() const { return window_; }
  int num_valid() const { return num_valid_; }
  // REQUIRES: num_bits <= num_valid(), num_bits < 64.
  void Skip(int num_bits) {
    window_ <<= num_bits;
    num_valid_ -= num_bits;
  }
  // REQUIRES: 1 <= num_bits <= num_valid().
  uint64_t Take(int num_bits) {
    const uint64_t value = window_ >> (64 - num_bits);
    Skip(num_bits);
    return value;
  }
  // Refills as needed. REQUIRES: 1 <= num_bits <= 64.
  uint64_t Read(int num_bits) {
    Refill();
    if (num_bits <= 56) return Take(num_bits);
    const uint64_t high = Take(num_bits - 32);
    Refill();
    return high << 32 | Take(32);
  }

  // More bits were consumed than there were.
  bool overrun() const { return num_beyond_ > num_valid_; }
  // Bits left to read. REQUIRES: !overrun().
  uint64_t num_left() const {
    return static_cast<uint64_t>(end_ - cursor_) * 8 +
           static_cast<uint64_t>(num_valid_ - static_cast<int>(num_beyond_));
  }

 private:
  const char* cursor_;
  const char* end_;
  uint64_t window_ = 0;
  int num_valid_ = 0;       // 56..63 after Refill().
  int64_t num_beyond_ = 0;  // Zero bits made up past the end.
};

// Integers by width: n ones and a zero (no zero after kMaxVarbitOnes), then a fixed number of bits.
inline constexpr int kMaxVarbitOnes = 8;
inline constexpr std::array<uint8_t, kMaxVarbitOnes + 1> kVarbitWidths = {0,  3,  6,  9, 12,
                                                                          18, 25, 56, 64};

// A two's complement number of `width` bits in which 2^(width-1) is positive: its range is
// -(2^(width-1)-1) to 2^(width-1).
inline int64_t SignedOfWidth(uint64_t raw, int width) {
  if (width == 64) return static_cast<int64_t>(raw);
  const uint64_t half = width == 0 ? 0 : uint64_t{1} << (width - 1);
  return static_cast<int64_t>(raw > half ? raw - (half << 1) : raw);
}
inline bool FitsWidth(int64_t value, int width) {
  const int64_t half = int64_t{1} << (width - 1);
  return -half < value && value <= half;
}

// Ones at the front of the window, at most `max`.
inline int CountOnes(const BitReader& reader, int max) {
  return std::min(std::countl_one(reader.window()), max);
}

inline int64_t ReadVarbitSigned(BitReader& reader) {
  reader.Refill();
  const int ones = CountOnes(reader, kMaxVarbitOnes);
  const int width = kVarbitWidths[static_cast<size_t>(ones)];
  reader.Skip(ones + (ones < kMaxVarbitOnes));
  if (width == 0) return 0;
  // Up to 7 + 25 bits are there already.
  const uint64_t raw = width <= 25 ? reader.Take(width) : reader.Read(width);
  return SignedOfWidth(raw, width);
}

inline uint64_t ReadVarbitUnsigned(BitReader& reader) {
  reader.Refill();
  const int ones = CountOnes(reader, kMaxVarbitOnes);
  const int width = kVarbitWidths[static_cast<size_t>(ones)];
  reader.Skip(ones + (ones < kMaxVarbitOnes));
  if (width == 0) return 0;
  return width <= 25 ? reader.Take(width) : reader.Read(width);
}

// The prefix of `ones` ones, then the low `width` bits of `value`.
inline void WriteVarbit(BitWriter* writer, size_t ones, uint64_t value) {
  if (ones == 0) return writer->Write(0, 1);
  const int width = kVarbitWidths[ones];
  if (ones < kMaxVarbitOnes) {
    const uint64_t prefix = (uint64_t{2} << ones) - 2;
    writer->Write(prefix << width | (value & ((uint64_t{1} << width) - 1)),
                  static_cast<int>(ones) + 1 + width);
    return;
  }
  writer->Write(0xff, kMaxVarbitOnes);
  writer->Write(value, 64);
}

// The least number of ones whose width holds `num_bits`.
inline constexpr auto kOnesOfBits = [] {
  std::array<uint8_t, 65> ones{};
  for (size_t num_bits = 0; num_bits <= 64; ++num_bits) {
    while (kVarbitWidths[ones[num_bits]] < num_bits) ++ones[num_bits];
  }
  return ones;
}();

inline void WriteVarbitSigned(BitWriter* writer, int64_t value) {
  size_t ones = 0;
  if (value != 0) {
    ones = 1;
    while (ones < kMaxVarbitOnes && !FitsWidth(value, kVarbitWidths[ones])) ++ones;
  }
  WriteVarbit(writer, ones, static_cast<uint64_t>(value));
}

inline void WriteVarbitUnsigned(BitWriter* writer, uint64_t value) {
  WriteVarbit(writer, kOnesOfBits[static_cast<size_t>(64 - std::countl_zero(value))], value);
}

// Bits of a float as XOR with the float before: the significant bits between leading and trailing
// zeroes, reusing the last window written where the new bits fit it.
struct XorWindow {
  static constexpr uint8_t kNone = 0xff;  // Of `leading`: no window was written yet.
  uint8_t leading = kNone;
  uint8_t trailing = 0;
};

inline void WriteXor(BitWriter* writer, uint64_t delta, XorWindow* window) {
  if (delta == 0) return writer->Write(0, 1);
  // The count of leading zeroes has 5 bits.
  const auto leading = static_cast<uint8_t>(std::min(std::countl_zero(delta), 31));
  const auto trailing = static_cast<uint8_t>(std::countr_zero(delta));
  if (window->leading != XorWindow::kNone && leading >= window->leading &&
      trailing >= window->trailing) {
    writer->Write(0b10, 2);
    writer->Write(delta >> window->trailing, 64 - window->leading - window->trailing);
    return;
  }
  *window = {leading, trailing};
  const int significant = 64 - leading - trailing;
  // 64 has 7 bits and wraps to 0, which no window needs otherwise.
  const auto header = static_cast<uint64_t>(0b11 << 11 | leading << 6 | (significant & 63));
  writer->Write(header, 13);
  writer->Write(delta >> trailing, significant);
}

// The XOR with the value before. False: an impossible window. A window reused before one was
// written is all 64 bits.
[[nodiscard]] inline bool ReadXor(BitReader& reader, XorWindow& window, uint64_t& delta) {
  reader.Refill();
  delta = 0;
  if (reader.Take(1) == 0) return true;
  if (reader.Take(1) == 1) {
    const auto leading = static_cast<int>(reader.Take(5));
    const auto field = static_cast<int>(reader.Take(6));
    const int significant = field == 0 ? 64 : field;
    if (leading + significant > 64) return false;
    window = {static_cast<uint8_t>(leading), static_cast<uint8_t>(64 - leading - significant)};
  }
  const int leading = window.leading == XorWindow::kNone ? 0 : window.leading;
  delta = reader.Read(64 - leading - window.trailing) << window.trailing;
  return true;
}

}  // namespace narthex::codec
