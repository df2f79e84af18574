// Tokens of the Prometheus text format. Thread-compatible.
#pragma once

#include "codec/exposition/text_token.h"

namespace narthex::codec {

class TextLexer {
 public:
  // `body` ends with a newline and outlives this.
  explicit TextLexer(std::string_view body) : cursor_(body) {}

  // The next token; spaces and tabs are passed over.
  Token Next();
  const TextCursor& cursor() const { return cursor_; }

 private:
  enum class State : uint8_t { kInit, kMetaName, kMetaText, kLabels, kLabelValue, kValue, kTime };

  Token NextInit();
  Token NextComment();
  Token NextLabel();
  Token NextTime();
  Token ConsumeComment(bool skip_nuls);
  bool SkipKeyword(std::string_view keyword);
  Token TakeName(uint8_t rest, Token token, State state);
  Token TakeByte(Token token, State state);
  Token TakeText();

  TextCursor cursor_;
  State state_ = State::kInit;
};

}  // namespace narthex::codec
