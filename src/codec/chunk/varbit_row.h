// Kernels over rows of varbits (bit_stream.h): free functions over spans, each with a plain twin in
// its test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/chunk/bit_stream.h"

namespace narthex::codec {

// Reads out.size() signed varbits.
void ReadVarbits(BitReader& reader, std::span<int64_t> out);

// Reads over `count` varbits.
void SkipVarbits(BitReader& reader, size_t count);

// deltas += row; buckets += deltas, all modulo 2^64. REQUIRES: equal sizes.
void AddRow(std::span<const int64_t> row, std::span<uint64_t> deltas, std::span<int64_t> buckets);

}  // namespace narthex::codec
