#include "narthex/codec/exposition/reader.h"

#include "codec/exposition/readers.h"

namespace narthex::codec {

namespace {

std::unique_ptr<ExpositionReader> NewFormatReader(ExpositionFormat format, std::string_view body,
                                                  const ReaderOptions& options) {
  switch (format) {
    case ExpositionFormat::kOpenMetrics:
      return NewOpenMetricsReader(body, options);
    case ExpositionFormat::kProtobuf:
      return NewProtobufReader(body, options);
    case ExpositionFormat::kText:
      break;
  }
  return NewTextReader(body, options);
}

}  // namespace

std::unique_ptr<ExpositionReader> NewExpositionReader(ExpositionFormat format,
                                                      std::string_view body,
                                                      const ReaderOptions& options) {
  std::unique_ptr<ExpositionReader> reader = NewFormatReader(format, body, options);
  if (!options.convert_classic_to_custom_buckets) return reader;
  return NewCustomBucketReader(std::move(reader), options.classic_with_native);
}

}  // namespace narthex::codec
