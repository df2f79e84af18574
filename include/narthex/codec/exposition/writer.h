// Writes the server's own metrics (base/metrics.h) as exposition bodies. Pure; free functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "narthex/base/metrics.h"

namespace narthex::codec {

enum class WriteFormat : uint8_t { kText, kOpenMetrics, kProtobufDelimited };

struct NegotiatedFormat {
  WriteFormat format = WriteFormat::kText;
  std::string content_type;  // The answer's Content-Type.
};

// Picks the format of an Accept header by its weights; plain text 0.0.4 when nothing fits.
NegotiatedFormat NegotiateFormat(std::string_view accept);

// One whole body. Native histograms are written in protobuf only.
std::string WriteExposition(std::span<const base::FamilySnapshot> families, WriteFormat format);

}  // namespace narthex::codec
