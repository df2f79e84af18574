// Kernels over rows of varbits (bit_stream.h): free functions over spans, each with a plain twin in
// its test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/chunk/bit_stream.h"

namespace narthex::codec {

// How a row is best read: rows of small numbers several at once, by table.
enum class VarbitRows : uint8_t { kSmall, kLarge };

// Rows with up to this many bits a number are read faster by table (codec_chunk_bench).
inline constexpr uint64_t kMaxBitsOfSmallVarbits = 9;

// Numbers after the row's that ReadVarbits() may overwrite.
inline constexpr size_t kVarbitRowSlack = 6;

// Reads `count` signed varbits. Both ways of reading give the same.
// REQUIRES: out.size() >= count + kVarbitRowSlack.
void ReadVarbits(BitReader& reader, VarbitRows rows, size_t count, std::span<int64_t> out);

// Reads over `count` varbits.
void SkipVarbits(BitReader& reader, size_t count);

// deltas += row; buckets += deltas, all modulo 2^64. REQUIRES: equal sizes.
void AddRow(std::span<const int64_t> row, std::span<uint64_t> deltas, std::span<int64_t> buckets);

}  // namespace narthex::codec
