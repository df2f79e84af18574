// The words of PromQL and how messages speak of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "promql/parse/ast.h"

namespace narthex::promql {

// Grouped: IsOperator(), IsAggregator() and IsKeyword() look at the order.
enum class TokenKind : uint8_t {
  kEnd,
  kError,
  kIdentifier,
  kMetricIdentifier,  // With a colon in it.
  kNumber,
  kDuration,
  kString,
  kComma,
  kColon,
  kAssign,  // "=" in matchers.
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kLeftParen,
  kRightParen,
  // Operators. The first ones are in the order of BinaryOp.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kTrimUpper,
  kTrimLower,
  kAnd,
  kOr,
  kUnless,
  kRegexEqual,
  kRegexNotEqual,
  kAt,
  // Aggregators, in the order of AggregateOp.
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kCountValues,
  kQuantile,
  kLimitk,
  kLimitRatio,
  // Keywords.
  kBool,
  kBy,
  kGroupLeft,
  kGroupRight,
  kFill,
  kFillLeft,
  kFillRight,
  kIgnoring,
  kOffset,
  kSmoothed,
  kAnchored,
  kOn,
  kWithout,
  // Names with a meaning of their own in some places, functions in others.
  kStart,
  kEndFunction,
  kStep,
  kRange,
  kMaxOf,
  kMinOf,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  PositionRange position;
  std::string_view text;  // Of the query; valid as long as that.
};

inline bool IsBinaryOperator(TokenKind kind) {
  return kind >= TokenKind::kAdd && kind <= TokenKind::kUnless;
}
inline bool IsAggregator(TokenKind kind) {
  return kind >= TokenKind::kSum && kind <= TokenKind::kLimitRatio;
}
// REQUIRES: IsBinaryOperator(kind).
BinaryOp BinaryOpOf(TokenKind kind);
// REQUIRES: IsAggregator(kind).
AggregateOp AggregateOpOf(TokenKind kind);

// Names that are also good as a metric's or a label's name.
bool CanBeMetricName(TokenKind kind);
bool CanBeLabelName(TokenKind kind);

// The kind of a word, kIdentifier if it has no meaning of its own. Any case.
TokenKind KeywordKind(std::string_view word);

// `identifier "x"`, `<op:+>`, `end of input`: for "unexpected ...".
std::string Describe(const Token& token);

// A rune in single quotes, as Go's %q writes it; -1 and bad encodings are U+FFFD.
std::string QuotedRune(int32_t rune);
// `U+0041 'A'`.
std::string RuneWithNumber(int32_t rune);
// Go's %q of a text.
std::string Quoted(std::string_view text);

}  // namespace narthex::promql
