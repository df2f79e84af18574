#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/promql/parse/seeds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* const text = reinterpret_cast<const char*>(data);
  narthex::promql::CheckParser(std::string_view(text, size));
  return 0;
}
