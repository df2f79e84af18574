#include "codec/exposition/text_token.h"

#include <algorithm>

#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::codec {
namespace {

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (int i = 0; i < 256; ++i) {
    const bool is_letter = (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z') || i == '_';
    const bool is_digit = i >= '0' && i <= '9';
    const bool ends_value = i == ' ' || i == '\n' || i == 0;
    int bits = 0;
    if (is_letter) bits |= kLabelStart | kLabelRest | kMetricStart | kMetricRest;
    if (i == ':') bits |= kMetricStart | kMetricRest;
    if (is_digit) bits |= kLabelRest | kMetricRest;
    if (!ends_value) bits |= kOmValue;
    if (!ends_value && i != '\t' && i != '{') bits |= kTextValue;
    if (i != '"' && i != '\\' && i != '\n' && i != 0 && i < 0x80) bits |= kPlainQuoted;
    classes[static_cast<size_t>(i)] = static_cast<uint8_t>(bits);
  }
  return classes;
}

}  // namespace

constexpr std::array<uint8_t, 256> kCharacterClasses = MakeClasses();

std::string_view TokenName(Token token) {
  static constexpr std::string_view kNames[] = {
      "INVALID", "EOF",     "LINEBREAK", "HELP",      "TYPE",  "UNIT",   "EOFWORD",
      "TEXT",    "COMMENT", "MNAME",     "QSTRING",   "BOPEN", "BCLOSE", "LNAME",
      "LVALUE",  "COMMA",   "EQUAL",     "TIMESTAMP", "VALUE"};
  return kNames[static_cast<size_t>(token)];
}

bool ScanQuoted(TextCursor* cursor, NewlinesInQuotes newlines, NulsInQuotes nuls) {
  const bool skip_nuls = nuls == NulsInQuotes::kSkipped;
  cursor->saw_non_ascii = false;
  ++cursor->position;
  while (true) {
    // Fast path: a run of ordinary ASCII.
    cursor->SkipClass(kPlainQuoted);
    if (cursor->at_end()) return false;
    const char c = *cursor->position;
    if (c == '"') break;
    if (c == '\0') {
      if (!skip_nuls) return false;
    } else if (c == '\n') {
      if (newlines == NewlinesInQuotes::kForbidden) return false;
    } else if (c == '\\') {
      ++cursor->position;
      if (skip_nuls) cursor->SkipNuls();
      const char escaped = cursor->Peek();
      if (escaped == '\n' || escaped == '\0') return false;
      if (static_cast<uint8_t>(escaped) >= 0x80) cursor->saw_non_ascii = true;
    } else {
      cursor->saw_non_ascii = true;
    }
    ++cursor->position;
  }
  ++cursor->position;
  if (skip_nuls) cursor->SkipNuls();
  return true;
}

absl::Status SyntaxError(const TextCursor& cursor, const char* line_start,
                         std::string_view expected, Token got) {
  const char* const stop = cursor.end - cursor.position > 1 ? cursor.position + 1 : cursor.end;
  std::string text = base::StrCat(expected, ", got ");
  model::AppendQuoted(&text, {cursor.start, static_cast<size_t>(stop - cursor.start)});
  base::StrAppend(&text, " (\"", TokenName(got), "\") while parsing: ");
  model::AppendQuoted(&text, {line_start, static_cast<size_t>(stop - line_start)});
  return base::InvalidArgument(text);
}

absl::Status ErrorWhileParsing(const TextCursor& cursor, const char* line_start,
                               std::string_view what) {
  std::string text = base::StrCat(what, " while parsing: ");
  model::AppendQuoted(&text, cursor.Since(line_start));
  return base::InvalidArgument(text);
}

absl::Status QuotedError(std::string_view before, std::string_view quoted, std::string_view after) {
  std::string text(before);
  model::AppendQuoted(&text, quoted);
  text += after;
  return base::InvalidArgument(text);
}

}  // namespace narthex::codec
