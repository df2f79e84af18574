// What a reader read, as text that tests compare. One line an entry:
//
//   type http_requests_total counter
//   {__name__="http_requests_total", code="200"} 1027 @1395066363000 start=5 #{id="x"} 0.5 @7
//
// followed, if the body is bad, by "error: <message>".
#pragma once

#include <string>
#include <string_view>

#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {

std::string ReadAll(ExpositionFormat format, std::string_view body,
                    const ReaderOptions& options = {});

// Reads `body` and checks what must hold for any bytes: an end, OK or kInvalidArgument, and views
// that can be read. Ends the process if they do not, so that fuzz targets can use it.
void CheckReadable(ExpositionFormat format, std::string_view body);

}  // namespace narthex::codec
