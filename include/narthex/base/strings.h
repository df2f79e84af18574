// String building and the bridge between std::string_view and Abseil's own string_view, which some
// builds of Abseil refuse to convert implicitly. Immutable free functions; thread-safe.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/string_view.h"

namespace narthex::base {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

namespace internal {

inline void AppendPiece(std::string* out, std::string_view piece) { out->append(piece); }

template <typename Number>
requires std::is_arithmetic_v<Number>
void AppendPiece(std::string* out, Number number) {
  if constexpr (std::is_same_v<Number, bool>) {
    out->append(number ? "true" : "false");
  } else if constexpr (std::is_same_v<Number, char>) {
    out->push_back(number);
  } else {
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
    out->append(buffer, result.ptr);
  }
}

}  // namespace internal

// Appends all pieces (strings, numbers; a bool as true/false, a char as itself) to `*out`.
template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  (internal::AppendPiece(out, pieces), ...);
}

// The pieces joined without a separator. Floats take their shortest round-trip form.
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  StrAppend(&out, pieces...);
  return out;
}

}  // namespace narthex::base
