#include "narthex/disk/block.h"

#include <utility>

#include "narthex/base/check.h"
#include "narthex/base/status.h"

namespace narthex::disk {

absl::StatusOr<std::shared_ptr<const Block>> Block::Open(base::Fs* fs,
                                                         const std::string& directory) {
  std::shared_ptr<Block> block(new Block(fs, directory));
  NX_ASSIGN_OR_RETURN(block->meta_, ReadBlockMeta(fs, directory));
  NX_ASSIGN_OR_RETURN(block->chunks_, ChunkSegments::Open(fs, directory + "/chunks"));
  NX_ASSIGN_OR_RETURN(block->index_, BlockIndex::Open(fs, directory + "/index"));
  NX_ASSIGN_OR_RETURN(block->tombstones_, ReadTombstones(fs, directory));
  NX_RETURN_IF_ERROR(block->CountBytes());
  return std::shared_ptr<const Block>(std::move(block));
}

absl::Status Block::CountBytes() {
  num_bytes_ = index_->num_bytes() + chunks_->num_bytes();
  for (const char* const name : {"/meta.json", "/tombstones"}) {
    const absl::StatusOr<uint64_t> num_bytes = fs_->FileSize(directory_ + name);
    if (num_bytes.status().code() == absl::StatusCode::kNotFound) continue;
    NX_RETURN_IF_ERROR(num_bytes.status());
    num_bytes_ += *num_bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Block>> Block::ReplaceTombstones(Tombstones tombstones) const {
  NX_RETURN_IF_ERROR(WriteTombstones(fs_, directory_, tombstones));
  std::shared_ptr<Block> block(new Block(*this));
  block->tombstones_ = std::move(tombstones);
  block->meta_.stats.num_tombstones = block->tombstones_.num_intervals();
  NX_RETURN_IF_ERROR(WriteBlockMeta(fs_, directory_, block->meta_));
  NX_RETURN_IF_ERROR(block->CountBytes());
  return std::shared_ptr<const Block>(std::move(block));
}

absl::StatusOr<std::shared_ptr<const Block>> Block::ReplaceMeta(BlockMeta meta) const {
  NX_CHECK(meta.ulid == meta_.ulid);
  NX_RETURN_IF_ERROR(WriteBlockMeta(fs_, directory_, meta));
  std::shared_ptr<Block> block(new Block(*this));
  block->meta_ = std::move(meta);
  NX_RETURN_IF_ERROR(block->CountBytes());
  return std::shared_ptr<const Block>(std::move(block));
}

absl::Status RemoveBlock(base::Fs* fs, const std::string& directory) {
  const std::string doomed = base::StrCat(directory, kBlockDeletionSuffix);
  if (fs->Exists(doomed)) NX_RETURN_IF_ERROR(fs->RemoveAll(doomed));
  NX_RETURN_IF_ERROR(fs->Rename(directory, doomed));
  return fs->RemoveAll(doomed);
}

}  // namespace narthex::disk
