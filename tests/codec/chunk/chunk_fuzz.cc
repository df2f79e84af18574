// Any bytes as a chunk: the first byte is the encoding. What decodes must be writable again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/base/check.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"

namespace narthex::codec {
namespace {

void FuzzFloats(ChunkEncoding encoding, std::string_view chunk) {
  FloatColumns columns;
  if (!DecodeFloatChunk(encoding, chunk, &columns).ok() || columns.times_ms.empty()) return;
  std::string written;
  EncodeXorChunk(columns.times_ms, columns.values, &written);
  FloatColumns again;
  NX_CHECK(DecodeFloatChunk(ChunkEncoding::kXor, written, &again).ok());
  NX_CHECK(again.times_ms == columns.times_ms);
  std::string reopened(chunk);
  if (auto appender = XorAppender::Open(&reopened); appender.ok()) appender->Append(1, 2);
}

template <typename H>
void FuzzAppender(std::string chunk) {
  auto appender = BasicHistogramAppender<H>::Open(&chunk);
  if (!appender.ok() || appender->num_samples() == kMaxChunkSamples) return;
  const H again = appender->num_samples() > 0 ? appender->last() : H();
  if (again.layout != nullptr && appender->Offer(again).fit == Fit::kAppend) {
    appender->Append(appender->last_time_ms() + 1, again);
  }
}

void FuzzHistograms(ChunkEncoding encoding, std::string_view chunk) {
  HistogramColumns full, narrow;
  const bool ok = DecodeHistogramChunk(encoding, chunk, model::HistogramDetail::kFull, &full).ok();
  const bool narrow_ok =
      DecodeHistogramChunk(encoding, chunk, model::HistogramDetail::kCountAndSum, &narrow).ok();
  if (ok) {
    NX_CHECK(narrow_ok);
    NX_CHECK(full.times_ms == narrow.times_ms);
    NX_CHECK_EQ(full.buckets.size(), full.times_ms.size() * full.layout->num_buckets());
  }
  if (encoding == ChunkEncoding::kHistogram) FuzzAppender<model::Histogram>(std::string(chunk));
  if (encoding == ChunkEncoding::kFloatHistogram) {
    FuzzAppender<model::FloatHistogram>(std::string(chunk));
  }
}

}  // namespace
}  // namespace narthex::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace codec = narthex::codec;
  if (size == 0) return 0;
  const auto encoding = codec::ChunkEncodingOf(data[0]);
  if (!encoding.has_value()) return 0;
  const std::string_view chunk(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (codec::IsFloatEncoding(*encoding)) {
    codec::FuzzFloats(*encoding, chunk);
  } else {
    codec::FuzzHistograms(*encoding, chunk);
  }
  return 0;
}
