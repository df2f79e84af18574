// Tokens of OpenMetrics text 1.0 and 0.0.1, where every blank counts. Thread-compatible; a copy
// goes on from the same place.
#pragma once

#include "codec/exposition/text_token.h"

namespace narthex::codec {

class OpenMetricsLexer {
 public:
  // `body` outlives this.
  explicit OpenMetricsLexer(std::string_view body) : cursor_(body) {}

  Token Next();
  const TextCursor& cursor() const { return cursor_; }

 private:
  enum class State : uint8_t {
    kInit,
    kMetaName,
    kMetaText,
    kLabels,
    kLabelValue,
    kValue,
    kTime,
    kExemplar,
    kExemplarValue,  // Of a label or the exemplar itself.
    kExemplarTime,
  };

  Token NextInit();
  Token NextComment();
  Token NextMetaName();
  Token NextLabel();
  Token NextTime();
  Token NextExemplarTime();
  bool SkipKeyword(std::string_view keyword);
  Token TakeText();
  Token TakeQuoted(NewlinesInQuotes newlines, NulsInQuotes nuls, Token token, State state);
  Token TakeSpacedValue(Token token, State state);
  Token TakeByte(Token token, State state);

  TextCursor cursor_;
  State state_ = State::kInit;
};

}  // namespace narthex::codec
