#include "narthex/codec/chunk/encoding.h"

#include "narthex/base/bytes.h"

namespace narthex::codec {

size_t NumChunkSamples(ChunkEncoding encoding, std::string_view chunk) {
  if (chunk.size() < 2) return 0;
  const auto count = base::LoadBigEndian<uint16_t>(chunk.data());
  const bool shares_bits =
      encoding == ChunkEncoding::kHistogramSt || encoding == ChunkEncoding::kFloatHistogramSt;
  return shares_bits ? count & 0x3fff : count;  // The top two bits are the counter reset header.
}

}  // namespace narthex::codec
