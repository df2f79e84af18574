// Any bytes as meta.json, tombstones and a chunk segment.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/base/check.h"
#include "narthex/disk/block_meta.h"
#include "narthex/disk/chunk_segments.h"
#include "narthex/disk/tombstones.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

void FuzzFiles(std::string_view bytes) {
  if (const auto meta = ParseBlockMeta(bytes); meta.ok()) {
    const auto again = ParseBlockMeta(FormatBlockMeta(*meta));
    NX_CHECK(again.ok());
    NX_CHECK(again->stats == meta->stats);
  }
  if (const auto tombstones = ParseTombstones(bytes); tombstones.ok()) {
    const std::string written = FormatTombstones(*tombstones);
    NX_CHECK(FormatTombstones(ParseTombstones(written).value()) == written);
  }
  support::FaultFs fs;
  NX_CHECK(fs.CreateDirectories("chunks").ok());
  NX_CHECK(fs.Create("chunks/000001").value()->Append(bytes).ok());
  const auto segments = ChunkSegments::Open(&fs, "chunks");
  if (!segments.ok()) return;
  for (uint64_t offset = 0; offset <= bytes.size(); ++offset) {
    if (const auto chunk = (*segments)->Get(offset); chunk.ok()) {
      NX_CHECK(chunk->bytes.size() < bytes.size());
    }
  }
}

}  // namespace
}  // namespace narthex::disk

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  narthex::disk::FuzzFiles({reinterpret_cast<const char*>(data), size});
  return 0;
}
