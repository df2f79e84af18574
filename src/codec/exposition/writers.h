// The writers of single families. Free functions, thread-safe.
#pragma once

#include <string>

#include "narthex/base/metrics.h"
#include "narthex/codec/exposition/writer.h"

namespace narthex::codec {

// `format` is kText or kOpenMetrics; the last line of OpenMetrics is the caller's.
void AppendFamilyText(const base::FamilySnapshot& family, WriteFormat format, std::string* out);
void AppendFamilyProtobuf(const base::FamilySnapshot& family, std::string* out);

}  // namespace narthex::codec
