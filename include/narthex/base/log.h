// Structured log lines: level, a fixed lower-case message, then fields, as logfmt or JSON, with the
// time in front. One Logger is made by the process and handed down by constructor. Thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "narthex/base/clock.h"
#include "narthex/base/strings.h"

namespace narthex::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : uint8_t { kLogfmt, kJson };

// One field; numbers, bools and strings convert. The key lives as long as the field.
struct LogField {
  template <typename Value>
  LogField(std::string_view field_key, const Value& field_value)
      : key(field_key), value(StrCat(field_value)), is_literal(IsLiteral<Value>()) {}
  std::string_view key;
  std::string value;
  bool is_literal;  // A number or bool that JSON takes unquoted.

 private:
  template <typename Value>
  static constexpr bool IsLiteral() {
    return std::is_integral_v<Value> && !std::is_same_v<Value, char>;
  }
};

class Logger {
 public:
  virtual ~Logger() = default;
  virtual bool Enabled(LogLevel level) const = 0;
  virtual void Log(LogLevel level, std::string_view message,
                   std::initializer_list<LogField> fields) const = 0;

  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (Enabled(LogLevel::kDebug)) Log(LogLevel::kDebug, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (Enabled(LogLevel::kInfo)) Log(LogLevel::kInfo, message, fields);
  }
  void Warn(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (Enabled(LogLevel::kWarn)) Log(LogLevel::kWarn, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    if (Enabled(LogLevel::kError)) Log(LogLevel::kError, message, fields);
  }
};

// Writes to stderr: `time=2026-08-17T10:00:00.000Z level=INFO msg="..." key=value`, or the same as
// one JSON object a line (Prometheus's field names). A line is one write, so lines never mix.
// `clock` must outlive the logger.
std::unique_ptr<Logger> MakeStderrLogger(LogLevel level, LogFormat format,
                                         const Clock* clock = &SystemClock());

// Drops everything; for tests and embedding. Lives for the whole process.
const Logger& NullLogger();

}  // namespace narthex::base
