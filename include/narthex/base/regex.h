// Regular expressions in RE2 syntax. Sets of literals, prefixes and substrings are recognised and
// matched without the engine. Immutable, thread-safe, cheap to copy.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace narthex::base {

class Regex {
 public:
  // `pattern` as written; matching is anchored at both ends and '.' matches newline, that is
  // ^(?s:pattern)$. kInvalidArgument if it does not parse or is too large, with the reason in Go's
  // words: "error parsing regexp: missing closing ): `(a`".
  static absl::StatusOr<Regex> CompileAnchored(std::string_view pattern);

  bool Matches(std::string_view text) const;

  // Matches and, on success, appends `replacement` with $1, ${1}, $name, ${name} and $$ expanded as
  // Go's regexp.Expand does (unknown groups are empty). False, nothing appended, on no match.
  // Stops early once `*out` has more than `max_bytes`.
  bool Expand(std::string_view text, std::string_view replacement, std::string* out,
              size_t max_bytes = std::numeric_limits<size_t>::max()) const;

  // The texts the expression can match (sorted), if they are few (a|b|c, also with common prefixes
  // and small classes); empty when it is not such a set.
  const std::vector<std::string>& literals() const;
  // Every match begins with this text (possibly empty).
  const std::string& prefix() const;

 private:
  struct Impl;
  explicit Regex(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace narthex::base
