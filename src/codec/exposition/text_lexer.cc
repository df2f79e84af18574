#include "codec/exposition/text_lexer.h"

#include <cstring>

namespace narthex::codec {

Token TextLexer::Next() {
  if (state_ == State::kMetaText) return TakeText();
  while (!cursor_.at_end() && (*cursor_.position == ' ' || *cursor_.position == '\t')) {
    ++cursor_.position;
    if (state_ == State::kLabelValue) cursor_.SkipNuls();
  }
  if (cursor_.at_end()) return Token::kEof;
  cursor_.start = cursor_.position;
  switch (state_) {
    case State::kInit:
      return NextInit();
    case State::kMetaName:
      if (cursor_.Peek() == '"') {
        if (!ScanQuoted(&cursor_, NewlinesInQuotes::kAllowed, NulsInQuotes::kForbidden)) {
          return Token::kInvalid;
        }
        state_ = State::kMetaText;
        return Token::kMetricName;
      }
      if (!IsClass(cursor_.Peek(), kMetricStart)) return Token::kInvalid;
      return TakeName(kMetricRest, Token::kMetricName, State::kMetaText);
    case State::kLabels:
      return NextLabel();
    case State::kLabelValue:
      if (cursor_.Peek() != '"' ||
          !ScanQuoted(&cursor_, NewlinesInQuotes::kAllowed, NulsInQuotes::kSkipped)) {
        return Token::kInvalid;
      }
      state_ = State::kLabels;
      return Token::kLabelValue;
    case State::kValue:
      if (cursor_.Peek() == '{') return TakeByte(Token::kBraceOpen, State::kLabels);
      if (!IsClass(cursor_.Peek(), kTextValue)) return Token::kInvalid;
      return TakeName(kTextValue, Token::kValue, State::kTime);
    case State::kTime:
      return NextTime();
    case State::kMetaText:
      break;
  }
  return Token::kInvalid;
}

Token TextLexer::NextInit() {
  const char c = cursor_.Peek();
  if (IsClass(c, kMetricStart)) {
    return TakeName(kMetricRest, Token::kMetricName, State::kValue);
  }
  switch (c) {
    case '#':
      return NextComment();
    case '{':
      return TakeByte(Token::kBraceOpen, State::kLabels);
    case '\n':
      return TakeByte(Token::kLinebreak, State::kInit);
    case '\0':
      return TakeByte(Token::kEof, State::kInit);
    default:
      return Token::kInvalid;
  }
}

Token TextLexer::NextComment() {
  ++cursor_.position;
  const char c = cursor_.Peek();
  if (c != ' ' && c != '\t') return ConsumeComment(/*skip_nuls=*/false);
  while (cursor_.Peek() == ' ' || cursor_.Peek() == '\t') ++cursor_.position;
  if (cursor_.Peek() == 'H' && SkipKeyword("HELP")) {
    state_ = State::kMetaName;
    return Token::kHelp;
  }
  if (cursor_.Peek() == 'T' && SkipKeyword("TYPE")) {
    state_ = State::kMetaName;
    return Token::kType;
  }
  return ConsumeComment(/*skip_nuls=*/true);
}

// Passes over `keyword` and the blanks that must follow it. Inside, NULs count for nothing.
bool TextLexer::SkipKeyword(std::string_view keyword) {
  for (const char c : keyword) {
    if (cursor_.Peek() != c) return false;
    ++cursor_.position;
    cursor_.SkipNuls();
  }
  if (cursor_.Peek() != ' ' && cursor_.Peek() != '\t') return false;
  while (cursor_.Peek() == ' ' || cursor_.Peek() == '\t') {
    ++cursor_.position;
    cursor_.SkipNuls();
  }
  return true;
}

// A NUL ends the body, except inside a comment that began with "# ".
Token TextLexer::ConsumeComment(bool skip_nuls) {
  if (cursor_.Peek() == '\0') return Token::kEof;
  const size_t num_left = static_cast<size_t>(cursor_.end - cursor_.position);
  const void* const newline = std::memchr(cursor_.position, '\n', num_left);
  if (newline == nullptr) return Token::kEof;
  const char* const stop = static_cast<const char*>(newline);
  const size_t size = static_cast<size_t>(stop - cursor_.position);
  if (!skip_nuls && std::memchr(cursor_.position, '\0', size) != nullptr) return Token::kEof;
  cursor_.position = stop;
  return Token::kComment;
}

Token TextLexer::NextLabel() {
  const char c = cursor_.Peek();
  if (IsClass(c, kLabelStart)) return TakeName(kLabelRest, Token::kLabelName, State::kLabels);
  switch (c) {
    case '=':
      return TakeByte(Token::kEqual, State::kLabelValue);
    case ',':
      return TakeByte(Token::kComma, State::kLabels);
    case '}':
      return TakeByte(Token::kBraceClose, State::kValue);
    case '"':
      return ScanQuoted(&cursor_, NewlinesInQuotes::kAllowed, NulsInQuotes::kForbidden)
                 ? Token::kQuotedName
                 : Token::kInvalid;
    default:
      return Token::kInvalid;
  }
}

Token TextLexer::NextTime() {
  const char c = cursor_.Peek();
  if (c == '\n') return TakeByte(Token::kLinebreak, State::kInit);
  if (c < '0' || c > '9') return Token::kInvalid;
  while (cursor_.Peek() >= '0' && cursor_.Peek() <= '9') ++cursor_.position;
  return Token::kTimestamp;
}

// The rest of a metadata line, with the blank before it; empty if there are only blanks.
Token TextLexer::TakeText() {
  state_ = State::kInit;
  cursor_.start = cursor_.position;
  if (cursor_.Peek() == '\0') return Token::kText;
  bool is_blank = cursor_.Peek() == ' ' || cursor_.Peek() == '\t';
  while (!cursor_.at_end() && *cursor_.position != '\n') {
    const char c = *cursor_.position;
    is_blank = is_blank && (c == ' ' || c == '\t' || c == '\0');
    ++cursor_.position;
  }
  if (is_blank) cursor_.start = cursor_.position;
  return Token::kText;
}

Token TextLexer::TakeName(uint8_t rest, Token token, State state) {
  ++cursor_.position;
  cursor_.SkipClass(rest);
  state_ = state;
  return token;
}

Token TextLexer::TakeByte(Token token, State state) {
  ++cursor_.position;
  state_ = state;
  return token;
}

}  // namespace narthex::codec
