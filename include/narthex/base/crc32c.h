// CRC-32C (Castagnoli), the checksum of every file format. Free functions, thread-safe; uses the
// processor's instruction where it has one.
#pragma once

#include <cstdint>
#include <string_view>

namespace narthex::base {

// The checksum of what `crc` covers (0: nothing) followed by `bytes`.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

inline uint32_t Crc32c(std::string_view bytes) { return ExtendCrc32c(0, bytes); }

// As ExtendCrc32c(), by table; what processors without the instruction run.
uint32_t ExtendCrc32cPortable(uint32_t crc, std::string_view bytes);

}  // namespace narthex::base
