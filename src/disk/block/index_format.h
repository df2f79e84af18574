// Constants of the index file (docs/format/index.md). Immutable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace narthex::disk {

// On disk: never change.
inline constexpr uint32_t kIndexMagic = 0xbaaad700;
inline constexpr uint8_t kIndexVersion = 2;  // What is written.
inline constexpr size_t kIndexHeaderBytes = 5;
inline constexpr size_t kIndexContentsBytes = 6 * 8 + 4;
inline constexpr size_t kIndexCrcBytes = 4;
inline constexpr size_t kSeriesAlignment = 16;
inline constexpr size_t kPostingsAlignment = 4;

// Of so many symbols, or values of one label, one place is kept in memory.
inline constexpr size_t kIndexSampling = 32;

}  // namespace narthex::disk
