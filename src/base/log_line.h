// The text of one log line. Pure; free functions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "narthex/base/log.h"

namespace narthex::base {

// With the newline.
std::string FormatLogLine(LogFormat format, int64_t time_ms, LogLevel level,
                          std::string_view message, std::initializer_list<LogField> fields);

}  // namespace narthex::base
