#include "promql/parse/lexer.h"

#include "narthex/base/strings.h"
#include "promql/parse/utf8.h"

namespace narthex::promql {
namespace {

bool IsSpace(int32_t rune) { return rune == ' ' || rune == '\t' || rune == '\n' || rune == '\r'; }
bool IsDigit(int32_t rune) { return rune >= '0' && rune <= '9'; }
bool IsAlpha(int32_t rune) {
  return rune == '_' || (rune >= 'a' && rune <= 'z') || (rune >= 'A' && rune <= 'Z');
}
bool IsAlphaNumeric(int32_t rune) { return IsAlpha(rune) || IsDigit(rune); }

// step, range, max_of, min_of: what may stand in brackets besides numbers.
bool StartsDurationKeyword(int32_t rune) {
  return rune > 0 && rune < 0x80 &&
         std::string_view("srmSRM").find(static_cast<char>(rune)) != std::string_view::npos;
}
bool IsDurationKeyword(TokenKind kind) {
  return kind == TokenKind::kStep || kind == TokenKind::kRange || kind == TokenKind::kMaxOf ||
         kind == TokenKind::kMinOf;
}

uint32_t DigitValue(int32_t rune) {
  if (rune >= '0' && rune <= '9') return static_cast<uint32_t>(rune - '0');
  if (rune >= 'a' && rune <= 'f') return static_cast<uint32_t>(rune - 'a' + 10);
  if (rune >= 'A' && rune <= 'F') return static_cast<uint32_t>(rune - 'A' + 10);
  return 16;
}

constexpr std::string_view kDecimalDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

}  // namespace

Token Lexer::Next() {
  if (in_duration_) return NextInDuration();
  if (!in_braces_) {
    SkipSpacesAndComments();
    return NextStatement();
  }
  SkipSpacesAndComments();
  return NextInBraces();
}

void Lexer::SkipSpacesAndComments() {
  while (next_ < text_.size()) {
    if (IsSpace(text_[next_])) {
      ++next_;
    } else if (text_[next_] == '#') {
      while (next_ < text_.size() && text_[next_] != '\n' && text_[next_] != '\r') ++next_;
    } else {
      break;
    }
  }
  begin_ = next_;
}

Token Lexer::NextStatement() {
  const int32_t rune = Read();
  switch (rune) {
    case kEndOfText:
      return EndOfStatement();
    case ',':
      return Emit(TokenKind::kComma);
    case '*':
      return Emit(TokenKind::kMultiply);
    case '/':
      return Emit(TokenKind::kDivide);
    case '%':
      return Emit(TokenKind::kModulo);
    case '+':
      return Emit(TokenKind::kAdd);
    case '-':
      return Emit(TokenKind::kSubtract);
    case '^':
      return Emit(TokenKind::kPower);
    case '@':
      return Emit(TokenKind::kAt);
    case '=':
      return EqualSign();
    case '!': {
      const int32_t second = Read();
      if (second == '=') return Emit(TokenKind::kNotEqual);
      return Error("unexpected character after '!': " + QuotedRune(second));
    }
    case '<':
      if (Accept("=")) return Emit(TokenKind::kLessEqual);
      return Emit(Accept("/") ? TokenKind::kTrimUpper : TokenKind::kLess);
    case '>':
      if (Accept("=")) return Emit(TokenKind::kGreaterEqual);
      return Emit(Accept("/") ? TokenKind::kTrimLower : TokenKind::kGreater);
    case '"':
    case '\'':
      return QuotedString(static_cast<char>(rune));
    case '`':
      return RawString();
    case '(':
      return LeftParen();
    case ')':
      return RightParen();
    case '{':
      in_braces_ = true;
      return Emit(TokenKind::kLeftBrace);
    case '[':
      return LeftBracket();
    case ']':
      if (!in_brackets_) return Error("unexpected right bracket ']'");
      in_brackets_ = false;
      return Emit(TokenKind::kRightBracket);
    default:
      break;
  }
  if (IsDigit(rune) || (rune == '.' && IsDigit(Peek()))) {
    Unread();
    return NumberOrDuration();
  }
  if (IsAlpha(rune) || rune == ':') {
    if (in_brackets_) return WordInBrackets();
    Unread();
    return WordOrKeyword();
  }
  return Error("unexpected character: " + QuotedRune(rune));
}

Token Lexer::EndOfStatement() {
  if (paren_depth_ != 0) return Error("unclosed left parenthesis");
  if (in_brackets_) return Error("unclosed left bracket");
  return Emit(TokenKind::kEnd);
}

Token Lexer::EqualSign() {
  if (Accept("=")) return Emit(TokenKind::kEqual);
  if (Peek() == '~') return Error("unexpected character after '=': '~'");
  return Emit(TokenKind::kAssign);
}

Token Lexer::LeftParen() {
  ++paren_depth_;
  return Emit(TokenKind::kLeftParen);
}

Token Lexer::RightParen() {
  const Token token = Emit(TokenKind::kRightParen);
  if (--paren_depth_ < 0) return Error("unexpected right parenthesis ')'");
  return token;
}

Token Lexer::LeftBracket() {
  if (in_brackets_) return Error("unexpected left bracket '['");
  in_brackets_ = true;
  in_duration_ = true;
  saw_colon_ = false;
  return Emit(TokenKind::kLeftBracket);
}

Token Lexer::WordInBrackets() {
  Unread();
  const int32_t rune = Read();
  if (rune == ':') {
    if (saw_colon_) return Error("unexpected colon ':'");
    saw_colon_ = true;
    return Emit(TokenKind::kColon);
  }
  TokenKind kind;
  if (StartsDurationKeyword(rune) && ScanDurationKeyword(&kind)) return Emit(kind);
  return Error(base::StrCat("unexpected character: ", QuotedRune(rune), ", expected ':'"));
}

Token Lexer::NextInDuration() {
  while (next_ < text_.size() && IsSpace(text_[next_])) ++next_;
  begin_ = next_;
  const int32_t rune = Read();
  switch (rune) {
    case kEndOfText:
      return Error("unexpected end of input in duration expression");
    case ']':
      in_brackets_ = in_duration_ = false;
      return Emit(TokenKind::kRightBracket);
    case ':': {
      const Token token = Emit(TokenKind::kColon);
      if (!saw_duration_) return Error("unexpected colon before duration in duration expression");
      if (saw_colon_) return Error("unexpected repeated colon in duration expression");
      saw_colon_ = true;
      return token;
    }
    case '(':
      return LeftParen();
    case ')':
      return RightParen();
    case '+':
      return Emit(TokenKind::kAdd);
    case '-':
      return Emit(TokenKind::kSubtract);
    case '*':
      return Emit(TokenKind::kMultiply);
    case '/':
      return Emit(TokenKind::kDivide);
    case '%':
      return Emit(TokenKind::kModulo);
    case '^':
      return Emit(TokenKind::kPower);
    case ',':
      return Emit(TokenKind::kComma);
    default:
      break;
  }
  if (StartsDurationKeyword(rune)) {
    TokenKind kind;
    if (ScanDurationKeyword(&kind)) return Emit(kind);
  } else if (IsDigit(rune) || (rune == '.' && IsDigit(Peek()))) {
    Unread();
    saw_duration_ = true;
    in_duration_ = false;
    return NumberOrDuration();
  }
  return Error("unexpected character in duration expression: " + QuotedRune(rune));
}

Token Lexer::NextInBraces() {
  const int32_t rune = Read();
  switch (rune) {
    case kEndOfText:
      return Error("unexpected end of input inside braces");
    case ',':
      return Emit(TokenKind::kComma);
    case '"':
    case '\'':
      return QuotedString(static_cast<char>(rune));
    case '`':
      return RawString();
    case '=':
      return Emit(Accept("~") ? TokenKind::kRegexEqual : TokenKind::kAssign);
    case '!': {
      const int32_t second = Read();
      if (second == '~') return Emit(TokenKind::kRegexNotEqual);
      if (second == '=') return Emit(TokenKind::kNotEqual);
      return Error("unexpected character after '!' inside braces: " + QuotedRune(second));
    }
    case '{':
      return Error("unexpected left brace '{'");
    case '}':
      in_braces_ = false;
      return Emit(TokenKind::kRightBrace);
    default:
      break;
  }
  if (!IsAlpha(rune)) return Error("unexpected character inside braces: " + QuotedRune(rune));
  while (IsAlphaNumeric(Peek())) Read();
  return Emit(TokenKind::kIdentifier);
}

Token Lexer::WordOrKeyword() {
  while (IsAlphaNumeric(Peek()) || Peek() == ':') Read();
  const std::string_view word = text_.substr(begin_, next_ - begin_);
  const TokenKind kind = KeywordKind(word);
  // A metric may be called "fill": only a parenthesis makes it a modifier.
  const bool is_fill =
      kind == TokenKind::kFill || kind == TokenKind::kFillLeft || kind == TokenKind::kFillRight;
  if (is_fill && !FollowedByLeftParen()) return Emit(TokenKind::kIdentifier);
  if (kind == TokenKind::kIdentifier && word.find(':') != std::string_view::npos) {
    return Emit(TokenKind::kMetricIdentifier);
  }
  return Emit(kind);
}

bool Lexer::FollowedByLeftParen() const {
  size_t at = next_;
  while (at < text_.size() && IsSpace(text_[at])) ++at;
  return at < text_.size() && text_[at] == '(';
}

bool Lexer::ScanDurationKeyword(TokenKind* kind) {
  while (IsAlpha(Peek())) Read();
  *kind = KeywordKind(text_.substr(begin_, next_ - begin_));
  return IsDurationKeyword(*kind);
}

Token Lexer::NumberOrDuration() {
  if (ScanNumber()) return Emit(TokenKind::kNumber);
  if (ScanRestOfDuration()) {
    Unread();
    return Emit(TokenKind::kDuration);
  }
  return Error("bad number or duration syntax: " + Quoted(text_.substr(begin_, next_ - begin_)));
}

// Units are checked when the duration is parsed; here it is only told from a number. Reads one rune
// more than the duration has.
bool Lexer::ScanRestOfDuration() {
  if (!Accept("smhdwy")) return false;
  Accept("s");
  while (Accept(kDecimalDigits)) {
    while (Accept(kDecimalDigits)) {
    }
    if (!Accept("smhdw")) return false;
    Accept("s");
  }
  return !IsAlphaNumeric(Read());
}

bool Lexer::ScanNumber() {
  const size_t begin = next_;
  std::string_view digits = kDecimalDigits;
  if (Accept("0") && Accept("xX")) {
    Accept("_");
    digits = kHexDigits;
  }
  Accept(".");
  Accept(digits);
  if (!ScanNumberTail(digits)) return false;
  return next_ != begin && !IsAlphaNumeric(Peek());
}

// Digits, dots, exponents and underscores up to something else. What cannot follow one of them is
// read before giving up, so that the message shows it.
bool Lexer::ScanNumberTail(std::string_view digits) {
  constexpr std::string_view kNotAfterPart = "._eE";
  bool saw_dot = false;
  bool saw_exponent = false;
  while (IsNext(digits) || IsNext("._eE")) {
    if ((saw_dot && Accept(".")) || (saw_exponent && Accept("eE"))) return false;
    if (Accept(".")) {
      saw_dot = true;
      if (Accept("_.") || digits.size() > kDecimalDigits.size()) return false;
    } else if (Accept("eE")) {
      saw_exponent = true;
      Accept("+-");
      if (Accept(kNotAfterPart) || Peek() == kEndOfText) return false;
    } else if (Accept("_")) {
      if (Accept(kNotAfterPart) || Peek() == kEndOfText) return false;
    } else {
      while (Accept(digits)) {
      }
    }
  }
  return true;
}

Token Lexer::QuotedString(char quote) {
  for (;;) {
    const int32_t rune = Read();
    if (rune == quote) return Emit(TokenKind::kString);
    if (rune == kEndOfText || rune == '\n') return Error("unterminated quoted string");
    if (rune == kReplacementRune) return Error("invalid UTF-8 rune");
    if (rune == '\\' && !ScanEscape(quote)) return Error(std::move(error_));
  }
}

Token Lexer::RawString() {
  for (;;) {
    const int32_t rune = Read();
    if (rune == '`') return Emit(TokenKind::kString);
    if (rune == kEndOfText) return Error("unterminated raw string");
    if (rune == kReplacementRune) return Error("invalid UTF-8 rune");
  }
}

bool Lexer::ScanEscape(char quote) {
  constexpr uint32_t kMaxRune = 0x10FFFF;
  const int32_t rune = Read();
  if (rune == quote) return true;
  switch (rune) {
    case 'a':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'v':
    case '\\':
      return true;
    case 'x':
      return ScanHexOrOctal(Read(), 2, 16, 255);
    case 'u':
      return ScanHexOrOctal(Read(), 4, 16, kMaxRune);
    case 'U':
      return ScanHexOrOctal(Read(), 8, 16, kMaxRune);
    case kEndOfText:
      error_ = "escape sequence not terminated";
      return false;
    default:
      if (rune >= '0' && rune <= '7') return ScanHexOrOctal(rune, 3, 8, 255);
      error_ = "unknown escape sequence " + RuneWithNumber(rune);
      return false;
  }
}

bool Lexer::ScanHexOrOctal(int32_t first, int digits, uint32_t base, uint32_t max) {
  uint32_t value = 0;
  int32_t rune = first;
  for (int i = 0; i < digits; ++i) {
    if (i > 0) rune = Read();
    const uint32_t digit = DigitValue(rune);
    if (digit >= base) {
      error_ = rune == kEndOfText ? "escape sequence not terminated"
                                  : base::StrCat("illegal character ", RuneWithNumber(rune),
                                                 " in escape sequence");
      return false;
    }
    value = value * base + digit;
  }
  if (value <= max && (value < 0xD800 || value >= 0xE000)) return true;
  error_ = "escape sequence is an invalid Unicode code point";
  return false;
}

int32_t Lexer::Read() {
  if (next_ >= text_.size()) {
    width_ = 0;
    return kEndOfText;
  }
  const Rune rune = DecodeRune(text_.substr(next_));
  width_ = rune.width;
  next_ += width_;
  return rune.value;
}

int32_t Lexer::Peek() const {
  return next_ < text_.size() ? DecodeRune(text_.substr(next_)).value : kEndOfText;
}

bool Lexer::IsNext(std::string_view any_of) const {
  return next_ < text_.size() && any_of.find(text_[next_]) != std::string_view::npos;
}

bool Lexer::Accept(std::string_view any_of) {
  if (!IsNext(any_of)) return false;
  Read();
  return true;
}

Token Lexer::Emit(TokenKind kind) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(begin_, next_ - begin_);
  token.position = {static_cast<int32_t>(begin_), static_cast<int32_t>(next_)};
  begin_ = next_;
  return token;
}

Token Lexer::Error(std::string message) {
  error_ = std::move(message);
  Token token;
  token.kind = TokenKind::kError;
  token.position = {static_cast<int32_t>(begin_), static_cast<int32_t>(text_.size())};
  return token;
}

}  // namespace narthex::promql
