// What label and metric names may look like, and Go's quoted form of texts. Both read UTF-8 as Go
// does: no overlong forms, no surrogates, nothing above U+10FFFF.
#include <cstdint>

#include "narthex/base/check.h"
#include "narthex/base/regex.h"
#include "narthex/model/labels.h"

namespace narthex::model {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

struct Rune {
  uint32_t code;
  size_t size;  // 0: no valid UTF-8 here.
};

uint32_t Byte(std::string_view text, size_t index) { return static_cast<uint8_t>(text[index]); }

bool IsContinuation(std::string_view text, size_t index) {
  return (Byte(text, index) & 0xc0) == 0x80;
}

// REQUIRES: `text` is not empty.
Rune FirstRune(std::string_view text) {
  const uint32_t first = Byte(text, 0);
  if (first < 0x80) return {first, 1};
  size_t size = 0;
  uint32_t code = 0;
  uint32_t smallest = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    size = 2, code = first & 0x1f, smallest = 0x80;
  } else if (first >= 0xe0 && first <= 0xef) {
    size = 3, code = first & 0x0f, smallest = 0x800;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4, code = first & 0x07, smallest = 0x10000;
  }
  if (size == 0 || text.size() < size) return {0, 0};
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text, i)) return {0, 0};
    code = (code << 6) | (Byte(text, i) & 0x3f);
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest || code > 0x10ffff || is_surrogate) return {0, 0};
  return {code, size};
}

// Letters, marks, numbers, punctuation, symbols and the ASCII space.
bool IsPrintable(std::string_view rune_text) {
  if (rune_text.size() == 1) return rune_text[0] >= ' ' && rune_text[0] < 0x7f;
  static const base::Regex* const kPrintable = [] {
    absl::StatusOr<base::Regex> regex = base::Regex::CompileAnchored(R"([\pL\pM\pN\pP\pS])");
    NX_CHECK(regex.ok());
    return std::make_unique<base::Regex>(*std::move(regex)).release();
  }();
  return kPrintable->Matches(rune_text);
}

void AppendHex(std::string* out, uint32_t value, int num_digits) {
  for (int shift = 4 * (num_digits - 1); shift >= 0; shift -= 4) {
    out->push_back(kHexDigits[(value >> shift) & 0xf]);
  }
}

void AppendEscaped(std::string* out, uint32_t code) {
  switch (code) {
    case '\a':
      out->append("\\a");
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\f':
      out->append("\\f");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    case '\v':
      out->append("\\v");
      return;
    default:
      break;
  }
  if (code < ' ' || code == 0x7f) {
    out->append("\\x");
    AppendHex(out, code, 2);
  } else if (code < 0x10000) {
    out->append("\\u");
    AppendHex(out, code, 4);
  } else {
    out->append("\\U");
    AppendHex(out, code, 8);
  }
}

bool IsLegacyName(std::string_view name, bool colon_allowed) {
  if (name.empty()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_letter && !(is_digit && i > 0) && !(c == ':' && colon_allowed)) return false;
  }
  return true;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    // Fast path: ASCII, which nearly all names and values are.
    if (Byte(text, position) < 0x80) {
      ++position;
      continue;
    }
    const Rune rune = FirstRune(text.substr(position));
    if (rune.size == 0) return false;
    position += rune.size;
  }
  return true;
}

bool IsValidMetricName(std::string_view name, NameValidation validation) {
  if (validation == NameValidation::kLegacy) return IsLegacyName(name, /*colon_allowed=*/true);
  return !name.empty() && IsValidUtf8(name);
}

bool IsValidLabelName(std::string_view name, NameValidation validation) {
  if (validation == NameValidation::kLegacy) return IsLegacyName(name, /*colon_allowed=*/false);
  return !name.empty() && IsValidUtf8(name);
}

void AppendQuoted(std::string* out, std::string_view text) {
  out->push_back('"');
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (rune.size == 0) {
      out->append("\\x");
      AppendHex(out, Byte(text, 0), 2);
      text.remove_prefix(1);
      continue;
    }
    const std::string_view rune_text = text.substr(0, rune.size);
    if (rune.code == '"' || rune.code == '\\') {
      out->push_back('\\');
      out->append(rune_text);
    } else if (IsPrintable(rune_text)) {
      out->append(rune_text);
    } else {
      AppendEscaped(out, rune.code);
    }
    text.remove_prefix(rune.size);
  }
  out->push_back('"');
}

}  // namespace narthex::model
