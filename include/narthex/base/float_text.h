// Text of floats: the one place where a double becomes characters. Free functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace narthex::base {

// Shortest text that reads back exactly, as Go's strconv.FormatFloat(v, 'f', -1, 64):
// never an exponent; NaN, +Inf, -Inf.
void AppendFloatFixed(std::string* out, double value);

// The JSON API's form: fixed, or exponent form ("1e+21", "1e-07") when |v| < 1e-6 (and not 0) or
// >= 1e21; exponents have at least two digits; NaN, +Inf, -Inf.
void AppendFloatJson(std::string* out, double value);

// Go's 'g' with the shortest precision (%v): exponent form when the decimal exponent is < -4 or
// >= 21. As used by exposition text and templates ("1e+06" appears only from 1e21 on).
void AppendFloatShortG(std::string* out, double value);

// C's and Go's %g with Go's shortest precision: exponent form when exponent < -4 or >= 21 digits.
// Precision < 0 means shortest; otherwise that many significant digits (%.2g). Exponent at least
// two digits.
void AppendFloatG(std::string* out, double value, int precision = -1);

// OpenMetrics form of le and quantile label values: as Go's 'g' shortest, with ".0" added when the
// text holds neither '.', 'e' nor a letter ("1" -> "1.0"; "1e+06" stays); NaN, +Inf, -Inf.
void AppendFloatOpenMetrics(std::string* out, double value);

// Parses as Go's strconv.ParseFloat(text, 64): decimal, hex floats, underscores not allowed,
// "Inf", "+Inf", "infinity", "NaN" in any case. nullopt if any byte is left over; out-of-range
// values are infinities.
std::optional<double> ParseFloat(std::string_view text);

}  // namespace narthex::base
