// Head chunk files: full chunks of a head, out of its memory, in Prometheus's format
// (docs/format/head-chunks.md).
//
//   chunks_head/000001 000002 ...    numbered without gaps, up to 128 MiB each
//
// HeadChunkFiles writes chunk after chunk and says where each is; HeadChunkReaders show them again.
// What the files hold is in the write-ahead log too, so nothing is synced but completed files, and
// damage costs no sample: it is cut off, and the log refills the head.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/base/mutex.h"
#include "narthex/codec/chunk/encoding.h"
#include "narthex/model/appendable.h"

namespace narthex::disk {

// Where a chunk is. Later chunks have greater places.
struct HeadChunkRef {
  uint32_t file = 0;
  uint32_t offset = 0;

  // One number, as the out-of-order log has it; 0 is no chunk.
  uint64_t packed() const { return uint64_t{file} << 32 | offset; }
  static HeadChunkRef FromPacked(uint64_t packed) {
    return {static_cast<uint32_t>(packed >> 32), static_cast<uint32_t>(packed)};
  }
  auto operator<=>(const HeadChunkRef&) const = default;
};

struct HeadChunk {
  model::SeriesRef series = model::kNoSeries;  // As the write-ahead log numbers it.
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;  // Inclusive.
  codec::ChunkEncoding encoding = codec::ChunkEncoding::kXor;
  bool is_out_of_order = false;
  std::string_view bytes;
};

// What was wrong when the files were opened: the chunk at `at` and all after it are gone.
struct HeadChunkDamage {
  HeadChunkRef at;
  std::string reason;
  uint64_t num_files_removed = 0;
};

struct HeadChunkFilesOptions {
  std::string directory;               // Made if missing.
  uint64_t file_bytes = 128ull << 20;  // Prometheus maps no more than this.
  size_t buffer_bytes = 128 << 10;     // Chunks are handed to the kernel in pieces of this size.
};

class HeadChunkReader;

// Writing, Flush(), Recover(), RemoveFilesBefore() and Close() are for one thread at a time; the
// other methods and all readers are for any thread at any time.
//
// After a failed operation the writer is poisoned: Write() answers the first error until Recover()
// works. Every chunk that Write() gave a place for stays readable throughout; one it refused is the
// caller's to keep.
class HeadChunkFiles {
 public:
  // Looks at a chunk found at opening, in the order of places; its bytes are valid during the call.
  // False: the chunk cannot be (it overlaps the one before it, say), which is damage.
  using Visitor = std::function<bool(HeadChunkRef, const HeadChunk&)>;

  // Checks all files and shows every chunk to `visit`. Damage (a wrong checksum, a torn end, a
  // missing file, a refused chunk) is cut off: later files go, since a hole would hide samples that
  // the log still has. New chunks go to a new file. `fs` must outlive the object. kDataLoss: a file
  // of another format version.
  static absl::StatusOr<std::unique_ptr<HeadChunkFiles>> Open(HeadChunkFilesOptions options,
                                                              base::Fs* fs, const Visitor& visit);
  ~HeadChunkFiles();
  HeadChunkFiles(const HeadChunkFiles&) = delete;
  HeadChunkFiles& operator=(const HeadChunkFiles&) = delete;

  const std::optional<HeadChunkDamage>& damage() const { return damage_; }

  // Appends a chunk; readers see it at once. It costs a copy and a checksum, and a write to the
  // file once in `buffer_bytes`. kResourceExhausted: the disk is full.
  // REQUIRES: chunk.series != kNoSeries; chunk.bytes has at least 4 bytes.
  absl::StatusOr<HeadChunkRef> Write(const HeadChunk& chunk);

  // Hands what is buffered to the kernel, so that it outlives the process.
  absl::Status Flush();

  // After an error: cuts off what failed, writes the buffered chunks to where they belong and lets
  // new ones go to a new file. The writer stays poisoned if this fails (disk still full); try again
  // later. OK if nothing was wrong.
  absl::Status Recover();
  bool poisoned() const { return !error_.ok(); }

