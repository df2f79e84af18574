// Bytes of a head chunk file.
//
//   file   u32 magic | u8 version | 3 zero bytes | entries back to back | zeroes
//   entry  u64 series ref | i64 min time | i64 max time | u8 encoding, 0x80: out of order |
//          uvarint length | chunk | u32 CRC-32C of all before it
//
// Prometheus allocates files ahead, so zeroes may follow the last entry. No series has the number
// 0, so that zeroes are no entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/disk/head_chunks.h"

namespace narthex::disk {

inline constexpr uint32_t kHeadChunkMagic = 0x0130BC91;
inline constexpr uint8_t kHeadChunkVersion = 1;
inline constexpr size_t kHeadChunkHeaderBytes = 8;
// Prometheus takes a shorter rest of a file for torn, unless it is all zero.
inline constexpr size_t kMinEntryBytes = 34;
inline constexpr size_t kMinChunkBytes = 4;
static_assert(8 + 8 + 8 + 1 + 1 + kMinChunkBytes + 4 == kMinEntryBytes);

std::string HeadChunkFileHeader();

size_t EntryBytes(size_t chunk_bytes);
// Writes EntryBytes() bytes to `out`.
void StoreEntry(const HeadChunk& chunk, char* out);

// The entry at the front of some bytes.
struct ParsedEntry {
  HeadChunk chunk;         // A view into the bytes.
  size_t num_bytes = 0;    // Of the entry.
  std::string_view fault;  // Not empty: what is wrong.
};
ParsedEntry ParseEntry(std::string_view bytes);

// Whether no entry follows: there are zeroes only. Others after zeroes are a hole that a loss of
// power left.
bool IsEndOfEntries(std::string_view bytes);

}  // namespace narthex::disk
