// Values of number and string tokens. Free functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace narthex::promql {

// Integers (decimal, 0x hex, 0 octal), decimal floats, Inf and NaN in any case, underscores between
// digits. kInvalidArgument with Go's text if out of range or of no such form.
absl::StatusOr<double> ParseNumber(std::string_view text);

// The value of a quoted string whose escapes the lexer has checked; '..', "..", `..`.
std::string Unquote(std::string_view quoted);

}  // namespace narthex::promql
