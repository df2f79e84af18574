// The float values of a series' open chunk, lossless to the bit. A column takes the cheapest of
// three forms and changes to the next when a value does not fit:
//
//   kConstant  every value has the same bits                     0 bytes
//   kDecimal   value = n / 10^scale exactly, n whole, scale <= 5: the first n, then one token per
//              value or run of equal values, usually one or two bytes a changed value
//   kXor       the first value, then Gorilla's XOR codes         1 bit to 77 bits a value
//
// A stale marker at the end is a flag, so a series that ends keeps its form. Free functions over a
// Series and the arena of its column; the caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "head/arena.h"
#include "head/series.h"

namespace narthex::head {

// Appends the value of sample number `count` (0: starts the chunk) to the open float chunk.
// REQUIRES: the series has an open float chunk of `count` samples, or count == 0.
void AppendFloat(Arena* arena, Series* series, size_t count, double value);

// Appends all `count` values of the open chunk.
void DecodeFloats(const Arena& arena, const Series& series, size_t count, std::vector<double>* out);

// Gives the open chunk's bytes back; the series is as if it had none.
void DropFloats(Arena* arena, Series* series);

// The newest value, stale markers included. REQUIRES: an open float chunk.
double NewestFloat(const Series& series);

}  // namespace narthex::head
