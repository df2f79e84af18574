#include "codec/exposition/text_value.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/labels.h"
#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

// So many decimal digits are exact in a double.
constexpr size_t kExactDigits = 15;

// What from_chars leaves to others: signs, infinities, NaNs, and values out of range.
NumberError ParseRareValue(std::string_view text, double* value) {
  if (text.find_first_of("pPxX_") != std::string_view::npos) return NumberError::kSyntax;
  const std::optional<double> parsed = base::ParseFloat(text);
  if (!parsed.has_value()) return NumberError::kSyntax;
  if (IsOutOfRange(text, *parsed)) return NumberError::kRange;
  *value = std::isnan(*parsed) ? model::NormalNan() : *parsed;
  return NumberError::kNone;
}

std::string Unescape(std::string_view text, bool with_quotes) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      const char next = text[i + 1];
      if (next == '\\' || next == 'n' || (with_quotes && next == '"')) {
        out.push_back(next == 'n' ? '\n' : next);
        ++i;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace

NumberError ParseSampleValue(std::string_view text, double* value) {
  // Fast path: most samples are counts.
  if (text.size() <= kExactDigits) {
    uint64_t number = 0;
    size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      number = number * 10 + static_cast<uint64_t>(text[i] - '0');
    }
    if (i == text.size() && i > 0) {
      *value = static_cast<double>(number);
      return NumberError::kNone;
    }
  }
  double parsed = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, parsed);
  if (result.ec == std::errc() && result.ptr == end && std::isfinite(parsed)) {
    *value = parsed;
    return NumberError::kNone;
  }
  if (text.find_first_of("pP_") != std::string_view::npos) {
    return NumberError::kUnsupportedCharacter;
  }
  return ParseRareValue(text, value);
}

NumberError ParseTimeMs(std::string_view text, int64_t* time_ms) {
  int64_t parsed = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, parsed);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return NumberError::kSyntax;
  if (result.ec != std::errc()) return NumberError::kRange;
  *time_ms = parsed;
  return NumberError::kNone;
}

int64_t SecondsToMs(double seconds) {
  const double ms = seconds * 1000;
  // 2^63 is exact as a double; everything that is not below it does not fit.
  constexpr double kLimit = 9223372036854775808.0;
  if (!(ms >= -kLimit && ms < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(ms);
}

std::string NumberErrorText(NumberError error, std::string_view function, std::string_view text) {
  if (error == NumberError::kUnsupportedCharacter) return "unsupported character in float";
  std::string out = base::StrCat("strconv.", function, ": parsing ");
  model::AppendQuoted(&out, text);
  out += error == NumberError::kRange ? ": value out of range" : ": invalid syntax";
  return out;
}

bool IsOutOfRange(std::string_view text, double value) {
  return std::isinf(value) && text.find_first_of("iI") == std::string_view::npos;
}

std::string UnescapeLabel(std::string_view text) { return Unescape(text, true); }
std::string UnescapeHelp(std::string_view text) { return Unescape(text, false); }

}  // namespace narthex::codec
