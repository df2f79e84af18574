// The write-ahead log: records in numbered segment files, in Prometheus's format
// (docs/format/wal.md). A record is a run of bytes; what it says is wal_records.h's matter.
//
//   wal/00000000 00000001 ...    segments, numbered without gaps
//   wal/checkpoint.00000007/     a log of its own that stands for segments up to 7
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/base/metrics.h"

namespace narthex::disk {

class RecordCompressor;

enum class WalCompression : uint8_t { kNone, kSnappy, kZstd };

inline constexpr uint64_t kWalPageBytes = 32 << 10;
// Longer records are refused when read.
inline constexpr uint64_t kMaxWalRecordBytes = 1 << 30;

// A place in a log. Records start and end at places.
struct WalPosition {
  uint64_t segment = 0;
  uint64_t offset = 0;
  auto operator<=>(const WalPosition&) const = default;
};

// Where the log counts; each may be null. Names and help texts are the owner's.
struct WalWriterMetrics {
  base::Counter* page_flushes = nullptr;  // Writes to the file.
  base::Counter* completed_pages = nullptr;
  base::Counter* writes_failed = nullptr;
  base::Counter* record_parts = nullptr;        // Fragments.
  base::Counter* record_parts_bytes = nullptr;  // Fragments with their headers.
  base::Counter* record_bytes_saved = nullptr;  // By compression.
  base::Gauge* current_segment = nullptr;
};

struct WalWriterOptions {
  std::string directory;                  // Made if missing.
  uint64_t segment_bytes = 128ull << 20;  // A multiple of kWalPageBytes.
  WalCompression compression = WalCompression::kSnappy;
  WalWriterMetrics metrics;
};

// Appends records. Thread-compatible: one thread owns it.
//
// After a failed write or sync the writer is poisoned: every call but Recover() and Close() answers
// the first error. What a failed Log() left of its records is cut off by Recover() or, in a next
// process, by repair; it never harms records logged before or after.
class WalWriter {
 public:
  // Starts a new segment after the last one there is. `fs` must outlive the writer.
  static absl::StatusOr<std::unique_ptr<WalWriter>> Open(WalWriterOptions options, base::Fs* fs);
  ~WalWriter();
  WalWriter(const WalWriter&) = delete;
  WalWriter& operator=(const WalWriter&) = delete;

  // Logs the records in order. OK: all are with the kernel, so they outlive this process, but a
  // power loss only once Sync() succeeded or their segment was completed. kResourceExhausted: the
  // disk is full. Starting a new segment syncs the completed one.
  absl::Status Log(std::span<const std::string_view> records);
  absl::Status Log(std::string_view record) { return Log({&record, 1}); }

  // Makes all logged records outlive a power loss.
  absl::Status Sync();

  // Completes the current segment (synced) and starts the next; returns the new one's number.
  absl::StatusOr<uint64_t> StartSegment();

  // Removes the segments before `segment`, lowest first.
  absl::Status RemoveSegmentsBefore(uint64_t segment);

  // After an error: cuts off what was not acknowledged and goes on in a new segment (in the same
  // one if nothing is in it). The writer stays poisoned if this fails (disk still full); try again
  // later. OK if nothing was wrong.
  absl::Status Recover();

  // Fills the last page, syncs and closes. Idempotent; later calls but Close() fail.
  absl::Status Close();

  // The end of the last acknowledged record.
  WalPosition position() const { return acknowledged_; }
  bool poisoned() const { return !error_.ok(); }

 private:
  WalWriter(WalWriterOptions options, base::Fs* fs);
  // Puts one record's fragments into `buffer_`, starting a new segment if it does not fit.
  absl::Status Add(std::string_view record);
  uint64_t PayloadLeftInSegment() const;
  absl::Status Flush();
  absl::Status FinishSegment();
  absl::Status CreateSegment(uint64_t number);
  absl::Status Poison(absl::Status status);
  std::string SegmentPath(uint64_t number) const;
  uint64_t end() const { return flushed_ + buffer_.size(); }

  const WalWriterOptions options_;
  base::Fs* const fs_;
  const std::unique_ptr<RecordCompressor> compressor_;
  std::unique_ptr<base::WritableFile> file_;
  uint64_t segment_ = 0;
  uint64_t flushed_ = 0;  // Bytes of the segment handed to the file.
  std::string buffer_;    // Bytes after them.
  WalPosition acknowledged_;
  absl::Status error_;
  bool closed_ = false;
};

// Damage found while reading: the record that starts at `position` and all after it are lost.
struct WalDamage {
  WalPosition position;
  bool in_checkpoint = false;  // Then repair cannot help.
  std::string reason;
};

// Numbers of the segments in a log directory, ascending; other names are ignored.
// kDataLoss: "segments are not sequential".
absl::StatusOr<std::vector<uint64_t>> ListWalSegments(base::Fs* fs, const std::string& directory);
// "00000012".
std::string WalSegmentName(uint64_t segment);

struct WalCheckpoint {
  std::string path;
  uint64_t last_segment = 0;  // The last one it stands for.
};
// The newest checkpoint of a log directory, if any. Unfinished ones (.tmp) are ignored.
absl::StatusOr<std::optional<WalCheckpoint>> FindLastCheckpoint(base::Fs* fs,
                                                                const std::string& directory);

// Reads whole decompressed records front to back. Thread-compatible.
class WalReader {
 public:
  // The newest checkpoint of `directory`, then the segments after it. A missing directory is an
  // empty log. `fs` must outlive the reader.
  static absl::StatusOr<std::unique_ptr<WalReader>> Open(base::Fs* fs,
                                                         const std::string& directory);
  // Segments first..last of one directory, which may be a checkpoint's.
  static absl::StatusOr<std::unique_ptr<WalReader>> OpenSegments(base::Fs* fs,
                                                                 const std::string& directory,
                                                                 uint64_t first, uint64_t last);
  ~WalReader();

  // Moves to the next record. False at the end, at damage (see damage()) and on an I/O error.
  bool Next();
  // Valid until the next Next(). May be empty.
  std::string_view record() const { return record_; }
  // Where the current record ends.
  WalPosition position() const { return position_; }
  // True while in the checkpoint; position() is then one of its own segments.
  bool in_checkpoint() const;
  // Segments that will have been read in all, for progress.
  size_t num_segments() const { return segments_.size(); }
  size_t num_segments_read() const { return next_segment_; }

  const std::optional<WalDamage>& damage() const { return damage_; }
  // Of reading files; damage is no error here.
  absl::Status status() const { return status_; }

 private:
  struct Segment {
    std::string path;
    uint64_t number;
    bool in_checkpoint;
  };
  enum class Step : uint8_t { kRecord, kEndOfSegment, kDamaged };

  WalReader(base::Fs* fs, std::vector<Segment> segments);
  Step NextInSegment();
  Step Damage(std::string reason);
  Step Finish(uint8_t type, std::string_view bytes, uint64_t end);

  base::Fs* const fs_;
  const std::vector<Segment> segments_;
  size_t next_segment_ = 0;  // The one after the mapped one.
  std::unique_ptr<base::MappedFile> file_;
  WalPosition position_;
  std::string_view record_;
  std::string assembled_;  // Fragments of a record that spans pages.
  std::string decompressed_;
  std::optional<WalDamage> damage_;
  absl::Status status_;
};

// Drops a damaged log's tail: the segments after the damage, then the damaged one from the damage
// on. May be cut short and repeated. Open a WalWriter afterwards. REQUIRES: !damage.in_checkpoint.
absl::Status RepairWal(base::Fs* fs, const std::string& directory, const WalDamage& damage);

}  // namespace narthex::disk
