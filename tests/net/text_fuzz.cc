#include <cstddef>
#include <cstdint>

#include "tests/net/text_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  narthex::net::CheckTextProperties({reinterpret_cast<const char*>(data), size});
  return 0;
}
