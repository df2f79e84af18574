#include "narthex/model/relabel.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cwchar>
#include <cwctype>

#include "narthex/base/check.h"
#include "narthex/base/regex.h"
#include "narthex/base/status.h"

namespace narthex::model {
namespace {

using base::InvalidArgument;
using enum RelabelAction;

constexpr std::array<std::pair<std::string_view, RelabelAction>, 11> kActions = {{
    {"replace", kReplace},
    {"keep", kKeep},
    {"drop", kDrop},
    {"keepequal", kKeepEqual},
    {"dropequal", kDropEqual},
    {"hashmod", kHashMod},
    {"labelmap", kLabelMap},
    {"labeldrop", kLabelDrop},
    {"labelkeep", kLabelKeep},
    {"lowercase", kLowercase},
    {"uppercase", kUppercase},
}};

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(&out, text);
  return out;
}

bool HasVariable(std::string_view text) { return text.find('$') != std::string_view::npos; }

// A name that may hold $variables, before they are expanded.
bool IsValidNameTemplate(std::string_view text, NameValidation validation) {
  if (validation == NameValidation::kUtf8) return IsValidLabelName(text, validation);
  static const base::Regex* const kTemplate = [] {
    absl::StatusOr<base::Regex> regex =
        base::Regex::CompileAnchored(R"((?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+)");
    NX_CHECK(regex.ok());
    return std::make_unique<base::Regex>(*std::move(regex)).release();
  }();
  return kTemplate->Matches(text);
}

absl::Status CheckTarget(const RelabelConfig& config, RelabelAction action,
                         NameValidation validation) {
  switch (action) {
    case kReplace:
    case kHashMod:
    case kLowercase:
    case kUppercase:
    case kKeepEqual:
    case kDropEqual:
      break;
    default:
      return absl::OkStatus();
  }
  const std::string_view name = RelabelActionName(action);
  if (config.target_label.empty()) {
    return InvalidArgument("relabel configuration for ", name,
                           " action requires 'target_label' value");
  }
  const bool is_template = action == kReplace && HasVariable(config.target_label);
  const bool is_valid = is_template ? IsValidNameTemplate(config.target_label, validation)
                                    : IsValidLabelName(config.target_label, validation);
  if (is_valid) return absl::OkStatus();
  return InvalidArgument(Quoted(config.target_label), " is invalid 'target_label' for ", name,
                         " action");
}

absl::Status CheckConfig(const RelabelConfig& config, RelabelAction action,
                         NameValidation validation) {
  const RelabelConfig defaults;
  const std::string_view name = RelabelActionName(action);
  if (action == kHashMod && config.modulus == 0) {
    return InvalidArgument("relabel configuration for hashmod requires non-zero modulus");
  }
  NX_RETURN_IF_ERROR(CheckTarget(config, action, validation));
  const bool is_equal_action = action == kKeepEqual || action == kDropEqual;
  if ((action == kLowercase || action == kUppercase || is_equal_action) &&
      config.replacement != defaults.replacement) {
    return InvalidArgument("'replacement' can not be set for ", name, " action");
  }
  if (action == kLabelMap && !IsValidNameTemplate(config.replacement, validation)) {
    return InvalidArgument(Quoted(config.replacement), " is invalid 'replacement' for ", name,
                           " action");
  }
  const bool has_defaults = config.modulus == defaults.modulus &&
                            config.separator == defaults.separator &&
                            config.replacement == defaults.replacement;
  if (is_equal_action && !(has_defaults && config.regex == defaults.regex)) {
    return InvalidArgument(
        name, " action requires only 'source_labels' and `target_label`, and no other fields");
  }
  if ((action == kLabelDrop || action == kLabelKeep) &&
      !(has_defaults && config.source_labels.empty() && config.target_label.empty())) {
    return InvalidArgument(name, " action requires only 'regex', and no other fields");
  }
  return absl::OkStatus();
}

// The last eight bytes of the text's MD5 as a big-endian number.
uint64_t Md5Tail(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_md5(), /*impl=*/nullptr);
  NX_CHECK(done == 1 && size == 16);
  uint64_t tail = 0;
  for (size_t i = 8; i < 16; ++i) tail = (tail << 8) | digest[i];
  return tail;
}

// The case mapping of Unicode, one character at a time. Bytes that are no UTF-8 stay.
template <typename MapWide>
std::string MapCase(std::string_view text, int (*map_ascii)(int), MapWide map_wide) {
  std::string out;
  out.reserve(text.size());
  static const locale_t kUnicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const bool is_ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (is_ascii || kUnicode == nullptr) {
    for (char c : text) {
      const bool is_letter = static_cast<uint8_t>(c) < 0x80;
      out.push_back(is_letter ? static_cast<char>(map_ascii(c)) : c);
    }
    return out;
  }
  const locale_t before = uselocale(kUnicode);
  std::mbstate_t read_state{};
  while (!text.empty()) {
    wchar_t wide = 0;
    const size_t size = std::mbrtowc(&wide, text.data(), text.size(), &read_state);
    if (size == 0 || size > text.size()) {
      out.push_back(text.front());
      text.remove_prefix(1);
      read_state = {};
      continue;
    }
    std::mbstate_t write_state{};
    std::array<char, 16> buffer{};
    const auto mapped = static_cast<wchar_t>(map_wide(static_cast<std::wint_t>(wide), kUnicode));
    const size_t written = std::wcrtomb(buffer.data(), mapped, &write_state);
    if (written <= buffer.size()) out.append(buffer.data(), written);
    text.remove_prefix(size);
  }
  uselocale(before);
  return out;
}

