// Full chunks in Prometheus's encodings, until they are in a block: in head chunk files, or in
// memory if there are no files or they cannot be written. Chunks of a series form a list from the
// newest to the oldest, of which the series holds the newest: 24 bytes a chunk in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "head/arena.h"
#include "narthex/base/log.h"
#include "narthex/codec/chunk/encoding.h"
#include "narthex/disk/head_chunks.h"

namespace narthex::head {

struct SealedChunk {
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;  // Inclusive.
  codec::ChunkEncoding encoding = codec::ChunkEncoding::kXor;
  std::string_view bytes;
};

// One writer at a time calls what is not const. Lists belong to their series: they are changed and
// walked under its stripe lock. Chunks never change; they are read without a lock, by readers that
// their removal waits for.
class SealedChunks {
 public:
  // A head chunk file and an offset in it, or 0 and a handle.
  struct Place {
    uint32_t file = 0;
    uint32_t offset = 0;
  };
  struct Entry {
    Handle older = 0;  // The series' chunk before it, 0 if none.
    int64_t min_time_ms = 0;
    int64_t max_time_ms = 0;  // Inclusive.
    Place place;
  };
  // Longest chunk: end - begin fits 32 bits.
  static constexpr int64_t kMaxSpanMs = 0xffffffff;

  explicit SealedChunks(const base::Logger* logger) : logger_(logger) {}

  // From now on chunks go to `files`, if not null.
  void SetFiles(std::unique_ptr<disk::HeadChunkFiles> files) { files_ = std::move(files); }

  // Keeps a copy of the chunk of the series that the write-ahead log numbers `wal_ref`. `before`:
  // the series' chunk before it, or null. If that is in memory only, so is this one: files never
  // lack an older chunk than they have, since what they reach up to is not read from the log.
  // May write to a file: call under no stripe lock.
  Place Write(uint64_t wal_ref, const Entry* before, const SealedChunk& chunk);
  // Puts a chunk before the list that begins with `entry.older`; the list's new begin, never 0.
  Handle Link(const Entry& entry);
  // A member of a list.
  Entry operator[](Handle handle) const;

  struct Cut {
    Handle newest = 0;        // What is left of the list, 0 if nothing.
    int64_t min_time_ms = 0;  // Of what is left.
    uint64_t num_dropped = 0;
  };
  // Drops the chunks of a list that end before `min_time_ms`. The caller knows that nobody reads
  // them.
  Cut DropBefore(Handle newest, int64_t min_time_ms);
  // Removes the files in which all chunks end before `min_time_ms`.
  absl::Status RemoveFilesBefore(int64_t min_time_ms);
  absl::Status Close();
  // Gives back memory that nothing uses.
  void Trim() { arena_.Trim(); }

  // Of memory.
  uint64_t num_bytes() const { return arena_.num_bytes(); }
  // Of files, 0 without.
  uint64_t num_file_bytes() const { return files_ == nullptr ? 0 : files_->num_bytes(); }

 private:
  friend class SealedChunkReader;

  SealedChunk InMemory(Handle handle) const;

  const base::Logger* const logger_;
  std::unique_ptr<disk::HeadChunkFiles> files_;
  Arena arena_;              // List members, and chunks that are in no file.
  uint64_t num_errors_ = 0;  // Since writing last worked.
};

// Thread-compatible. `chunks` must outlive it.
class SealedChunkReader {
 public:
  explicit SealedChunkReader(const SealedChunks* chunks)
      : chunks_(chunks), files_(chunks->files_.get()) {}
  // Valid as long as the reader. kDataLoss: bad bytes in a file. Call under no lock.
  absl::StatusOr<SealedChunk> Get(const SealedChunks::Entry& entry);

 private:
  const SealedChunks* const chunks_;
  disk::HeadChunkReader files_;
};

}  // namespace narthex::head
