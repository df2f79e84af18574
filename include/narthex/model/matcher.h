// Label matchers: name, operator, value. Immutable, thread-safe, cheap to copy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/regex.h"

namespace narthex::model {

enum class MatchType : uint8_t { kEqual, kNotEqual, kRegex, kNotRegex };

class Matcher {
 public:
  // kInvalidArgument if `value` is a regular expression that does not parse.
  static absl::StatusOr<Matcher> Create(MatchType type, std::string_view name,
                                        std::string_view value);

  MatchType type() const { return type_; }
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }

  // A missing label has the value "".
  bool Matches(std::string_view label_value) const;
  bool MatchesEmpty() const { return matches_empty_; }

  // The only texts a positive matcher (kEqual, or kRegex that is a set of literals) can accept;
  // empty when they are not known. A regular expression that is one literal counts as such a set.
  const std::vector<std::string>& literals() const { return literals_; }
  // A text every accepted value of a positive regex begins with; may be empty.
  std::string_view prefix() const;

  // name="value" with the operator and a Go-quoted value; quoted name if it is not a legacy name.
  std::string ToString() const;

 private:
  Matcher() = default;
  MatchType type_ = MatchType::kEqual;
  bool matches_empty_ = false;
  std::string name_;
  std::string value_;
  std::vector<std::string> literals_;
  std::shared_ptr<const base::Regex> regex_;  // Set for the two regex types.
};

}  // namespace narthex::model
