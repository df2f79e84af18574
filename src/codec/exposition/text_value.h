// Numbers and escapes of the text formats. Free functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace narthex::codec {

enum class NumberError : uint8_t { kNone, kUnsupportedCharacter, kSyntax, kRange };

// A sample's value: Go's floats of before hexadecimal and underscores. Every NaN becomes the one
// normal NaN. `*value` is set only on success.
NumberError ParseSampleValue(std::string_view text, double* value);

// A time in milliseconds: decimal digits with an optional sign.
NumberError ParseTimeMs(std::string_view text, int64_t* time_ms);

// OpenMetrics seconds to milliseconds, cut towards zero; what does not fit is the smallest int64_t.
int64_t SecondsToMs(double seconds);

// Go's text for a number that did not parse; `function` is "ParseFloat" or "ParseInt".
std::string NumberErrorText(NumberError error, std::string_view function, std::string_view text);

// Whether `value` is an infinity that `text` does not spell out.
bool IsOutOfRange(std::string_view text, double value);

// \\, \" and \n resolved; any other backslash stays.
std::string UnescapeLabel(std::string_view text);
// \\ and \n resolved.
std::string UnescapeHelp(std::string_view text);

}  // namespace narthex::codec
