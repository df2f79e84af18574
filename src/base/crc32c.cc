// CRC-32C two ways. The portable one takes 8 bytes a step through eight tables, each giving the
// effect of one byte at its distance from the end of the step ("slicing by 8"). The fast one uses
// SSE 4.2's instruction, compiled for that target only and chosen at run time.
#include "narthex/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace narthex::base {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78;
constexpr size_t kStep = 8;
using Tables = std::array<std::array<uint32_t, 256>, kStep>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t distance = 1; distance < kStep; ++distance) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[distance - 1][byte];
      tables[distance][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendBySse42(uint32_t crc, std::string_view bytes) {
  const char* cursor = bytes.data();
  size_t left = bytes.size();
  uint64_t state = ~crc;
  for (; left >= 8; cursor += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, cursor, sizeof word);
    state = _mm_crc32_u64(state, word);
  }
  auto narrow = static_cast<uint32_t>(state);
  for (; left > 0; ++cursor, --left) narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(*cursor));
  return ~narrow;
}
#endif

}  // namespace

uint32_t ExtendCrc32cPortable(uint32_t crc, std::string_view bytes) {
  const char* cursor = bytes.data();
  size_t left = bytes.size();
  uint32_t state = ~crc;
  for (; left >= kStep; cursor += kStep, left -= kStep) {
    uint64_t word;
    std::memcpy(&word, cursor, sizeof word);
    word ^= state;
    uint32_t next = 0;
    for (size_t i = 0; i < kStep; ++i) next ^= kTables[kStep - 1 - i][(word >> (8 * i)) & 0xff];
    state = next;
  }
  for (; left > 0; ++cursor, --left) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<uint8_t>(*cursor)) & 0xff];
  }
  return ~state;
}

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (has_sse42) return ExtendBySse42(crc, bytes);
#endif
  return ExtendCrc32cPortable(crc, bytes);
}

}  // namespace narthex::base
