#include "promql/parse/token.h"

#include <array>
#include <cstdio>

#include "narthex/base/strings.h"
#include "narthex/model/labels.h"
#include "promql/parse/utf8.h"

namespace narthex::promql {
namespace {

struct Keyword {
  std::string_view word;
  TokenKind kind;
};

constexpr std::array<Keyword, 39> kKeywords = {{
    {"and", TokenKind::kAnd},
    {"or", TokenKind::kOr},
    {"unless", TokenKind::kUnless},
    {"atan2", TokenKind::kAtan2},
    {"sum", TokenKind::kSum},
    {"avg", TokenKind::kAvg},
    {"count", TokenKind::kCount},
    {"min", TokenKind::kMin},
    {"max", TokenKind::kMax},
    {"group", TokenKind::kGroup},
    {"stddev", TokenKind::kStddev},
    {"stdvar", TokenKind::kStdvar},
    {"topk", TokenKind::kTopk},
    {"bottomk", TokenKind::kBottomk},
    {"count_values", TokenKind::kCountValues},
    {"quantile", TokenKind::kQuantile},
    {"limitk", TokenKind::kLimitk},
    {"limit_ratio", TokenKind::kLimitRatio},
    {"offset", TokenKind::kOffset},
    {"smoothed", TokenKind::kSmoothed},
    {"anchored", TokenKind::kAnchored},
    {"by", TokenKind::kBy},
    {"without", TokenKind::kWithout},
    {"on", TokenKind::kOn},
    {"ignoring", TokenKind::kIgnoring},
    {"group_left", TokenKind::kGroupLeft},
    {"group_right", TokenKind::kGroupRight},
    {"fill", TokenKind::kFill},
    {"fill_left", TokenKind::kFillLeft},
    {"fill_right", TokenKind::kFillRight},
    {"bool", TokenKind::kBool},
    {"start", TokenKind::kStart},
    {"end", TokenKind::kEndFunction},
    {"step", TokenKind::kStep},
    {"range", TokenKind::kRange},
    {"max_of", TokenKind::kMaxOf},
    {"min_of", TokenKind::kMinOf},
    {"inf", TokenKind::kNumber},
    {"nan", TokenKind::kNumber},
}};

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualsIgnoringCase(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (LowerAscii(word[i]) != lower[i]) return false;
  }
  return true;
}

bool IsOperator(TokenKind kind) { return kind >= TokenKind::kAdd && kind <= TokenKind::kAt; }
bool IsKeyword(TokenKind kind) { return kind >= TokenKind::kBool && kind <= TokenKind::kWithout; }

// What a token of no fixed text is called; "" for the others.
std::string_view KindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kIdentifier:
      return "identifier";
    case TokenKind::kMetricIdentifier:
      return "metric identifier";
    case TokenKind::kNumber:
      return "number";
    case TokenKind::kDuration:
      return "duration";
    case TokenKind::kString:
      return "string";
    default:
      return "";
  }
}

// At most ten characters of `text`, whether it was cut being told by the caller.
std::string_view FirstTenRunes(std::string_view text) {
  size_t end = 0;
  for (int runes = 0; runes < 10 && end < text.size(); ++runes) {
    end += DecodeRune(text.substr(end)).width;
  }
  return text.substr(0, end);
}

}  // namespace

BinaryOp BinaryOpOf(TokenKind kind) {
  return static_cast<BinaryOp>(static_cast<int>(kind) - static_cast<int>(TokenKind::kAdd));
}

AggregateOp AggregateOpOf(TokenKind kind) {
  return static_cast<AggregateOp>(static_cast<int>(kind) - static_cast<int>(TokenKind::kSum));
}

bool CanBeMetricName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kIdentifier:
    case TokenKind::kMetricIdentifier:
    case TokenKind::kAnd:
    case TokenKind::kOr:
    case TokenKind::kUnless:
    case TokenKind::kBy:
    case TokenKind::kWithout:
    case TokenKind::kOffset:
    case TokenKind::kFill:
    case TokenKind::kFillLeft:
    case TokenKind::kFillRight:
    case TokenKind::kAnchored:
    case TokenKind::kSmoothed:
      return true;
    default:
      return IsAggregator(kind) || kind >= TokenKind::kStart;
  }
}

bool CanBeLabelName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kBool:
    case TokenKind::kGroupLeft:
    case TokenKind::kGroupRight:
    case TokenKind::kIgnoring:
    case TokenKind::kOn:
    case TokenKind::kAtan2:
      return true;
    case TokenKind::kWithout:
      return false;
    default:
      return CanBeMetricName(kind);
  }
}

TokenKind KeywordKind(std::string_view word) {
  for (const Keyword& keyword : kKeywords) {
    if (EqualsIgnoringCase(word, keyword.word)) return keyword.kind;
  }
  return TokenKind::kIdentifier;
}

std::string Describe(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "end of input";
  if (IsKeyword(token.kind)) return base::StrCat("<", token.text, ">");
  if (IsOperator(token.kind)) return base::StrCat("<op:", token.text, ">");
  if (IsAggregator(token.kind)) return base::StrCat("<aggr:", token.text, ">");
  const std::string_view name = KindName(token.kind);
  std::string out(name);
  if (!name.empty()) out += ' ';
  const bool is_name =
      token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kMetricIdentifier;
  if (!is_name && token.text.size() > 10) {
    return out + Quoted(FirstTenRunes(token.text)) + "...";
  }
  return out + Quoted(token.text);
}

std::string Quoted(std::string_view text) {
  std::string out;
  model::AppendQuoted(&out, text);
  return out;
}

std::string QuotedRune(int32_t rune) {
  if (rune == '\'') return "'\\''";
  if (rune == '"') return "'\"'";
  const std::string quoted = Quoted(EncodeRune(rune));
  return base::StrCat("'", std::string_view(quoted).substr(1, quoted.size() - 2), "'");
}

std::string RuneWithNumber(int32_t rune) {
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(rune < 0 ? 0xFFFD : rune));
  const std::string quoted = Quoted(EncodeRune(rune));
  // Escapes mean that it cannot be printed; quotes and backslashes can.
  if (quoted.size() > 3 && quoted[1] == '\\' && rune != '"' && rune != '\\') return number;
  return base::StrCat(number, " '", EncodeRune(rune), "'");
}

}  // namespace narthex::promql
