#include "disk/block/block_writer.h"

#include <utility>

#include "disk/block/chunk_segment_writer.h"
#include "disk/block/index_writer.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/disk/block.h"

namespace narthex::disk {

BlockWriter::BlockWriter(BlockWriterOptions options, base::Fs* fs)
    : options_(std::move(options)),
      fs_(fs),
      directory_(base::StrCat(options_.parent_directory, "/", options_.ulid.ToString())),
      temporary_directory_(base::StrCat(directory_, kBlockCreationSuffix)) {}

BlockWriter::~BlockWriter() {
  if (is_finished_) return;
  index_.reset();
  chunks_.reset();
  base::IgnoreError(fs_->RemoveAll(temporary_directory_), "left-overs are removed at start too");
}

absl::StatusOr<std::unique_ptr<BlockWriter>> BlockWriter::Create(BlockWriterOptions options,
                                                                 base::Fs* fs) {
  std::unique_ptr<BlockWriter> writer(new BlockWriter(std::move(options), fs));
  NX_RETURN_IF_ERROR(base::WithContext(writer->Start(), "block writer"));
  return writer;
}

absl::Status BlockWriter::Start() {
  NX_RETURN_IF_ERROR(fs_->RemoveAll(temporary_directory_));
  const std::string chunks = temporary_directory_ + "/chunks";
  NX_RETURN_IF_ERROR(fs_->CreateDirectories(chunks));
  chunks_ = std::make_unique<ChunkSegmentWriter>(fs_, chunks, options_.segment_bytes);
  NX_ASSIGN_OR_RETURN(index_, IndexWriter::Create(fs_, temporary_directory_ + "/index",
                                                  options_.postings_batch_entries));
  return absl::OkStatus();
}

absl::StatusOr<model::Symbol> BlockWriter::AddSymbol(std::string_view text) {
  return index_->AddSymbol(text);
}

absl::Status BlockWriter::AddSeries(std::span<const model::SymbolLabel> labels,
                                    std::span<const ChunkToWrite> chunks) {
  chunk_refs_.clear();
  NX_RETURN_IF_ERROR(chunks_->Write(chunks, &chunk_refs_));
  metas_.clear();
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ChunkToWrite& chunk = chunks[i];
    metas_.push_back({chunk_refs_[i], chunk.min_time_ms, chunk.max_time_ms});
    const size_t num_samples = codec::NumChunkSamples(chunk.encoding, chunk.bytes);
    stats_.num_samples += num_samples;
    (codec::IsFloatEncoding(chunk.encoding) ? stats_.num_float_samples
                                            : stats_.num_histogram_samples) += num_samples;
  }
  NX_RETURN_IF_ERROR(index_->AddSeries(labels, metas_));
  stats_.num_chunks += chunks.size();
  ++stats_.num_series;
  return absl::OkStatus();
}

absl::StatusOr<BlockMeta> BlockWriter::Finish(BlockMeta meta, const Tombstones& tombstones) {
  NX_CHECK(!is_finished_);
  NX_RETURN_IF_ERROR(chunks_->Finish());
  NX_RETURN_IF_ERROR(index_->Finish());
  stats_.num_tombstones = tombstones.num_intervals();
  meta.ulid = options_.ulid;
  meta.stats = stats_;
  NX_RETURN_IF_ERROR(WriteBlockMeta(fs_, temporary_directory_, meta));
  NX_RETURN_IF_ERROR(WriteTombstones(fs_, temporary_directory_, tombstones));
  NX_RETURN_IF_ERROR(fs_->SyncDirectory(temporary_directory_));
  NX_RETURN_IF_ERROR(fs_->Rename(temporary_directory_, directory_));
  is_finished_ = true;
  NX_RETURN_IF_ERROR(fs_->SyncDirectory(options_.parent_directory));
  return meta;
}

}  // namespace narthex::disk
