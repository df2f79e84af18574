#include "promql/parse/literals.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "promql/parse/token.h"
#include "promql/parse/utf8.h"

namespace narthex::promql {
namespace {

std::optional<double> ParseInteger(std::string_view digits, int base) {
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return static_cast<double>(value);
}

char SimpleEscape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return c;  // A backslash or the quote.
  }
}

// Appends the character of the escape sequence at `body[*at]`, just behind the backslash.
void AppendEscape(std::string* out, std::string_view body, size_t* at) {
  const char kind = body[*at];
  size_t digits_begin = *at + 1;
  size_t num_digits = 0;
  int base = 16;
  switch (kind) {
    case 'x':
      num_digits = 2;
      break;
    case 'u':
      num_digits = 4;
      break;
    case 'U':
      num_digits = 8;
      break;
    default:
      if (kind < '0' || kind > '7') {
        out->push_back(SimpleEscape(kind));
        *at += 1;
        return;
      }
      digits_begin = *at;
      num_digits = 3;
      base = 8;
  }
  const std::string_view digits = body.substr(digits_begin, num_digits);
  int32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (num_digits < 4) {
    out->push_back(static_cast<char>(value));  // A byte, not a character.
  } else {
    AppendRune(out, value);
  }
  *at = digits_begin + digits.size();
}

}  // namespace

absl::StatusOr<double> ParseNumber(std::string_view text) {
  if (text.ends_with('_')) {
    return base::InvalidArgument("strconv.ParseFloat: parsing ", Quoted(text), ": invalid syntax");
  }
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  const bool is_hex =
      digits.size() > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (is_hex) {
    if (const auto value = ParseInteger(std::string_view(digits).substr(2), 16)) return *value;
  } else if (digits.size() > 1 && digits[0] == '0') {
    if (const auto value = ParseInteger(digits, 8)) return *value;
  } else if (const auto value = ParseInteger(digits, 10)) {
    return *value;
  }
  // Hex floats need an exponent, which the lexer does not know.
  const std::optional<double> value = is_hex ? std::nullopt : base::ParseFloat(digits);
  if (!value.has_value()) {
    return base::InvalidArgument("strconv.ParseFloat: parsing ", Quoted(text), ": invalid syntax");
  }
  const bool is_named = !digits.empty() && (digits[0] == 'i' || digits[0] == 'I');
  if (std::isinf(*value) && !is_named) {
    return base::InvalidArgument("strconv.ParseFloat: parsing ", Quoted(text),
                                 ": value out of range");
  }
  return *value;
}

std::string Unquote(std::string_view quoted) {
  if (quoted.size() < 2) return std::string(quoted);
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  if (quoted[0] == '`') return std::string(body);
  std::string out;
  for (size_t at = 0; at < body.size();) {
    if (body[at] == '\\' && at + 1 < body.size()) {
      ++at;
      AppendEscape(&out, body, &at);
    } else {
      out.push_back(body[at++]);
    }
  }
  return out;
}

}  // namespace narthex::promql
