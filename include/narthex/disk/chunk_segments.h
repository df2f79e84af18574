// The chunks of a block, read where they are mapped (docs/format/chunks-segments.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/codec/chunk/encoding.h"

namespace narthex::disk {

struct BlockChunk {
  codec::ChunkEncoding encoding = codec::ChunkEncoding::kXor;
  std::string_view bytes;
};

// Immutable, thread-safe. Views it gives are valid as long as it.
class ChunkSegments {
 public:
  // kDataLoss: a file is no segment; names it.
  static absl::StatusOr<std::unique_ptr<const ChunkSegments>> Open(base::Fs* fs,
                                                                   const std::string& directory);
  // The chunk at `ref` (segment from 0 in the upper, offset in the lower 32 bits), its checksum
  // checked. kDataLoss: there is none, or bad bytes; names file and offset.
  absl::StatusOr<BlockChunk> Get(uint64_t ref) const;

  uint64_t num_bytes() const { return num_bytes_; }
  size_t num_segments() const { return segments_.size(); }

 private:
  struct Segment {
    std::string path;
    std::unique_ptr<base::MappedFile> file;
  };
  ChunkSegments() = default;

  std::vector<Segment> segments_;
  uint64_t num_bytes_ = 0;
};

}  // namespace narthex::disk
