// The first byte picks the format, the rest is the body.
#include <cstddef>
#include <cstdint>

#include "tests/codec/exposition/entry_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using narthex::codec::ExpositionFormat;
  if (size == 0) return 0;
  const auto format = static_cast<ExpositionFormat>(data[0] % 3);
  narthex::codec::CheckReadable(format, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
