#include "narthex/codec/exposition/writer.h"

#include "codec/exposition/writers.h"

namespace narthex::codec {

std::string WriteExposition(std::span<const base::FamilySnapshot> families, WriteFormat format) {
  std::string body;
  for (const base::FamilySnapshot& family : families) {
    switch (format) {
      case WriteFormat::kText:
      case WriteFormat::kOpenMetrics:
        AppendFamilyText(family, format, &body);
        break;
      case WriteFormat::kProtobufDelimited:
        AppendFamilyProtobuf(family, &body);
        break;
    }
  }
  if (format == WriteFormat::kOpenMetrics) body += "# EOF\n";
  return body;
}

}  // namespace narthex::codec
