// Numbers in file names: segments and head chunk files are named by decimal numbers of any width.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace narthex::disk {

// A number written in decimal digits only.
inline std::optional<uint64_t> ParseFileNumber(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace narthex::disk
