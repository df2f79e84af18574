#include "head/sealed_chunks.h"

#include <cstring>

namespace narthex::head {
namespace {

// What precedes the bytes of a chunk in memory.
struct Header {
  int64_t min_time_ms;
  int64_t max_time_ms;
  Handle older;
  uint32_t size;
  uint16_t num_samples;
  codec::ChunkEncoding encoding;
  uint8_t unused;
  uint32_t unused_more;
};
static_assert(sizeof(Header) == 32);
// The chunk starts where the header's last members would be unused.
constexpr size_t kHeaderBytes = 27;

}  // namespace

Handle MemoryChunkStore::Add(uint64_t /*wal_ref*/, const SealedChunk& chunk) {
  const Handle handle = arena_.Allocate(kHeaderBytes + chunk.bytes.size());
  const Header header = {.min_time_ms = chunk.min_time_ms,
                         .max_time_ms = chunk.max_time_ms,
                         .older = chunk.older,
                         .size = static_cast<uint32_t>(chunk.bytes.size()),
                         .num_samples = chunk.num_samples,
                         .encoding = chunk.encoding,
                         .unused = 0,
                         .unused_more = 0};
  uint8_t* const at = arena_.Bytes(handle);
  std::memcpy(at, &header, kHeaderBytes);
  std::memcpy(at + kHeaderBytes, chunk.bytes.data(), chunk.bytes.size());
  ++num_chunks_;
  return handle;
}

SealedChunk MemoryChunkStore::Get(Handle handle) const {
  const uint8_t* const at = arena_.Bytes(handle);
  Header header;
  std::memcpy(&header, at, kHeaderBytes);
  return {.older = header.older,
          .min_time_ms = header.min_time_ms,
          .max_time_ms = header.max_time_ms,
          .num_samples = header.num_samples,
          .encoding = header.encoding,
          .bytes = {reinterpret_cast<const char*>(at) + kHeaderBytes, header.size}};
}

}  // namespace narthex::head
