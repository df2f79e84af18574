// Constants of chunk segments (docs/format/chunks-segments.md). Immutable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace narthex::disk {

// On disk: never change.
inline constexpr uint32_t kSegmentMagic = 0x85bd40dd;
inline constexpr uint8_t kSegmentVersion = 1;
inline constexpr size_t kSegmentHeaderBytes = 8;
inline constexpr size_t kSegmentCrcBytes = 4;
inline constexpr size_t kMaxChunkLengthBytes = 5;  // Of a chunk's length as uvarint.

}  // namespace narthex::disk
