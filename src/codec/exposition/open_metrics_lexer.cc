#include "codec/exposition/open_metrics_lexer.h"

namespace narthex::codec {

Token OpenMetricsLexer::Next() {
  if (cursor_.at_end()) return Token::kEof;
  cursor_.start = cursor_.position;
  const char c = *cursor_.position;
  switch (state_) {
    case State::kInit:
      return NextInit();
    case State::kMetaName:
      return NextMetaName();
    case State::kMetaText:
      return TakeText();
    case State::kLabels:
    case State::kExemplar:
      return NextLabel();
    case State::kLabelValue:
      if (c != '"') return Token::kInvalid;
      return TakeQuoted(NewlinesInQuotes::kForbidden, NulsInQuotes::kSkipped, Token::kLabelValue,
                        State::kLabels);
    case State::kValue:
      if (c == '{') return TakeByte(Token::kBraceOpen, State::kLabels);
      return TakeSpacedValue(Token::kValue, State::kTime);
    case State::kTime:
      return NextTime();
    case State::kExemplarValue:
      if (c == '"') {
        return TakeQuoted(NewlinesInQuotes::kForbidden, NulsInQuotes::kForbidden,
                          Token::kLabelValue, State::kExemplar);
      }
      return TakeSpacedValue(Token::kValue, State::kExemplarTime);
    case State::kExemplarTime:
      if (c == '\n') return TakeByte(Token::kLinebreak, State::kInit);
      return TakeSpacedValue(Token::kTimestamp, State::kExemplarTime);
  }
  return Token::kInvalid;
}

Token OpenMetricsLexer::NextInit() {
  const char c = *cursor_.position;
  if (IsClass(c, kMetricStart)) {
    ++cursor_.position;
    cursor_.SkipClass(kMetricRest);
    state_ = State::kValue;
    return Token::kMetricName;
  }
  if (c == '{') return TakeByte(Token::kBraceOpen, State::kLabels);
  return c == '#' ? NextComment() : Token::kInvalid;
}

// "# HELP ", "# TYPE ", "# UNIT " or "# EOF"; there are no other comments.
Token OpenMetricsLexer::NextComment() {
  ++cursor_.position;
  if (cursor_.Peek() != ' ') return Token::kInvalid;
  ++cursor_.position;
  Token token = Token::kInvalid;
  switch (cursor_.Peek()) {
    case 'E':
      if (!SkipKeyword("EOF")) return Token::kInvalid;
      if (cursor_.Peek() == '\n') {
        ++cursor_.position;
        cursor_.SkipNuls();
      }
      state_ = State::kInit;
      return Token::kEofWord;
    case 'H':
      if (SkipKeyword("HELP ")) token = Token::kHelp;
      break;
    case 'T':
      if (SkipKeyword("TYPE ")) token = Token::kType;
      break;
    case 'U':
      if (SkipKeyword("UNIT ")) token = Token::kUnit;
      break;
    default:
      break;
  }
  if (token != Token::kInvalid) state_ = State::kMetaName;
  return token;
}

// Inside a keyword, NULs count for nothing.
bool OpenMetricsLexer::SkipKeyword(std::string_view keyword) {
  for (const char c : keyword) {
    if (cursor_.Peek() != c) return false;
    ++cursor_.position;
    cursor_.SkipNuls();
  }
  return true;
}

Token OpenMetricsLexer::NextMetaName() {
  const char c = *cursor_.position;
  if (c == '"') {
    return TakeQuoted(NewlinesInQuotes::kAllowed, NulsInQuotes::kForbidden, Token::kMetricName,
                      State::kMetaText);
  }
  if (!IsClass(c, kMetricStart)) return Token::kInvalid;
  ++cursor_.position;
  cursor_.SkipClass(kMetricRest);
  state_ = State::kMetaText;
  return Token::kMetricName;
}

// " text\n", with the newline.
Token OpenMetricsLexer::TakeText() {
  if (*cursor_.position != ' ') return Token::kInvalid;
  while (!cursor_.at_end() && *cursor_.position != '\n') ++cursor_.position;
  if (cursor_.at_end()) return Token::kInvalid;
  ++cursor_.position;
  cursor_.SkipNuls();
  state_ = State::kInit;
  return Token::kText;
}

Token OpenMetricsLexer::NextLabel() {
  const bool is_exemplar = state_ == State::kExemplar;
  const char c = *cursor_.position;
  if (IsClass(c, kLabelStart)) {
    ++cursor_.position;
    cursor_.SkipClass(kLabelRest);
    return Token::kLabelName;
  }
  switch (c) {
    case '=':
      return TakeByte(Token::kEqual, is_exemplar ? State::kExemplarValue : State::kLabelValue);
    case ',':
      return TakeByte(Token::kComma, state_);
    case '}':
      return TakeByte(Token::kBraceClose, is_exemplar ? State::kExemplarValue : State::kValue);
    case '"':
      return TakeQuoted(is_exemplar ? NewlinesInQuotes::kForbidden : NewlinesInQuotes::kAllowed,
                        NulsInQuotes::kForbidden, Token::kQuotedName, state_);
    default:
      return Token::kInvalid;
  }
}

// A newline, " <time>" or " # {".
Token OpenMetricsLexer::NextTime() {
  if (*cursor_.position == '\n') return TakeByte(Token::kLinebreak, State::kInit);
  const Token token = TakeSpacedValue(Token::kTimestamp, State::kTime);
  const bool is_hash = token == Token::kTimestamp && cursor_.token() == " #";
  if (!is_hash || cursor_.Peek() != ' ') return token;
  ++cursor_.position;
  if (cursor_.Peek() != '{') return Token::kInvalid;
  return TakeByte(Token::kComment, State::kExemplar);
}

Token OpenMetricsLexer::TakeQuoted(NewlinesInQuotes newlines, NulsInQuotes nuls, Token token,
                                   State state) {
  if (!ScanQuoted(&cursor_, newlines, nuls)) return Token::kInvalid;
  state_ = state;
  return token;
}

// One space and at least one other byte.
Token OpenMetricsLexer::TakeSpacedValue(Token token, State state) {
  if (*cursor_.position != ' ') return Token::kInvalid;
  ++cursor_.position;
  if (!IsClass(cursor_.Peek(), kOmValue)) return Token::kInvalid;
  cursor_.SkipClass(kOmValue);
  state_ = state;
  return token;
}

Token OpenMetricsLexer::TakeByte(Token token, State state) {
  ++cursor_.position;
  state_ = state;
  return token;
}

}  // namespace narthex::codec
