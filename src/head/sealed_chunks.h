// Full chunks in Prometheus's encodings, until they are written to a block. Chunks of a series form
// a list from the newest to the oldest; the series holds its newest. The store is an interface so
// that chunks may live in memory or in mapped files.
#pragma once

#include <cstdint>
#include <string_view>

#include "head/arena.h"
#include "narthex/codec/chunk/encoding.h"

namespace narthex::head {

// One chunk; `bytes` is valid as long as the store.
struct SealedChunk {
  Handle older = 0;  // The series' chunk before it, 0 if none.
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;  // Inclusive.
  uint16_t num_samples = 0;
  codec::ChunkEncoding encoding = codec::ChunkEncoding::kXor;
  std::string_view bytes;
};

// One writer at a time; readers use handles they got through a series' stripe lock.
class SealedChunkStore {
 public:
  virtual ~SealedChunkStore() = default;
  // Keeps a copy of the chunk of the series that the write-ahead log numbers `wal_ref`. Never 0.
  virtual Handle Add(uint64_t wal_ref, const SealedChunk& chunk) = 0;
  virtual SealedChunk Get(Handle handle) const = 0;
  virtual uint64_t num_chunks() const = 0;
  virtual uint64_t num_bytes() const = 0;  // Of memory.
};

// Keeps chunks in blocks of (nearly) their size.
class MemoryChunkStore final : public SealedChunkStore {
 public:
  Handle Add(uint64_t wal_ref, const SealedChunk& chunk) override;
  SealedChunk Get(Handle handle) const override;
  uint64_t num_chunks() const override { return num_chunks_; }
  uint64_t num_bytes() const override { return arena_.num_bytes(); }

 private:
  Arena arena_;
  uint64_t num_chunks_ = 0;
};

}  // namespace narthex::head
