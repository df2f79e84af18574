// What both text lexers are made of: tokens, character classes, and the scanning of runs. The
// lexers are state machines that must agree with Prometheus's byte for byte, odd inputs included,
// since a body is either taken or refused as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace narthex::codec {

enum class Token : uint8_t {
  kInvalid,
  kEof,
  kLinebreak,
  kHelp,
  kType,
  kUnit,
  kEofWord,
  kText,
  kComment,
  kMetricName,
  kQuotedName,
  kBraceOpen,
  kBraceClose,
  kLabelName,
  kLabelValue,
  kComma,
  kEqual,
  kTimestamp,
  kValue,
};

// As Prometheus prints them in errors.
std::string_view TokenName(Token token);

// Character classes, as bits.
inline constexpr uint8_t kMetricStart = 1;   // [a-zA-Z_:]
inline constexpr uint8_t kLabelStart = 2;    // [a-zA-Z_]
inline constexpr uint8_t kMetricRest = 4;    // [a-zA-Z0-9_:]
inline constexpr uint8_t kLabelRest = 8;     // [a-zA-Z0-9_]
inline constexpr uint8_t kTextValue = 16;    // [^{ \t\n\0]
inline constexpr uint8_t kOmValue = 32;      // [^ \n\0]
inline constexpr uint8_t kPlainQuoted = 64;  // [^"\\\n\0] and ASCII

extern const std::array<uint8_t, 256> kCharacterClasses;

inline bool IsClass(char c, uint8_t character_class) {
  return (kCharacterClasses[static_cast<uint8_t>(c)] & character_class) != 0;
}

// The position in a body; what both lexers share. All views are into the body.
struct TextCursor {
  explicit TextCursor(std::string_view body)
      : begin(body.data()), position(begin), end(begin + body.size()), start(begin) {}

  bool at_end() const { return position >= end; }
  // '\0' at the end.
  char Peek() const { return position < end ? *position : '\0'; }
  // The current token.
  std::string_view token() const { return {start, static_cast<size_t>(position - start)}; }
  std::string_view Since(const char* from) const {
    return {from, static_cast<size_t>(position - from)};
  }
  void SkipNuls() {
    while (position < end && *position == '\0') ++position;
  }
  void SkipClass(uint8_t character_class) {
    while (position < end && IsClass(*position, character_class)) ++position;
  }

  const char* const begin;
  const char* position;
  const char* const end;
  const char* start;           // Of the current token.
  bool saw_non_ascii = false;  // In the last quoted text.
};

enum class NewlinesInQuotes : uint8_t { kAllowed, kForbidden };
enum class NulsInQuotes : uint8_t { kSkipped, kForbidden };

// Scans "(\\.|[^\\"])*" from the opening quote, which is at the position. False if it does not end;
// the position is then where it went wrong.
bool ScanQuoted(TextCursor* cursor, NewlinesInQuotes newlines, NulsInQuotes nuls);

// "<expected>, got "<token's bytes>" ("TOKEN") while parsing: "<line so far>"".
absl::Status SyntaxError(const TextCursor& cursor, const char* line_start,
                         std::string_view expected, Token got);
// "<what> while parsing: "<line so far>"".
absl::Status ErrorWhileParsing(const TextCursor& cursor, const char* line_start,
                               std::string_view what);
// "<before>"<quoted>"<after>".
absl::Status QuotedError(std::string_view before, std::string_view quoted,
                         std::string_view after = "");

}  // namespace narthex::codec
