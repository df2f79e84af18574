//   magic u32 | version u8 | 3 zero bytes | chunks: length uvarint, encoding u8, data, CRC-32C
#include "narthex/disk/chunk_segments.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "disk/block/segment_format.h"
#include "disk/file_number.h"
#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"

namespace narthex::disk {

absl::StatusOr<std::unique_ptr<const ChunkSegments>> ChunkSegments::Open(
    base::Fs* fs, const std::string& directory) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(directory));
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const std::string& name : names) {
    if (const std::optional<uint64_t> number = ParseFileNumber(name)) {
      files.emplace_back(*number, base::StrCat(directory, "/", name));
    }
  }
  std::sort(files.begin(), files.end());
  std::unique_ptr<ChunkSegments> segments(new ChunkSegments);
  for (auto& [number, path] : files) {
    NX_ASSIGN_OR_RETURN(std::unique_ptr<base::MappedFile> file, fs->Map(path));
    const std::string_view bytes = file->bytes();
    base::Reader reader(bytes);
    const uint32_t magic = reader.U32();
    const uint8_t version = reader.U8();
    if (bytes.size() < kSegmentHeaderBytes) {
      return base::DataLoss("chunk segments: file is too short: ", path, " bytes=", bytes.size());
    }
    if (magic != kSegmentMagic) {
      return base::DataLoss("chunk segments: wrong magic number: ", path);
    }
    if (version != kSegmentVersion) {
      return base::DataLoss("chunk segments: unknown version ", unsigned{version}, ": ", path);
    }
    segments->num_bytes_ += bytes.size();
    segments->segments_.push_back({std::move(path), std::move(file)});
  }
  return std::unique_ptr<const ChunkSegments>(std::move(segments));
}

absl::StatusOr<BlockChunk> ChunkSegments::Get(uint64_t ref) const {
  const uint64_t number = ref >> 32;
  const uint64_t offset = ref & 0xffffffff;
  if (number >= segments_.size()) {
    return base::DataLoss("chunk segments: no such segment: segment=", number,
                          " segments=", segments_.size(), " offset=", offset);
  }
  const Segment& segment = segments_[number];
  const auto fault = [&](std::string_view what) {
    return base::DataLoss("chunk segments: ", what, ": ", segment.path, " offset=", offset);
  };
  const std::string_view bytes = segment.file->bytes();
  if (offset < kSegmentHeaderBytes || offset >= bytes.size()) {
    return fault("chunk lies outside the file");
  }
  base::Reader reader(bytes.substr(offset));
  const uint64_t num_bytes = reader.Uvarint32();
  // The encoding is the first of the checked bytes.
  const std::string_view checked = reader.Bytes(num_bytes + 1);
  const uint32_t crc = reader.U32();
  if (!reader.ok()) return fault("chunk is torn");
  if (crc != base::Crc32c(checked)) return fault("bad crc");
  const std::optional<codec::ChunkEncoding> encoding =
      codec::ChunkEncodingOf(static_cast<uint8_t>(checked[0]));
  if (!encoding) return fault("unknown encoding");
  return BlockChunk{.encoding = *encoding, .bytes = checked.substr(1)};
}

}  // namespace narthex::disk
