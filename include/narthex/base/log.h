// Structured log lines: level, a fixed lower-case message, then fields, as logfmt or JSON, with the
// time in front. One Logger is made by the process and handed down by constructor. Thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "narthex/base/strings.h"

namespace narthex::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : uint8_t { kLogfmt, kJson };

// One field; numbers and strings convert. The text lives as long as the field.
struct LogField {
  template <typename Value>
  LogField(std::string_view field_key, const Value& field_value)
      : key(field_key), value(StrCat(field_value)) {}
  std::string_view key;
  std::string value;
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
// one JSON object a line (Prometheus's field names).
std::unique_ptr<Logger> MakeStderrLogger(LogLevel level, LogFormat format);

// Drops everything; for tests and embedding. Lives for the whole process.
const Logger& NullLogger();

}  // namespace narthex::base
