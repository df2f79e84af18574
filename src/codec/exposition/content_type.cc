#include <optional>

#include "codec/exposition/media_type.h"
#include "narthex/base/status.h"
#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {
namespace {

std::optional<ExpositionFormat> FormatOfMediaType(std::string_view type) {
  if (type == "application/openmetrics-text") return ExpositionFormat::kOpenMetrics;
  if (type == "application/vnd.google.protobuf") return ExpositionFormat::kProtobuf;
  if (type == "text/plain") return ExpositionFormat::kText;
  return std::nullopt;
}

std::optional<ExpositionFormat> FormatOfProtocol(std::string_view protocol) {
  if (protocol == "PrometheusProto") return ExpositionFormat::kProtobuf;
  if (protocol.starts_with("PrometheusText")) return ExpositionFormat::kText;
  if (protocol.starts_with("OpenMetricsText")) return ExpositionFormat::kOpenMetrics;
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ExpositionFormat> FormatOfContentType(std::string_view content_type,
                                                     std::string_view fallback) {
  absl::Status error;
  std::string quoted;
  model::AppendQuoted(&quoted, content_type);
  if (content_type.empty()) {
    error = base::InvalidArgument(
        "non-compliant scrape target sending blank Content-Type and no fallback_scrape_protocol "
        "specified for target");
  } else if (const auto media = ParseMediaType(content_type); !media.ok()) {
    error = base::InvalidArgument("cannot parse Content-Type ", quoted,
                                  " and no fallback_scrape_protocol for target\n",
                                  base::Message(media.status()));
  } else if (const auto format = FormatOfMediaType(media->type)) {
    return *format;
  } else {
    error = base::InvalidArgument("received unsupported Content-Type ", quoted,
                                  " and no fallback_scrape_protocol specified for target");
  }
  if (const auto format = FormatOfProtocol(fallback)) return *format;
  return error;
}

}  // namespace narthex::codec
