#include "head/hash.h"

#include <xxhash.h>

namespace narthex::head {

uint64_t HashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace narthex::head
