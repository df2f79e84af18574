// Writes the chunk segments of a block. Thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "disk/block/block_writer.h"
#include "disk/block/output_file.h"
#include "narthex/base/fs.h"

namespace narthex::disk {

class ChunkSegmentWriter {
 public:
  // `directory` exists and is empty. `fs` must outlive the writer.
  ChunkSegmentWriter(base::Fs* fs, std::string directory, uint64_t segment_bytes)
      : fs_(fs), directory_(std::move(directory)), segment_bytes_(segment_bytes) {}

  // Writes the chunks of one series and appends their refs to `*refs`. Segments are cut between
  // chunks, where Prometheus cuts them.
  absl::Status Write(std::span<const ChunkToWrite> chunks, std::vector<uint64_t>* refs);
  // Syncs the last segment and the directory.
  absl::Status Finish();

 private:
  absl::Status StartSegment();
  absl::Status WriteChunk(const ChunkToWrite& chunk, std::vector<uint64_t>* refs);

  base::Fs* const fs_;
  const std::string directory_;
  const uint64_t segment_bytes_;
  std::optional<OutputFile> file_;
  uint32_t num_segments_ = 0;
};

}  // namespace narthex::disk
