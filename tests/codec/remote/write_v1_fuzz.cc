// Any bytes as a decoded message of remote write.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/codec/remote/write_v1.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace codec = narthex::codec;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  codec::WriteRequestReader reader(message);
  codec::WriteSeries series;
  std::vector<narthex::model::Label> labels;
  while (reader.NextSeries(&series)) {
    const absl::Status status = codec::DecodeWriteLabels(series, &labels);
    NX_CHECK(status.ok() || absl::IsInvalidArgument(status));
    for (const codec::WriteHistogram& histogram : series.histograms) {
      if (!histogram.status.ok()) continue;
      const bool is_valid = histogram.is_float
                                ? narthex::model::Validate(histogram.float_histogram).ok()
                                : narthex::model::Validate(histogram.histogram).ok();
      if (is_valid) NX_CHECK(histogram.is_float || histogram.histogram.layout != nullptr);
    }
  }
  codec::WriteMetadata metadata;
  while (reader.NextMetadata(&metadata)) {
  }
  NX_CHECK(reader.status().ok() || absl::IsInvalidArgument(reader.status()));
  codec::UncompressSnappyBlock(message, 1 << 20).status().IgnoreError();
  return 0;
}
