#include "tool/promqltest/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "narthex/base/float_text.h"

namespace narthex::tool {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsNameStart(char c) { return IsLetter(c) || c == '_' || c == ':'; }

template <typename Predicate>
size_t CountWhile(std::string_view text, size_t from, Predicate predicate) {
  size_t at = from;
  while (at < text.size() && predicate(text[at])) ++at;
  return at;
}

// Length of the unsigned number that `text` starts with, 0 if it starts with none.
size_t NumberLength(std::string_view text) {
  const size_t whole = CountWhile(text, 0, IsDigit);
  size_t at = whole;
  size_t num_digits = whole;
  if (at < text.size() && text[at] == '.') {
    const size_t end = CountWhile(text, at + 1, IsDigit);
    num_digits += end - at - 1;
    at = end;
  }
  if (num_digits == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const size_t end = CountWhile(text, exponent, IsDigit);
    if (end > exponent) at = end;
  }
  return at;
}

}  // namespace

bool TextScanner::Take(std::string_view prefix) {
  if (!rest_.starts_with(prefix)) return false;
  rest_.remove_prefix(prefix.size());
  return true;
}

bool TextScanner::SkipSpaces() {
  const size_t end = CountWhile(rest_, 0, IsSpace);
  rest_.remove_prefix(end);
  return end > 0;
}

std::string_view TextScanner::TakeName() {
  if (rest_.empty() || !IsNameStart(rest_.front())) return {};
  const size_t end = CountWhile(rest_, 1, [](char c) { return IsNameStart(c) || IsDigit(c); });
  const std::string_view name = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return name;
}

std::string_view TextScanner::TakeWord() {
  const std::string_view word = rest_.substr(0, CountWhile(rest_, 0, IsLetter));
  rest_.remove_prefix(word.size());
  return word;
}

std::string_view TextScanner::TakeField() {
  const size_t end = CountWhile(rest_, 0, [](char c) { return !IsSpace(c); });
  const std::string_view field = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return field;
}

std::optional<uint64_t> TextScanner::TakeCount() {
  uint64_t value = 0;
  const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
  return value;
}

std::optional<double> TextScanner::TakeNumber() {
  const size_t sign = !rest_.empty() && (rest_[0] == '+' || rest_[0] == '-') ? 1 : 0;
  size_t length = NumberLength(rest_.substr(sign));
  if (length == 0) {
    std::string word(rest_.substr(sign, 3));
    std::ranges::transform(word, word.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (word != "inf" && word != "nan") return std::nullopt;
    length = word.size();
  }
  const bool negative = rest_[0] == '-';
  const std::optional<double> value = base::ParseFloat(rest_.substr(sign, length));
  rest_.remove_prefix(sign + length);
  if (!value.has_value()) return std::nullopt;
  return negative ? -*value : *value;
}

std::string_view TextScanner::TakeQuoted() {
  if (rest_.empty()) return {};
  const char quote = rest_.front();
  if (quote != '"' && quote != '\'' && quote != '`') return {};
  for (size_t at = 1; at < rest_.size(); ++at) {
    if (rest_[at] == '\\' && quote != '`') {
      ++at;
    } else if (rest_[at] == quote) {
      const std::string_view quoted = rest_.substr(0, at + 1);
      rest_.remove_prefix(at + 1);
      return quoted;
    }
  }
  return {};
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace narthex::tool
