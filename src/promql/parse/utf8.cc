#include "promql/parse/utf8.h"

namespace narthex::promql {
namespace {

bool IsSurrogate(int32_t rune) { return rune >= 0xD800 && rune < 0xE000; }

}  // namespace

Rune DecodeRune(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<int32_t>(static_cast<uint8_t>(text[i])); };
  const int32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < width) return {};
  int32_t rune = first & (0xFF >> (width + 1));
  for (size_t i = 1; i < width; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    rune = rune << 6 | (byte(i) & 0x3F);
  }
  static constexpr int32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (rune < kSmallest[width] || rune > 0x10FFFF || IsSurrogate(rune)) return {};
  return {rune, width};
}

void AppendRune(std::string* out, int32_t rune) {
  if (rune < 0 || rune > 0x10FFFF || IsSurrogate(rune)) rune = kReplacementRune;
  const auto push = [&](int32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (rune < 0x80) {
    push(rune);
  } else if (rune < 0x800) {
    push(0xC0 | rune >> 6);
    push(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    push(0xE0 | rune >> 12);
    push(0x80 | (rune >> 6 & 0x3F));
    push(0x80 | (rune & 0x3F));
  } else {
    push(0xF0 | rune >> 18);
    push(0x80 | (rune >> 12 & 0x3F));
    push(0x80 | (rune >> 6 & 0x3F));
    push(0x80 | (rune & 0x3F));
  }
}

std::string EncodeRune(int32_t rune) {
  std::string out;
  AppendRune(&out, rune);
  return out;
}

}  // namespace narthex::promql