  // Removes the files numbered below `file`, lowest first, and completes the current one so that
  // its turn comes. Works while poisoned, as it makes room. Chunks that readers have seen stay
  // valid for them.
  absl::Status RemoveFilesBefore(uint32_t file);

  // Completes the current file (synced). Idempotent; later writes fail, readers go on.
  absl::Status Close();

  // The lowest number of a file with a chunk that ends at or after `min_time_ms`; if none has, the
  // number of the file to come.
  uint32_t FirstFileSince(int64_t min_time_ms) const;
  // The place after the last chunk.
  HeadChunkRef end() const;
  // Of all files, with what is buffered.
  uint64_t num_bytes() const;
  // Lets go of mapped files that no reader holds, so that they do not count as resident memory.
  // They are mapped again when needed.
  void DropMappings();

 private:
  friend class HeadChunkReader;

  struct File {
    uint32_t number = 0;
    std::string path;
    uint64_t num_bytes = 0;  // Up to the end of its last chunk; what the kernel has.
    int64_t max_time_ms = INT64_MIN;
    std::shared_ptr<const base::MappedFile> mapping;  // Null or shorter until needed.
  };
  // Chunks of the current file after its `num_bytes`. Bytes once written never change, so readers
  // share the block.
  struct Block {
    size_t capacity = 0;
    size_t num_bytes = 0;
    std::shared_ptr<char[]> bytes;
    std::string_view view() const { return {bytes.get(), num_bytes}; }
  };
  // A part of a file that a reader may look at.
  struct Window {
    uint32_t file = 0;
    uint64_t begin = 0;
    std::string_view bytes;
    std::shared_ptr<const void> pin;
  };

  HeadChunkFiles(HeadChunkFilesOptions options, base::Fs* fs);
  absl::Status Load(const Visitor& visit);
  absl::StatusOr<std::deque<File>> ListFiles() const;
  absl::StatusOr<bool> LoadFile(File* file, const Visitor& visit);
  absl::Status CutOff(std::deque<File> files, size_t damaged);

  absl::Status StartFile();
  absl::Status FinishFile();
  absl::Status FlushBlock();
  absl::Status RewriteTail();
  absl::Status Poison(const absl::Status& status);
  uint64_t end_of_current() const { return files_.back().num_bytes + block_.num_bytes; }

  absl::StatusOr<Window> WindowAt(HeadChunkRef ref) const;
  File* FindFile(uint32_t number) const NX_REQUIRES(mutex_);

  const HeadChunkFilesOptions options_;
  base::Fs* const fs_;
  std::optional<HeadChunkDamage> damage_;

  // The writer changes these under the lock, and reads them without it.
  mutable base::Mutex mutex_;
  mutable std::deque<File> files_;  // Ascending, without gaps.
  Block block_;
  uint32_t next_number_ = 1;

  // The writer's alone.
  bool is_current_open_ = false;  // Whether files_.back() takes chunks.
  std::unique_ptr<base::WritableFile> file_;
  absl::Status error_;
  bool closed_ = false;
};

// Shows chunks by their places. Thread-compatible: one for each query or thread. `files` must
// outlive the reader's calls; what was shown is valid as long as the reader.
class HeadChunkReader {
 public:
  explicit HeadChunkReader(const HeadChunkFiles* files) : files_(files) {}

  // The chunk at `ref`, its checksum checked. No lock in the common case; may map a file: call
  // under no lock. kNotFound: its file was removed; kDataLoss: bad bytes.
  absl::StatusOr<HeadChunk> Get(HeadChunkRef ref);

 private:
  const HeadChunkFiles* files_;
  std::vector<HeadChunkFiles::Window> windows_;     // One or two for each file looked at.
  size_t last_ = 0;                                 // The one used last.
  std::vector<std::shared_ptr<const void>> older_;  // Pins of windows that others replaced.
};

}  // namespace narthex::disk
