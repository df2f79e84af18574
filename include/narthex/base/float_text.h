// Text of floats: the one place where a double becomes characters, and back. NaN is "NaN" and the
// infinities are "+Inf" and "-Inf" in every form; negative zero keeps its sign; exponents have a
// sign and at least two digits. Free functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace narthex::base {

// The shortest digits that read back exactly, without an exponent, as Go's
// strconv.FormatFloat(v, 'f', -1, 64).
void AppendFloatFixed(std::string* out, double value);

// The JSON API's form: as AppendFloatFixed(), but with an exponent ("1e+21", "1e-07") when
// |v| < 1e-6 (and not 0) or >= 1e21.
void AppendFloatJson(std::string* out, double value);

// Go's 'g' and %v, C's %g. `precision` < 0: the shortest digits that read back exactly, with an
// exponent when it is < -4 or >= 6 ("100000", "1e+06", "1.234567e+06"). Otherwise that many
// significant digits (0 means 1) without trailing zeros, with an exponent when it is < -4 or >=
// `precision`. As used by exposition text, templates and the text of histograms.
void AppendFloatG(std::string* out, double value, int precision = -1);

// OpenMetrics form of le and quantile label values: as AppendFloatG(), with ".0" added when the
// text would read as an integer ("1" -> "1.0"; "1e+06" stays).
void AppendFloatOpenMetrics(std::string* out, double value);

// Parses as Go's strconv.ParseFloat(text, 64), underscores excepted: decimal, hexadecimal
// ("0x1p-2"; the exponent is a must), [+-]Inf, [+-]Infinity and NaN in any case. nullopt if any
// byte is left over. Values too large are infinities, values too small zeros.
std::optional<double> ParseFloat(std::string_view text);

}  // namespace narthex::base
