#include "narthex/base/regex.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/regex_shape.h"
#include "narthex/base/status.h"
#include "re2/re2.h"

namespace narthex::base {
namespace {

// Of one expression's program and its matching states together.
constexpr int64_t kMaxRegexBytes = 16 << 20;
// Sets up to this size are searched front to back.
constexpr size_t kMaxLinearLiterals = 8;
// Capture groups that need no allocation.
constexpr size_t kNumInlineGroups = 10;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// The kinds of syntax errors as Go words them.
std::string_view ErrorText(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

// Go's newer spelling of named groups, (?<name>...), in the engine's: (?P<name>...).
std::string WithPNames(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      // \Q...\E is literal text.
      const size_t end = pattern.substr(i).starts_with("\\Q") ? pattern.find("\\E", i) : i + 2;
      out.append(pattern.substr(i, end - i));
      if (end >= pattern.size()) return out;
      i = end - 1;
      continue;
    }
    if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A ']' that comes first is a member.
      const bool is_negated = pattern.substr(i + 1).starts_with('^');
      const size_t first = i + (is_negated ? 2 : 1);
      if (pattern.substr(std::min(first, pattern.size())).starts_with(']')) {
        out.append(pattern.substr(i, first - i));
        i = first;
        out.push_back(']');
        continue;
      }
    } else if (pattern.substr(i).starts_with("(?<")) {
      out.append("(?P<");
      i += 2;
      continue;
    }
    out.push_back(c);
  }
  return out;
}

bool IsWordByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The reference after a '$': "name" or "{name}". Its name, and the bytes it takes in *size; an
// empty name if it is none.
std::string_view ReferenceName(std::string_view text, size_t* size) {
  const bool has_brace = text.starts_with('{');
  const size_t start = has_brace ? 1 : 0;
  size_t end = start;
  while (end < text.size() && IsWordByte(text[end])) ++end;
  *size = end;
  if (has_brace) {
    if (end >= text.size() || text[end] != '}') return "";
    *size = end + 1;
  }
  return text.substr(start, end - start);
}

// The number of a reference such as "12"; -1 if it is a name ("01" and "1x" are).
int ReferenceNumber(std::string_view name) {
  if (name.size() > 1 && name[0] == '0') return -1;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9' || number >= 100'000'000) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

struct Regex::Impl {
  RegexShape shape;
  // Null when the shape decides alone and there are no capture groups.
  std::unique_ptr<RE2> engine;
  std::map<std::string, int> group_numbers;

  bool MatchesWithoutEngine(std::string_view text) const {
    if (shape.is_glob) return shape.glob.Matches(text);
    const std::vector<std::string>& literals = shape.literals;
    if (literals.size() <= kMaxLinearLiterals) {
      return std::find(literals.begin(), literals.end(), text) != literals.end();
    }
    return std::binary_search(literals.begin(), literals.end(), text);
  }

  // Appends the text of the group that `name` refers to, if there is one and it took part.
  void AppendGroup(std::string_view name, const re2::StringPiece* groups, size_t num_groups,
                   std::string* out) const {
    int number = ReferenceNumber(name);
    if (number < 0) {
      const auto found = group_numbers.find(std::string(name));
      if (found == group_numbers.end()) return;
      number = found->second;
    }
    const auto index = static_cast<size_t>(number);
    if (index < num_groups && groups[index].data() != nullptr) {
      out->append(groups[index].data(), groups[index].size());
    }
  }

  void AppendExpanded(std::string_view replacement, const re2::StringPiece* groups,
                      size_t num_groups, std::string* out, size_t max_bytes) const {
    while (!replacement.empty() && out->size() <= max_bytes) {
      const size_t dollar = replacement.find('$');
      out->append(replacement.substr(0, dollar));
      if (dollar == std::string_view::npos) return;
      replacement.remove_prefix(dollar + 1);
      if (replacement.starts_with('$')) {
        out->push_back('$');
        replacement.remove_prefix(1);
        continue;
      }
      size_t size = 0;
      const std::string_view name = ReferenceName(replacement, &size);
      if (name.empty()) {
        out->push_back('$');
        continue;
      }
      AppendGroup(name, groups, num_groups, out);
      replacement.remove_prefix(size);
    }
  }
};

absl::StatusOr<Regex> Regex::CompileAnchored(std::string_view pattern) {
  auto impl = std::make_shared<Impl>();
  impl->shape = AnalyzeRegex(pattern);
  const bool is_decided = impl->shape.is_literal_set || impl->shape.is_glob;
  if (is_decided && impl->shape.is_plain) return Regex(std::move(impl));

  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_max_mem(kMaxRegexBytes);
  impl->engine = std::make_unique<RE2>(Piece(WithPNames(pattern)), options);
  if (!impl->engine->ok()) {
    std::string_view where = impl->engine->error_arg();
    if (where.empty()) where = pattern;
    return InvalidArgument("error parsing regexp: ", ErrorText(impl->engine->error_code()), ": `",
                           where, "`");
  }
  impl->group_numbers = impl->engine->NamedCapturingGroups();
  return Regex(std::move(impl));
}

bool Regex::Matches(std::string_view text) const {
  if (impl_->shape.is_literal_set || impl_->shape.is_glob) {
    return impl_->MatchesWithoutEngine(text);
  }
  // Fast path: most values of a label lack the prefix.
  if (!text.starts_with(impl_->shape.prefix)) return false;
  return impl_->engine->Match(Piece(text), 0, text.size(), RE2::ANCHOR_BOTH, nullptr, 0);
}

bool Regex::Expand(std::string_view text, std::string_view replacement, std::string* out,
                   size_t max_bytes) const {
  if (impl_->engine == nullptr) {
    if (!impl_->MatchesWithoutEngine(text)) return false;
    const re2::StringPiece whole = Piece(text);
    impl_->AppendExpanded(replacement, &whole, 1, out, max_bytes);
    return true;
  }
  const auto num_groups = static_cast<size_t>(impl_->engine->NumberOfCapturingGroups()) + 1;
  std::array<re2::StringPiece, kNumInlineGroups> inline_groups;
  std::vector<re2::StringPiece> more_groups(num_groups > kNumInlineGroups ? num_groups : 0);
  re2::StringPiece* const groups =
      num_groups > kNumInlineGroups ? more_groups.data() : inline_groups.data();
  if (!impl_->engine->Match(Piece(text), 0, text.size(), RE2::ANCHOR_BOTH, groups,
                            static_cast<int>(num_groups))) {
    return false;
  }
  impl_->AppendExpanded(replacement, groups, num_groups, out, max_bytes);
  return true;
}

const std::vector<std::string>& Regex::literals() const { return impl_->shape.literals; }
const std::string& Regex::prefix() const { return impl_->shape.prefix; }

}  // namespace narthex::base