std::string ToLower(std::string_view text) {
  return MapCase(
      text, [](int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }, towlower_l);
}

std::string ToUpper(std::string_view text) {
  return MapCase(
      text, [](int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }, towupper_l);
}

}  // namespace

struct RelabelRule::Compiled {
  RelabelConfig config;
  RelabelAction action;
  NameValidation validation;
  base::Regex regex;
  // The default expression matches everything: no need to ask it.
  bool matches_all;
  // A replace with the default expression and no variables: an empty value sets a fixed text.
  bool sets_constant_when_empty;

  std::string SourceValue(const LabelsBuilder& labels) const {
    std::string value;
    for (size_t i = 0; i < config.source_labels.size(); ++i) {
      if (i > 0) value += config.separator;
      value += labels.Get(config.source_labels[i]);
    }
    return value;
  }
  bool Matches(std::string_view text) const { return matches_all || regex.Matches(text); }
  void Replace(std::string_view value, LabelsBuilder* labels) const;
  void MapNames(LabelsBuilder* labels) const;
  void DropNames(bool drop_matching, LabelsBuilder* labels) const;
};

void RelabelRule::Compiled::Replace(std::string_view value, LabelsBuilder* labels) const {
  if (sets_constant_when_empty && value.empty()) {
    labels->Set(config.target_label, config.replacement);
    return;
  }
  std::string target;
  if (!regex.Expand(value, config.target_label, &target)) return;
  if (!IsValidLabelName(target, validation)) return;
  std::string result;
  regex.Expand(value, config.replacement, &result);
  labels->Set(target, result);
}

void RelabelRule::Compiled::MapNames(LabelsBuilder* labels) const {
  std::vector<std::pair<std::string, std::string>> additions;
  for (const Label& label : labels->Current()) {
    std::string name;
    if (regex.Expand(label.name, config.replacement, &name)) {
      additions.emplace_back(std::move(name), label.value);
    }
  }
  for (const auto& [name, value] : additions) labels->Set(name, value);
}

void RelabelRule::Compiled::DropNames(bool drop_matching, LabelsBuilder* labels) const {
  std::vector<std::string> dropped;
  for (const Label& label : labels->Current()) {
    if (Matches(label.name) == drop_matching) dropped.emplace_back(label.name);
  }
  for (const std::string& name : dropped) labels->Delete(name);
}

absl::StatusOr<RelabelAction> ParseRelabelAction(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  for (const auto& [action_name, action] : kActions) {
    if (action_name == lower) return action;
  }
  return InvalidArgument("unknown relabel action ", Quoted(name));
}

std::string_view RelabelActionName(RelabelAction action) {
  for (const auto& [name, known] : kActions) {
    if (known == action) return name;
  }
  return "";
}

absl::StatusOr<RelabelRule> RelabelRule::Create(const RelabelConfig& config,
                                                NameValidation validation) {
  if (config.action.empty()) return InvalidArgument("relabel action cannot be empty");
  NX_ASSIGN_OR_RETURN(const RelabelAction action, ParseRelabelAction(config.action));
  NX_RETURN_IF_ERROR(CheckConfig(config, action, validation));
  NX_ASSIGN_OR_RETURN(base::Regex regex, base::Regex::CompileAnchored(config.regex));
  const bool matches_all = config.regex == RelabelConfig().regex;
  const bool sets_constant =
      matches_all && !HasVariable(config.target_label) && !HasVariable(config.replacement);
  return RelabelRule(std::make_shared<const Compiled>(
      Compiled{config, action, validation, std::move(regex), matches_all, sets_constant}));
}

bool RelabelRule::Apply(LabelsBuilder* labels) const {
  const Compiled& rule = *compiled_;
  const std::string& target = rule.config.target_label;
  const std::string value = rule.SourceValue(*labels);
  switch (rule.action) {
    case kReplace:
      rule.Replace(value, labels);
      return true;
    case kKeep:
      return rule.Matches(value);
    case kDrop:
      return !rule.Matches(value);
    case kKeepEqual:
      return labels->Get(target) == value;
    case kDropEqual:
      return labels->Get(target) != value;
    case kHashMod:
      labels->Set(target, base::StrCat(Md5Tail(value) % rule.config.modulus));
      return true;
    case kLabelMap:
      rule.MapNames(labels);
      return true;
    case kLabelDrop:
      rule.DropNames(/*drop_matching=*/true, labels);
      return true;
    case kLabelKeep:
      rule.DropNames(/*drop_matching=*/false, labels);
      return true;
    case kLowercase:
      labels->Set(target, ToLower(value));
      return true;
    case kUppercase:
      labels->Set(target, ToUpper(value));
      return true;
  }
  return true;
}

const RelabelConfig& RelabelRule::config() const { return compiled_->config; }

absl::StatusOr<std::vector<RelabelRule>> CreateRelabelRules(std::span<const RelabelConfig> configs,
                                                            NameValidation validation) {
  std::vector<RelabelRule> rules;
  rules.reserve(configs.size());
  for (const RelabelConfig& config : configs) {
    NX_ASSIGN_OR_RETURN(RelabelRule rule, RelabelRule::Create(config, validation));
    rules.push_back(std::move(rule));
  }
  return rules;
}

bool ApplyRelabelRules(std::span<const RelabelRule> rules, LabelsBuilder* labels) {
  for (const RelabelRule& rule : rules) {
    if (!rule.Apply(labels)) return false;
  }
  return true;
}

}  // namespace narthex::model
