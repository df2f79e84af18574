#include <snappy.h>

#include "narthex/base/status.h"
#include "narthex/codec/remote/write_v1.h"

namespace narthex::codec {
namespace {

// A copy of 64 bytes takes 3, so no block grows by more than this when it is decoded.
constexpr size_t kMaxGrowth = 22;

}  // namespace

absl::StatusOr<std::string> UncompressSnappyBlock(std::string_view block, size_t max_bytes) {
  size_t num_bytes = 0;
  if (!snappy::GetUncompressedLength(block.data(), block.size(), &num_bytes)) {
    return base::InvalidArgument("snappy: corrupt input");
  }
  if (num_bytes > max_bytes) {
    return base::ResourceExhausted("decoded size exceeds the ", max_bytes, " bytes limit");
  }
  std::string bytes;
  if (num_bytes > block.size() * kMaxGrowth) {
    return base::InvalidArgument("snappy: corrupt input");
  }
  bytes.resize(num_bytes);
  if (!snappy::RawUncompress(block.data(), block.size(), bytes.data())) {
    return base::InvalidArgument("snappy: corrupt input");
  }
  return bytes;
}

}  // namespace narthex::codec
