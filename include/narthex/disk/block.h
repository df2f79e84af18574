// A block: a directory with meta.json, index, chunks and tombstones, all of one range of time, that
// never changes but for its tombstones.
//
//   <ULID>/meta.json   <ULID>/index   <ULID>/chunks/000001 ...   <ULID>/tombstones
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/disk/block_index.h"
#include "narthex/disk/block_meta.h"
#include "narthex/disk/chunk_segments.h"
#include "narthex/disk/tombstones.h"

namespace narthex::disk {

// What a directory's name ends in while its block is made or removed. Left over, it is rubbish.
inline constexpr std::string_view kBlockCreationSuffix = ".tmp-for-creation";
inline constexpr std::string_view kBlockDeletionSuffix = ".tmp-for-deletion";
// Of older versions.
inline constexpr std::string_view kOldBlockTemporarySuffix = ".tmp";

// Immutable, thread-safe. Readers pin it.
class Block {
 public:
  // `fs` must outlive the block. kNotFound, kDataLoss: a file is missing or bad; names it.
  static absl::StatusOr<std::shared_ptr<const Block>> Open(base::Fs* fs,
                                                           const std::string& directory);

  const std::string& directory() const { return directory_; }
  const BlockMeta& meta() const { return meta_; }
  const BlockIndex& index() const { return *index_; }
  const ChunkSegments& chunks() const { return *chunks_; }
  const Tombstones& tombstones() const { return tombstones_; }
  // Of all its files.
  uint64_t num_bytes() const { return num_bytes_; }

  // Writes `tombstones` and their number to the block's directory; what this object says stays.
  // The block as it is then, over the same mappings.
  absl::StatusOr<std::shared_ptr<const Block>> ReplaceTombstones(Tombstones tombstones) const;
  // Writes `meta`, as ReplaceTombstones() does. REQUIRES: the same ULID.
  absl::StatusOr<std::shared_ptr<const Block>> ReplaceMeta(BlockMeta meta) const;

 private:
  Block(base::Fs* fs, std::string directory) : fs_(fs), directory_(std::move(directory)) {}
  Block(const Block&) = default;
  absl::Status CountBytes();

  base::Fs* const fs_;
  const std::string directory_;
  BlockMeta meta_;
  std::shared_ptr<const BlockIndex> index_;
  std::shared_ptr<const ChunkSegments> chunks_;
  Tombstones tombstones_;
  uint64_t num_bytes_ = 0;
};

// Makes the block's directory invisible at once, then removes it. Readers that have it mapped go
// on.
absl::Status RemoveBlock(base::Fs* fs, const std::string& directory);

}  // namespace narthex::disk
