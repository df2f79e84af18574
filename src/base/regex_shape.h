// What can be told about a regular expression by looking at it, so that most are matched without an
// engine: label values are mostly asked for sets (a|b|c), prefixes and substrings. A small careful
// parser of common syntax; on anything else it says "unknown", never something wrong. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace narthex::base {

// Literal pieces with gaps between them that '.*' or '.+' fill: piece[0] gap[0] piece[1] ...
struct RegexGlob {
  enum class Gap : uint8_t { kAny, kNotEmpty };
  std::vector<std::string> pieces;  // One more than gaps; may be empty texts.
  std::vector<Gap> gaps;

  bool Matches(std::string_view text) const;
};

struct RegexShape {
  // The expression, anchored at both ends, matches exactly `literals` (sorted, each once).
  bool is_literal_set = false;
  std::vector<std::string> literals;
  // Every match begins with this text.
  std::string prefix;
  // The expression is `glob`.
  bool is_glob = false;
  RegexGlob glob;
  // Pure ASCII without capture groups, all of it understood: no engine need be asked whether the
  // expression is valid. False says nothing.
  bool is_plain = false;
};

// Of `pattern` anchored at both ends, where '.' matches newline too.
RegexShape AnalyzeRegex(std::string_view pattern);

}  // namespace narthex::base
