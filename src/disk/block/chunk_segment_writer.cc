#include "disk/block/chunk_segment_writer.h"

#include <limits>
#include <utility>

#include "disk/block/segment_format.h"
#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"

namespace narthex::disk {

absl::Status ChunkSegmentWriter::StartSegment() {
  if (file_) NX_RETURN_IF_ERROR(file_->Finish());
  std::string number = base::StrCat(++num_segments_);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  NX_ASSIGN_OR_RETURN(OutputFile file,
                      OutputFile::Create(fs_, base::StrCat(directory_, "/", number)));
  file_.emplace(std::move(file));
  std::string header;
  base::AppendU32(&header, kSegmentMagic);
  base::AppendU8(&header, kSegmentVersion);
  header.resize(kSegmentHeaderBytes, '\0');
  return file_->Append(header);
}

absl::Status ChunkSegmentWriter::Write(std::span<const ChunkToWrite> chunks,
                                       std::vector<uint64_t>* refs) {
  if (chunks.empty()) return absl::OkStatus();
  if (!file_) NX_RETURN_IF_ERROR(StartSegment());
  // As Prometheus does, with the longest length a chunk may have: the chunks of one call that
  // belong to one segment, and what is in it before them.
  uint64_t planned = file_->size();
  bool is_first = planned == kSegmentHeaderBytes;
  for (const ChunkToWrite& chunk : chunks) {
    const uint64_t num_bytes = kMaxChunkLengthBytes + 1 + chunk.bytes.size() + kSegmentCrcBytes;
    if (chunk.bytes.size() > std::numeric_limits<uint32_t>::max() - 1) {
      return base::InvalidArgument("chunk segments: chunk is too long: bytes=", num_bytes);
    }
    if (!is_first && planned + num_bytes > segment_bytes_) {
      NX_RETURN_IF_ERROR(StartSegment());
      planned = kSegmentHeaderBytes;
    }
    is_first = false;
    planned += num_bytes;
    NX_RETURN_IF_ERROR(WriteChunk(chunk, refs));
  }
  return absl::OkStatus();
}

absl::Status ChunkSegmentWriter::WriteChunk(const ChunkToWrite& chunk,
                                            std::vector<uint64_t>* refs) {
  const uint64_t offset = file_->size();
  if (offset > std::numeric_limits<uint32_t>::max()) {
    return base::ResourceExhausted("chunk segments: segment exceeds 4 GiB: ", file_->path());
  }
  refs->push_back(uint64_t{num_segments_ - 1} << 32 | offset);
  std::string head;
  base::AppendUvarint(&head, chunk.bytes.size());
  const size_t length_bytes = head.size();
  base::AppendU8(&head, static_cast<uint8_t>(chunk.encoding));
  const uint32_t crc =
      base::ExtendCrc32c(base::Crc32c(std::string_view(head).substr(length_bytes)), chunk.bytes);
  NX_RETURN_IF_ERROR(file_->Append(head));
  NX_RETURN_IF_ERROR(file_->Append(chunk.bytes));
  std::string tail;
  base::AppendU32(&tail, crc);
  return file_->Append(tail);
}

absl::Status ChunkSegmentWriter::Finish() {
  if (file_) NX_RETURN_IF_ERROR(file_->Finish());
  return fs_->SyncDirectory(directory_);
}

}  // namespace narthex::disk
