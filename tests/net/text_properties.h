// What must hold for the parsers of forms, URLs and tokens, whatever bytes come in. Run on fuzzed
// bytes and on the seeds. Ends the process if it does not hold.
#pragma once

#include <string_view>

namespace narthex::net {

void CheckTextProperties(std::string_view bytes);

}  // namespace narthex::net
