// Cuts a query into tokens. What a character means depends on where it stands: in braces there are
// no keywords, in brackets only durations. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "promql/parse/token.h"

namespace narthex::promql {

class Lexer {
 public:
  // `text` must outlive the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; kEnd again and again at the end. A kError token is the last one: see error().
  Token Next();

  // REQUIRES: the last token was kError.
  const std::string& error() const { return error_; }

 private:
  static constexpr int32_t kEndOfText = -1;

  Token NextStatement();
  Token NextInBraces();
  Token NextInDuration();
  Token WordInBrackets();
  Token LeftParen();
  Token RightParen();
  Token LeftBracket();
  Token EndOfStatement();
  Token EqualSign();
  Token WordOrKeyword();
  Token NumberOrDuration();
  Token QuotedString(char quote);
  Token RawString();
  // False with error() set on a bad escape sequence; the backslash is behind us.
  bool ScanEscape(char quote);
  bool ScanHexOrOctal(int32_t first, int digits, uint32_t base, uint32_t max);
  bool ScanNumber();
  bool ScanNumberTail(std::string_view digits);
  bool ScanRestOfDuration();
  bool ScanDurationKeyword(TokenKind* kind);
  bool FollowedByLeftParen() const;
  void SkipSpacesAndComments();

  int32_t Read();        // The next rune, kEndOfText at the end.
  int32_t Peek() const;  // The same without moving on.
  void Unread() { next_ -= width_; }
  bool Accept(std::string_view any_of);
  bool IsNext(std::string_view any_of) const;
  Token Emit(TokenKind kind);
  Token Error(std::string message);

  const std::string_view text_;
  size_t begin_ = 0;  // Of the token being read.
  size_t next_ = 0;   // The rune to be read next.
  size_t width_ = 0;  // Of the last rune read.
  int paren_depth_ = 0;
  bool in_braces_ = false;
  bool in_brackets_ = false;
  // In brackets before the first number: only what a duration can be made of.
  bool in_duration_ = false;
  bool saw_colon_ = false;     // Since the bracket.
  bool saw_duration_ = false;  // In any bracket so far.
  std::string error_;
};

}  // namespace narthex::promql
