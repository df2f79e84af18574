// UTF-8 rune by rune. Free functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace narthex::promql {

inline constexpr int32_t kReplacementRune = 0xFFFD;

struct Rune {
  int32_t value = kReplacementRune;
  size_t width = 1;
};

// The first rune of `text`; kReplacementRune with width 1 where the bytes are no UTF-8.
// REQUIRES: !text.empty().
Rune DecodeRune(std::string_view text);

// kReplacementRune for what is no code point.
void AppendRune(std::string* out, int32_t rune);
std::string EncodeRune(int32_t rune);

}  // namespace narthex::promql
