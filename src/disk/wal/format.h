// Framing of records in segments.
//
//   segment   pages of 32 KiB; the last one may be cut short
//   page      fragments back to back; fewer than 7 free bytes at its end are zero
//   fragment  u8 type | u16 length | u32 CRC-32C of the payload | payload
//   type      low 3 bits: 0 the rest of the page is zero, 1 a whole record, 2 its first, 3 a
//             middle, 4 its last fragment; 0x08: the record is snappy, 0x10: zstd compressed
#pragma once

#include <cstddef>
#include <cstdint>

#include "narthex/disk/wal.h"

namespace narthex::disk {

inline constexpr size_t kFragmentHeaderBytes = 7;

// On disk: never renumber.
enum FragmentType : uint8_t {
  kPageEnd = 0,
  kWhole = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4,
};
inline constexpr uint8_t kFragmentTypeMask = 0x07;
inline constexpr uint8_t kSnappyBit = 0x08;
inline constexpr uint8_t kZstdBit = 0x10;

static_assert(kWalPageBytes - kFragmentHeaderBytes <= UINT16_MAX, "a length has 16 bits");

}  // namespace narthex::disk
