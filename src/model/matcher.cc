#include "narthex/model/matcher.h"

#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::model {
namespace {

std::string_view OperatorText(MatchType type) {
  switch (type) {
    case MatchType::kEqual:
      return "=";
    case MatchType::kNotEqual:
      return "!=";
    case MatchType::kRegex:
      return "=~";
    case MatchType::kNotRegex:
      return "!~";
  }
  return "";
}

}  // namespace

absl::StatusOr<Matcher> Matcher::Create(MatchType type, std::string_view name,
                                        std::string_view value) {
  Matcher matcher;
  matcher.type_ = type;
  matcher.name_ = name;
  matcher.value_ = value;
  if (type == MatchType::kRegex || type == MatchType::kNotRegex) {
    NX_ASSIGN_OR_RETURN(base::Regex regex, base::Regex::CompileAnchored(value));
    matcher.regex_ = std::make_shared<const base::Regex>(std::move(regex));
    if (type == MatchType::kRegex) matcher.literals_ = matcher.regex_->literals();
  } else if (type == MatchType::kEqual) {
    matcher.literals_ = {matcher.value_};
  }
  matcher.matches_empty_ = matcher.Matches("");
  return matcher;
}

bool Matcher::Matches(std::string_view label_value) const {
  switch (type_) {
    case MatchType::kEqual:
      return label_value == value_;
    case MatchType::kNotEqual:
      return label_value != value_;
    case MatchType::kRegex:
      return regex_->Matches(label_value);
    case MatchType::kNotRegex:
      return !regex_->Matches(label_value);
  }
  return false;
}

std::string_view Matcher::prefix() const {
  return type_ == MatchType::kRegex ? std::string_view(regex_->prefix()) : std::string_view();
}

std::string Matcher::ToString() const {
  std::string out;
  if (IsValidLabelName(name_, NameValidation::kLegacy)) {
    out = name_;
  } else {
    AppendQuoted(&out, name_);
  }
  out += OperatorText(type_);
  AppendQuoted(&out, value_);
  return out;
}

}  // namespace narthex::model
