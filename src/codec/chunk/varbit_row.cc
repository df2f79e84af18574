// Most numbers of a row are 1, 5 or 9 bits long, and each costs a branch that the processor cannot
// foresee. A table indexed by the next 12 bits gives all numbers that end within them at once, so
// that the branches are one per look-up.
#include "codec/chunk/varbit_row.h"

#include <array>

namespace narthex::codec {
namespace {

constexpr int kIndexBits = 12;
constexpr size_t kTableSize = size_t{1} << kIndexBits;
constexpr int kMaxNumbers = kVarbitRowSlack;

// The numbers at the front of an index. All zero: the first one does not end within it.
struct Numbers {
  int8_t values[kMaxNumbers];
  uint8_t count;
  uint8_t num_bits;
};
static_assert(sizeof(Numbers) == 8, "the table is to fit the first-level cache");

struct Lengths {
  uint8_t count;
  uint8_t num_bits;
};

// Bits of the number at the front of `bits` (left-aligned in kIndexBits); 0 if it does not end
// within `num_bits`.
constexpr int LengthAt(uint32_t bits, int num_bits) {
  int ones = 0;
  while (ones < num_bits && (bits >> (kIndexBits - 1 - ones) & 1) != 0) ++ones;
  // Three ones and more are 13 bits long.
  if (ones > 2) return 0;
  const int length = ones + 1 + kVarbitWidths[static_cast<size_t>(ones)];
  return length <= num_bits ? length : 0;
}

constexpr int8_t ValueAt(uint32_t bits, int length) {
  if (length == 1) return 0;
  const int width = length == 5 ? 3 : 6;
  const auto raw = static_cast<int>(bits >> (kIndexBits - length) & ((uint32_t{1} << width) - 1));
  const int half = 1 << (width - 1);
  return static_cast<int8_t>(raw > half ? raw - 2 * half : raw);
}

constexpr std::array<Numbers, kTableSize> MakeNumbers() {
  std::array<Numbers, kTableSize> table{};
  for (uint32_t index = 0; index < kTableSize; ++index) {
    Numbers& entry = table[index];
    while (entry.count < kMaxNumbers) {
      const uint32_t bits = index << entry.num_bits & (kTableSize - 1);
      const int length = LengthAt(bits, kIndexBits - entry.num_bits);
      if (length == 0) break;
      entry.values[entry.count++] = ValueAt(bits, length);
      entry.num_bits = static_cast<uint8_t>(entry.num_bits + length);
    }
  }
  return table;
}

constexpr std::array<Lengths, kTableSize> MakeLengths() {
  std::array<Lengths, kTableSize> table{};
  for (uint32_t index = 0; index < kTableSize; ++index) {
    Lengths& entry = table[index];
    while (true) {
      const uint32_t bits = index << entry.num_bits & (kTableSize - 1);
      const int length = LengthAt(bits, kIndexBits - entry.num_bits);
      if (length == 0) break;
      ++entry.count;
      entry.num_bits = static_cast<uint8_t>(entry.num_bits + length);
    }
  }
  return table;
}

constexpr std::array<Numbers, kTableSize> kNumbers = MakeNumbers();
constexpr std::array<Lengths, kTableSize> kLengths = MakeLengths();

size_t IndexOf(const BitReader& reader) { return reader.window() >> (64 - kIndexBits); }

void SkipOne(BitReader& reader) {
  const int ones = CountOnes(reader, kMaxVarbitOnes);
  const int width = kVarbitWidths[static_cast<size_t>(ones)];
  reader.Skip(ones + (ones < kMaxVarbitOnes));
  if (width > 25) {
    reader.Read(width);
  } else {
    reader.Skip(width);
  }
}

}  // namespace

void ReadVarbits(BitReader& reader_in_out, VarbitRows rows, size_t count, std::span<int64_t> out) {
  BitReader reader = reader_in_out;
  int64_t* cursor = out.data();
  int64_t* const end = cursor + count;
  if (rows == VarbitRows::kSmall) {
    // Fast path: what a look-up gives beyond the row's end is only looked at again, not consumed.
    while (end - cursor >= kMaxNumbers) {
      reader.Refill();
      const Numbers& numbers = kNumbers[IndexOf(reader)];
      if (numbers.count == 0) {
        *cursor++ = ReadVarbitSigned(reader);
        continue;
      }
      for (int i = 0; i < kMaxNumbers; ++i) cursor[i] = numbers.values[i];
      cursor += numbers.count;
      reader.Skip(numbers.num_bits);
    }
  }
  while (cursor != end) *cursor++ = ReadVarbitSigned(reader);
  reader_in_out = reader;
}

void SkipVarbits(BitReader& reader_in_out, size_t count) {
  BitReader reader = reader_in_out;
  while (count > 0) {
    reader.Refill();
    const Lengths lengths = kLengths[IndexOf(reader)];
    if (lengths.count == 0 || lengths.count > count) {
      SkipOne(reader);
      --count;
      continue;
    }
    reader.Skip(lengths.num_bits);
    count -= lengths.count;
  }
  reader_in_out = reader;
}

void AddRow(std::span<const int64_t> row, std::span<uint64_t> deltas, std::span<int64_t> buckets) {
  for (size_t i = 0; i < row.size(); ++i) {
    deltas[i] += static_cast<uint64_t>(row[i]);
    buckets[i] = static_cast<int64_t>(static_cast<uint64_t>(buckets[i]) + deltas[i]);
  }
}

}  // namespace narthex::codec
