#include "disk/head_chunks/entry.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"

namespace narthex::disk {
namespace {

constexpr size_t kKeyBytes = 24;  // Series and times.
constexpr size_t kCrcBytes = 4;
constexpr uint8_t kOutOfOrderBit = 0x80;

ParsedEntry Fault(std::string_view fault) {
  ParsedEntry entry;
  entry.fault = fault;
  return entry;
}

}  // namespace

std::string HeadChunkFileHeader() {
  std::string header;
  base::AppendU32(&header, kHeadChunkMagic);
  base::AppendU8(&header, kHeadChunkVersion);
  header.append(3, '\0');
  return header;
}

size_t EntryBytes(size_t chunk_bytes) {
  size_t length_bytes = 1;
  for (size_t rest = chunk_bytes; rest >= 0x80; rest >>= 7) ++length_bytes;
  return kKeyBytes + 1 + length_bytes + chunk_bytes + kCrcBytes;
}

void StoreEntry(const HeadChunk& chunk, char* out) {
  char* cursor = out;
  base::StoreBigEndian(cursor, uint64_t{chunk.series});
  base::StoreBigEndian(cursor + 8, static_cast<uint64_t>(chunk.min_time_ms));
  base::StoreBigEndian(cursor + 16, static_cast<uint64_t>(chunk.max_time_ms));
  cursor += kKeyBytes;
  const auto encoding = static_cast<uint8_t>(chunk.encoding);
  *cursor++ = static_cast<char>(chunk.is_out_of_order ? encoding | kOutOfOrderBit : encoding);
  cursor = base::StoreUvarint(cursor, chunk.bytes.size());
  std::memcpy(cursor, chunk.bytes.data(), chunk.bytes.size());
  cursor += chunk.bytes.size();
  base::StoreBigEndian(cursor, base::Crc32c({out, static_cast<size_t>(cursor - out)}));
}

ParsedEntry ParseEntry(std::string_view bytes) {
  base::Reader reader(bytes);
  ParsedEntry entry;
  HeadChunk& chunk = entry.chunk;
  chunk.series = reader.U64();
  chunk.min_time_ms = reader.I64();
  chunk.max_time_ms = reader.I64();
  const uint8_t encoding = reader.U8();
  chunk.bytes = reader.Bytes(reader.Uvarint());
  const size_t size = bytes.size() - reader.remaining();
  const uint32_t crc = reader.U32();
  if (!reader.ok()) return Fault("torn chunk");
  if (base::Crc32c(bytes.substr(0, size)) != crc) return Fault("wrong checksum");
  const auto known = codec::ChunkEncodingOf(static_cast<uint8_t>(encoding & ~kOutOfOrderBit));
  if (!known.has_value()) return Fault("unknown chunk encoding");
  chunk.encoding = *known;
  chunk.is_out_of_order = (encoding & kOutOfOrderBit) != 0;
  entry.num_bytes = size + kCrcBytes;
  return entry;
}

bool IsEndOfEntries(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

}  // namespace narthex::disk
