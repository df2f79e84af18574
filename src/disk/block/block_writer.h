// Writes a block: symbols, then series with their chunks, then the rest. All goes to
// <ULID>.tmp-for-creation, which takes its name when everything is synced. Memory does not grow
// with the block: lists of postings are gathered a few labels at a time from the series just
// written, through temporary files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/codec/chunk/encoding.h"
#include "narthex/disk/block_index.h"
#include "narthex/disk/block_meta.h"
#include "narthex/disk/tombstones.h"
#include "narthex/model/symbols.h"

namespace narthex::disk {

class ChunkSegmentWriter;
class IndexWriter;

struct BlockWriterOptions {
  std::string parent_directory;           // Where the block's directory will be.
  Ulid ulid;                              // Its name.
  uint64_t segment_bytes = 512ull << 20;  // Of chunks.
  size_t postings_batch_entries = 1
                                  << 20;  // Gathered at once, 8 bytes each, if a label has no more.
};

// A chunk to write. Both times are inclusive.
struct ChunkToWrite {
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;
  codec::ChunkEncoding encoding = codec::ChunkEncoding::kXor;
  std::string_view bytes;
};

// Thread-compatible. After an error the writer is of no more use; what it wrote goes with it.
class BlockWriter {
 public:
  // Removes what an earlier try left. `fs` must outlive the writer.
  static absl::StatusOr<std::unique_ptr<BlockWriter>> Create(BlockWriterOptions options,
                                                             base::Fs* fs);
  // Removes the temporary directory if Finish() has not worked.
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // All names and values of labels (and whatever else), ascending, before the first series. Their
  // symbols are 0, 1, 2 ... kInvalidArgument: not ascending.
  absl::StatusOr<model::Symbol> AddSymbol(std::string_view text);

  // Series in ascending order of their labels; labels by the symbols above, ascending by name.
  // Samples are counted by the chunks' headers. kInvalidArgument: not ascending, an unknown symbol,
  // or chunks that overlap.
  absl::Status AddSeries(std::span<const model::SymbolLabel> labels,
                         std::span<const ChunkToWrite> chunks);

  // So far.
  const BlockStats& stats() const { return stats_; }

  // Completes and syncs all files and gives the directory its name. `meta` says the times and the
  // compaction; ULID and stats are the writer's. Returns what was written. Call it once.
  absl::StatusOr<BlockMeta> Finish(BlockMeta meta, const Tombstones& tombstones = {});

 private:
  BlockWriter(BlockWriterOptions options, base::Fs* fs);
  absl::Status Start();

  const BlockWriterOptions options_;
  base::Fs* const fs_;
  const std::string directory_;
  const std::string temporary_directory_;
  std::unique_ptr<IndexWriter> index_;
  std::unique_ptr<ChunkSegmentWriter> chunks_;
  std::vector<uint64_t> chunk_refs_;  // Scratch.
  std::vector<ChunkMeta> metas_;      // Likewise.
  BlockStats stats_;
  bool is_finished_ = false;
};

}  // namespace narthex::disk
