// Every form starts from the shortest decimal digits d1 d2 .. dn and the exponent e of d1 (that is
// d1.d2..dn * 10^e), as std::to_chars() finds them, and lays them out itself: to_chars' own fixed
// form of large numbers has digits beyond the shortest ones (1e23 -> 99999999999999991611392).
#include "narthex/base/float_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "absl/strings/charconv.h"

namespace narthex::base {
namespace {

// Exponents from which the forms switch to exponent notation.
constexpr int kMinFixedExponentJson = -6;
constexpr int kMaxFixedExponentJson = 20;
constexpr int kMinFixedExponentG = -4;
constexpr int kMaxFixedExponentG = 5;
// Integers below this are exact and their digits are the shortest ones.
constexpr double kMaxPlainInteger = 1e15;
constexpr int kMaxSignificantDigits = 800;

struct Digits {
  char digits[24];
  int num_digits = 0;
  int exponent = 0;
};

// Writes what has no digits: NaN and the infinities.
bool AppendSpecial(std::string* out, double value) {
  if (std::isnan(value)) {
    out->append("NaN");
    return true;
  }
  if (std::isinf(value)) {
    out->append(value > 0 ? "+Inf" : "-Inf");
    return true;
  }
  return false;
}

// Fast path: counts and timestamps are small integers, which need no search for digits. False if
// `value` is not one; |value| must also stay below `limit`.
bool AppendSmallInteger(std::string* out, double value, double limit) {
  if (!(std::fabs(value) < limit)) return false;
  const auto integer = static_cast<int64_t>(value);
  if (static_cast<double>(integer) != value || (integer == 0 && std::signbit(value))) return false;
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, integer);
  out->append(buffer, result.ptr);
  return true;
}

// `value` is finite and not negative.
Digits ShortestDigits(double value) {
  char buffer[40];
  const char* const end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  Digits result;
  const char* cursor = buffer;
  for (; *cursor != 'e'; ++cursor) {
    if (*cursor != '.') result.digits[result.num_digits++] = *cursor;
  }
  ++cursor;
  if (*cursor == '+') ++cursor;
  std::from_chars(cursor, end, result.exponent);
  return result;
}

void AppendFixedLayout(std::string* out, const Digits& d) {
  const std::string_view digits(d.digits, static_cast<size_t>(d.num_digits));
  if (d.exponent < 0) {
    out->append("0.");
    out->append(static_cast<size_t>(-d.exponent - 1), '0');
    out->append(digits);
    return;
  }
  const auto num_integer_digits = static_cast<size_t>(d.exponent) + 1;
  if (digits.size() <= num_integer_digits) {
    out->append(digits);
    out->append(num_integer_digits - digits.size(), '0');
    return;
  }
  out->append(digits.substr(0, num_integer_digits));
  out->push_back('.');
  out->append(digits.substr(num_integer_digits));
}

void AppendExponentLayout(std::string* out, const Digits& d) {
  out->push_back(d.digits[0]);
  if (d.num_digits > 1) {
    out->push_back('.');
    out->append(d.digits + 1, static_cast<size_t>(d.num_digits - 1));
  }
  out->push_back('e');
  out->push_back(d.exponent < 0 ? '-' : '+');
  const int magnitude = std::abs(d.exponent);
  if (magnitude < 10) out->push_back('0');
  char buffer[8];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, magnitude);
  out->append(buffer, result.ptr);
}

// The shortest digits of `value` in fixed layout if min_fixed <= exponent <= max_fixed, else with
// an exponent. Zero has exponent 0.
void AppendShortest(std::string* out, double value, int min_fixed, int max_fixed) {
  if (std::signbit(value)) out->push_back('-');
  const Digits digits = ShortestDigits(std::fabs(value));
  if (digits.exponent < min_fixed || digits.exponent > max_fixed) {
    AppendExponentLayout(out, digits);
  } else {
    AppendFixedLayout(out, digits);
  }
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (Lower(text[i]) != lower[i]) return false;
  }
  return true;
}

// `text` has no sign. absl's parser rounds hexadecimal digits correctly and, unlike
// std::from_chars, tells an overflow from an underflow.
std::optional<double> ParseWithRange(std::string_view text, absl::chars_format format) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = absl::from_chars(text.data(), end, value, format);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range && value > 1) {
    return std::numeric_limits<double>::infinity();
  }
  return value;
}

std::optional<double> ParseMagnitude(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.size() > 2 && text[0] == '0' && Lower(text[1]) == 'x') {
    text.remove_prefix(2);
    // absl would take a sign, "inf" or a number without exponent here.
    if (Lower(text[0]) == 'i' || Lower(text[0]) == 'n' || text[0] == '-') return std::nullopt;
    if (text.find_first_of("pP") == std::string_view::npos) return std::nullopt;
    return ParseWithRange(text, absl::chars_format::hex);
  }
  if (text[0] != '.' && (text[0] < '0' || text[0] > '9')) {
    if (EqualsIgnoringCase(text, "inf") || EqualsIgnoringCase(text, "infinity")) {
      return std::numeric_limits<double>::infinity();
    }
    return std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc()) return value;
  return ParseWithRange(text, absl::chars_format::general);
}

}  // namespace

void AppendFloatFixed(std::string* out, double value) {
  if (AppendSmallInteger(out, value, kMaxPlainInteger) || AppendSpecial(out, value)) return;
  AppendShortest(out, value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}

void AppendFloatJson(std::string* out, double value) {
  if (AppendSmallInteger(out, value, kMaxPlainInteger) || AppendSpecial(out, value)) return;
  AppendShortest(out, value, kMinFixedExponentJson, kMaxFixedExponentJson);
}

void AppendFloatG(std::string* out, double value, int precision) {
  if (precision < 0) {
    if (AppendSmallInteger(out, value, 1e6) || AppendSpecial(out, value)) return;
    AppendShortest(out, value, kMinFixedExponentG, kMaxFixedExponentG);
    return;
  }
  if (AppendSpecial(out, value)) return;
  // No double has more digits than this, and trailing zeros are not written.
  if (precision > kMaxSignificantDigits) precision = kMaxSignificantDigits;
  char buffer[kMaxSignificantDigits + 16];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, precision);
  out->append(buffer, result.ptr);
}

void AppendFloatOpenMetrics(std::string* out, double value) {
  const size_t start = out->size();
  AppendFloatG(out, value);
  if (out->find_first_of(".eNI", start) == std::string::npos) out->append(".0");
}

std::optional<double> ParseFloat(std::string_view text) {
  if (EqualsIgnoringCase(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  bool is_negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const std::optional<double> magnitude = ParseMagnitude(text);
  if (!magnitude) return std::nullopt;
  return is_negative ? -*magnitude : *magnitude;
}

}  // namespace narthex::base
