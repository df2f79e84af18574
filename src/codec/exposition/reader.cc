#include "narthex/codec/exposition/reader.h"

#include "codec/exposition/readers.h"

namespace narthex::codec {

std::unique_ptr<ExpositionReader> NewExpositionReader(ExpositionFormat format,
                                                      std::string_view body,
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

}  // namespace narthex::codec
