#include "base/log_line.h"

#include <ctime>

namespace narthex::base {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
  }
  return "";
}

void AppendPadded(std::string* out, int64_t number, size_t width) {
  const std::string digits = StrCat(number);
  if (digits.size() < width) out->append(width - digits.size(), '0');
  out->append(digits);
}

// 2026-08-17T10:00:00.000Z
void AppendTime(std::string* out, int64_t time_ms) {
  int64_t seconds = time_ms / 1000;
  int64_t milliseconds = time_ms % 1000;
  if (milliseconds < 0) {
    milliseconds += 1000;
    --seconds;
  }
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  AppendPadded(out, utc.tm_year + 1900, 4);
  for (const auto& [separator, number] :
       {std::pair('-', utc.tm_mon + 1), std::pair('-', utc.tm_mday), std::pair('T', utc.tm_hour),
        std::pair(':', utc.tm_min), std::pair(':', utc.tm_sec)}) {
    out->push_back(separator);
    AppendPadded(out, number, 2);
  }
  out->push_back('.');
  AppendPadded(out, milliseconds, 3);
  out->push_back('Z');
}

// Bytes of the valid UTF-8 rune at the start of `text`, which is not ASCII; 0 if there is none.
size_t RuneSize(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t size = 0;
  unsigned min_second = 0x80;
  unsigned max_second = 0xbf;
  if (byte(0) >= 0xc2 && byte(0) <= 0xdf) {
    size = 2;
  } else if (byte(0) >= 0xe0 && byte(0) <= 0xef) {
    size = 3;
    if (byte(0) == 0xe0) min_second = 0xa0;
    if (byte(0) == 0xed) max_second = 0x9f;
  } else if (byte(0) >= 0xf0 && byte(0) <= 0xf4) {
    size = 4;
    if (byte(0) == 0xf0) min_second = 0x90;
    if (byte(0) == 0xf4) max_second = 0x8f;
  }
  if (size == 0 || text.size() < size || byte(1) < min_second || byte(1) > max_second) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return size;
}

// `text` in quotes, with the escapes that JSON and Go strings share. Other control characters and
// bytes that are no UTF-8 become \u00xx and U+FFFD in JSON, \xNN in logfmt.
void AppendQuoted(std::string* out, std::string_view text, LogFormat format) {
  const std::string_view byte_escape = format == LogFormat::kJson ? "\\u00" : "\\x";
  out->push_back('"');
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t size = 1;
    if (byte == '"' || byte == '\\') {
      out->push_back('\\');
      out->push_back(text[i]);
    } else if (byte == '\n') {
      out->append("\\n");
    } else if (byte == '\r') {
      out->append("\\r");
    } else if (byte == '\t') {
      out->append("\\t");
    } else if (byte >= 0x20 && byte < 0x7f) {
      out->push_back(text[i]);
    } else if (const size_t rune_size = byte < 0x80 ? 0 : RuneSize(text.substr(i)); rune_size > 0) {
      out->append(text.substr(i, rune_size));
      size = rune_size;
    } else if (byte >= 0x80 && format == LogFormat::kJson) {
      out->append("\\ufffd");
    } else {
      out->append(byte_escape);
      out->push_back(kHexDigits[byte >> 4]);
      out->push_back(kHexDigits[byte & 15]);
    }
    i += size;
  }
  out->push_back('"');
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte <= ' ' || byte == '"' || byte == '=' || byte == 0x7f) return true;
    const size_t size = byte < 0x80 ? 1 : RuneSize(text.substr(i));
    if (size == 0) return true;
    i += size;
  }
  return false;
}

class Line {
 public:
  explicit Line(LogFormat format) : format_(format) {
    if (format_ == LogFormat::kJson) text_.push_back('{');
  }
  void Add(std::string_view key, std::string_view value, bool is_literal) {
    if (!is_first_) text_.push_back(format_ == LogFormat::kJson ? ',' : ' ');
    is_first_ = false;
    if (format_ == LogFormat::kJson) {
      AppendQuoted(&text_, key, format_);
      text_.push_back(':');
    } else {
      text_.append(key);
      text_.push_back('=');
    }
    if (format_ == LogFormat::kJson ? is_literal : !NeedsQuotes(value)) {
      text_.append(value);
    } else {
      AppendQuoted(&text_, value, format_);
    }
  }
  std::string Finish() && {
    text_.append(format_ == LogFormat::kJson ? "}\n" : "\n");
    return std::move(text_);
  }

 private:
  const LogFormat format_;
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string FormatLogLine(LogFormat format, int64_t time_ms, LogLevel level,
                          std::string_view message, std::initializer_list<LogField> fields) {
  std::string time;
  AppendTime(&time, time_ms);
  Line line(format);
  line.Add("time", time, false);
  line.Add("level", LevelName(level), false);
  line.Add("msg", message, false);
  for (const LogField& field : fields) line.Add(field.key, field.value, field.is_literal);
  return std::move(line).Finish();
}

}  // namespace narthex::base
