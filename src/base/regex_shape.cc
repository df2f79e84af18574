// A recursive descent over the syntax below. Each node yields Facts: the exact set of texts it
// matches, if there are few, or else a text that each match begins with. What the grammar lacks
// (classes by name, flags, anchors in the middle, ...) ends the descent with "unknown".
//
//   alternation := concat ('|' concat)*         concat := '^'? repeat* '$'?
//   repeat      := atom (('*' | '+' | '?' | '{' n (',' m?)? '}') '?'?)?
//   atom        := rune | '\' punctuation | '.' | '[' class ']' | '(' ('?:' | '?P<name>')? alt. ')'
#include "base/regex_shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace narthex::base {
namespace {

constexpr size_t kMaxLiterals = 4096;
constexpr size_t kMaxLiteralBytes = 1u << 20;
constexpr int kMaxDepth = 50;
constexpr int kMaxRepeat = 1000;  // The engine's limit of {n,m}.

struct Facts {
  bool is_exact = false;
  std::vector<std::string> set;  // Of an exact node; never empty then.
  std::string prefix;            // Of an inexact node.
};

Facts ExactFacts(std::vector<std::string> set) { return {true, std::move(set), ""}; }
Facts InexactFacts(std::string prefix) { return {false, {}, std::move(prefix)}; }

std::string CommonPrefix(std::string_view a, std::string_view b) {
  const auto mismatch = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return std::string(a.begin(), mismatch.first);
}

std::string PrefixOf(const Facts& facts) {
  if (!facts.is_exact) return facts.prefix;
  std::string prefix = facts.set.front();
  for (const std::string& text : facts.set) prefix = CommonPrefix(prefix, text);
  return prefix;
}

size_t NumBytes(const std::vector<std::string>& set) {
  size_t num_bytes = 0;
  for (const std::string& text : set) num_bytes += text.size();
  return num_bytes;
}

// Both are exact. nullopt: too many or too long texts.
std::optional<Facts> ExactProduct(Facts left, const Facts& right) {
  const size_t num_products = left.set.size() * right.set.size();
  const size_t num_bytes =
      NumBytes(left.set) * right.set.size() + NumBytes(right.set) * left.set.size();
  if (num_products > kMaxLiterals || num_bytes > kMaxLiteralBytes) return std::nullopt;
  if (right.set.size() == 1) {
    // Appending in place keeps a long pattern linear.
    for (std::string& text : left.set) text += right.set.front();
    return left;
  }
  std::vector<std::string> products;
  products.reserve(num_products);
  for (const std::string& head : left.set) {
    for (const std::string& tail : right.set) products.push_back(head + tail);
  }
  return ExactFacts(std::move(products));
}

void Concatenate(Facts* left, const Facts& right) {
  if (!left->is_exact) return;
  // Kept for the case that the product has no exact set.
  const bool is_single = left->set.size() == 1;
  std::string prefix;
  if (!right.is_exact) {
    prefix = is_single ? left->set.front() + right.prefix : PrefixOf(*left);
  } else if (is_single && right.set.size() == 1) {
    left->set.front() += right.set.front();
    return;
  } else {
    prefix = is_single ? left->set.front() + PrefixOf(right) : PrefixOf(*left);
    if (std::optional<Facts> product = ExactProduct(std::move(*left), right)) {
      *left = *std::move(product);
      return;
    }
  }
  *left = InexactFacts(std::move(prefix));
}

Facts Alternate(Facts left, Facts right) {
  if (left.is_exact && right.is_exact && left.set.size() + right.set.size() <= kMaxLiterals) {
    std::move(right.set.begin(), right.set.end(), std::back_inserter(left.set));
    return left;
  }
  return InexactFacts(CommonPrefix(PrefixOf(left), PrefixOf(right)));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool IsPunctuation(char c) { return IsAscii(c) && c > ' ' && c != 0x7f && !IsWordChar(c); }
bool IsMeta(char c) { return std::string_view("\\.+*?()|[]{}^$").find(c) != std::string::npos; }

// Bytes of the UTF-8 rune that `lead` starts.
size_t RuneSize(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  // nullopt: not understood.
  std::optional<Facts> Parse() {
    std::optional<Facts> facts = ParseAlternation(0);
    if (!facts || !AtEnd()) return std::nullopt;
    return facts;
  }
  bool has_captures() const { return has_captures_; }

 private:
  bool AtEnd() const { return position_ == pattern_.size(); }
  char Peek() const { return pattern_[position_]; }
  bool Take(std::string_view text) {
    if (!pattern_.substr(position_).starts_with(text)) return false;
    position_ += text.size();
    return true;
  }

  std::optional<Facts> ParseAlternation(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    std::optional<Facts> facts = ParseConcat(depth);
    while (facts && Take("|")) {
      std::optional<Facts> other = ParseConcat(depth);
      if (!other) return std::nullopt;
      facts = Alternate(*std::move(facts), *std::move(other));
    }
    return facts;
  }

  // Anchors at the ends of an outermost branch say what holds anyway.
  std::optional<Facts> ParseConcat(int depth) {
    Facts facts = ExactFacts({""});
    if (depth == 0) Take("^");
    while (!AtEnd() && Peek() != '|' && Peek() != ')') {
      if (depth == 0 && Take("$")) {
        if (!AtEnd() && Peek() != '|') return std::nullopt;
        break;
      }
      const std::optional<Facts> next = ParseRepeat(depth);
      if (!next) return std::nullopt;
      Concatenate(&facts, *next);
    }
    return facts;
  }

  std::optional<Facts> ParseRepeat(int depth) {
    std::optional<Facts> atom = ParseAtom(depth);
    if (!atom || AtEnd()) return atom;
    int min_repeats = 0;
    if (Take("?")) {
      atom = Alternate(*std::move(atom), ExactFacts({""}));
    } else if (Take("*")) {
      atom = InexactFacts("");
    } else if (Take("+")) {
      atom = InexactFacts(PrefixOf(*atom));
    } else if (Peek() == '{') {
      if (!TakeRepeatCount(&min_repeats)) return std::nullopt;
      atom = InexactFacts(min_repeats > 0 ? PrefixOf(*atom) : "");
    } else {
      return atom;
    }
    Take("?");  // Lazy: the same texts match.
    if (!AtEnd() && std::string_view("*+?{").find(Peek()) != std::string_view::npos) {
      return std::nullopt;
    }
    return atom;
  }

  // {n}, {n,} or {n,m}.
  bool TakeRepeatCount(int* min_repeats) {
    int max_repeats = 0;
    if (!Take("{") || !TakeNumber(min_repeats)) return false;
    if (Take(",") && !AtEnd() && IsDigit(Peek())) {
      if (!TakeNumber(&max_repeats) || max_repeats < *min_repeats) return false;
    }
    return Take("}");
  }

  bool TakeNumber(int* number) {
    if (AtEnd() || !IsDigit(Peek())) return false;
    *number = 0;
    while (!AtEnd() && IsDigit(Peek())) {
      *number = *number * 10 + (pattern_[position_++] - '0');
      if (*number > kMaxRepeat) return false;
    }
    return true;
  }

  std::optional<Facts> ParseAtom(int depth) {
    if (Take("(")) return ParseGroup(depth);
    if (Take("[")) return ParseClass();
    if (Take(".")) return InexactFacts("");
    if (Take("\\")) return ParseEscape();
    if (IsMeta(Peek())) return std::nullopt;
    const std::string_view rune = pattern_.substr(position_, RuneSize(Peek()));
    position_ += rune.size();
    return ExactFacts({std::string(rune)});
  }

  std::optional<Facts> ParseGroup(int depth) {
    if (Take("?:")) {
      // No capture.
    } else if (Take("?P<") || Take("?<")) {
      has_captures_ = true;
      const size_t start = position_;
      while (!AtEnd() && IsWordChar(Peek())) ++position_;
      if (position_ == start || !Take(">")) return std::nullopt;
    } else {
      has_captures_ = true;
      if (!AtEnd() && Peek() == '?') return std::nullopt;
    }
    std::optional<Facts> facts = ParseAlternation(depth + 1);
    if (!Take(")")) return std::nullopt;
    return facts;
  }

  std::optional<Facts> ParseEscape() {
    if (AtEnd()) return std::nullopt;
    const char c = pattern_[position_++];
    if (IsPunctuation(c)) return ExactFacts({std::string(1, c)});
    if (c == 'd') return ExactFacts({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    if (c == 'n') return ExactFacts({"\n"});
    if (c == 't') return ExactFacts({"\t"});
    if (c == 'w' || c == 's' || c == 'D' || c == 'W' || c == 'S') return InexactFacts("");
    return std::nullopt;
  }

  // Single ASCII characters, escaped punctuation and ranges.
  std::optional<Facts> ParseClass() {
    const bool is_negated = Take("^");
    bool members[128] = {};
    bool is_empty = true;
    while (!Take("]")) {
      const std::optional<char> first = TakeClassChar();
      if (!first) return std::nullopt;
      char last = *first;
      if (Take("-")) {
        const std::optional<char> end = TakeClassChar();
        if (!end || *end < *first) return std::nullopt;
        last = *end;
      }
      for (int c = *first; c <= last; ++c) members[c] = true;
      is_empty = false;
    }
    if (is_empty) return std::nullopt;
    if (is_negated) return InexactFacts("");
    std::vector<std::string> set;
    for (int c = 0; c < 128; ++c) {
      if (members[c]) set.emplace_back(1, static_cast<char>(c));
    }
    return ExactFacts(std::move(set));
  }

  std::optional<char> TakeClassChar() {
    if (AtEnd()) return std::nullopt;
    char c = pattern_[position_++];
    if (c == '\\') {
      if (AtEnd() || !IsPunctuation(Peek())) return std::nullopt;
      return pattern_[position_++];
    }
    if (!IsAscii(c) || c == '[' || c == ']' || c == '-' || c == '^') return std::nullopt;
    return c;
  }

  const std::string_view pattern_;
  size_t position_ = 0;
  bool has_captures_ = false;
};

// Literals, escaped punctuation, '.*' and '.+' only.
bool ParseGlob(std::string_view pattern, RegexGlob* glob) {
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  glob->pieces.emplace_back();
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '.' && (next == '*' || next == '+')) {
      const char after = i + 2 < pattern.size() ? pattern[i + 2] : '\0';
      if (after == '*' || after == '+' || after == '?' || after == '{') return false;
      glob->gaps.push_back(next == '*' ? RegexGlob::Gap::kAny : RegexGlob::Gap::kNotEmpty);
      glob->pieces.emplace_back();
      ++i;
    } else if (c == '\\' && IsPunctuation(next)) {
      const char after = i + 2 < pattern.size() ? pattern[i + 2] : '\0';
      if (after == '*' || after == '+' || after == '?' || after == '{') return false;
      glob->pieces.back().push_back(next);
      ++i;
    } else if (c == '$' && i + 1 == pattern.size()) {
      return true;
    } else if (IsMeta(c)) {
      return false;
    } else {
      glob->pieces.back().push_back(c);
    }
  }
  return true;
}

}  // namespace

bool RegexGlob::Matches(std::string_view text) const {
  const std::string& first = pieces.front();
  if (!text.starts_with(first)) return false;
  text.remove_prefix(first.size());
  if (gaps.empty()) return text.empty();
  const auto min_gap = [this](size_t gap) -> size_t { return gaps[gap] == Gap::kAny ? 0 : 1; };
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    const size_t found = text.find(pieces[i], min_gap(i - 1));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + pieces[i].size());
  }
  return text.size() >= pieces.back().size() + min_gap(gaps.size() - 1) &&
         text.ends_with(pieces.back());
}

RegexShape AnalyzeRegex(std::string_view pattern) {
  RegexShape shape;
  Parser parser(pattern);
  std::optional<Facts> facts = parser.Parse();
  if (!facts) return shape;
  shape.prefix = PrefixOf(*facts);
  shape.is_plain = !parser.has_captures() && std::all_of(pattern.begin(), pattern.end(), IsAscii);
  shape.is_literal_set = facts->is_exact;
  if (facts->is_exact) {
    std::sort(facts->set.begin(), facts->set.end());
    facts->set.erase(std::unique(facts->set.begin(), facts->set.end()), facts->set.end());
    shape.literals = std::move(facts->set);
  } else {
    shape.is_glob = ParseGlob(pattern, &shape.glob);
  }
  return shape;
}

}  // namespace narthex::base
