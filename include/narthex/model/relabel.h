// Relabelling: rules that rewrite, keep or drop label sets. A rule is compiled once and applied to
// many sets. Immutable, thread-safe, cheap to copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/model/labels.h"

namespace narthex::model {

enum class RelabelAction : uint8_t {
  kReplace,
  kKeep,
  kDrop,
  kKeepEqual,
  kDropEqual,
  kHashMod,
  kLabelMap,
  kLabelDrop,
  kLabelKeep,
  kLowercase,
  kUppercase,
};

// kInvalidArgument: `unknown relabel action "x"`. The case of letters does not matter.
absl::StatusOr<RelabelAction> ParseRelabelAction(std::string_view name);
std::string_view RelabelActionName(RelabelAction action);

// One relabel_config section, with its defaults.
struct RelabelConfig {
  std::vector<std::string> source_labels = {};
  std::string separator = ";";
  std::string regex = "(.*)";
  uint64_t modulus = 0;
  std::string target_label = {};
  std::string replacement = "$1";
  std::string action = "replace";
  bool operator==(const RelabelConfig&) const = default;
};

class RelabelRule {
 public:
  // kInvalidArgument with Prometheus's texts. Names that the rule makes keep to `validation`.
  static absl::StatusOr<RelabelRule> Create(const RelabelConfig& config, NameValidation validation);

  // False: the label set is to be dropped.
  [[nodiscard]] bool Apply(LabelsBuilder* labels) const;

  const RelabelConfig& config() const;

 private:
  struct Compiled;
  explicit RelabelRule(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

// Compiles a list of sections in order.
absl::StatusOr<std::vector<RelabelRule>> CreateRelabelRules(std::span<const RelabelConfig> configs,
                                                            NameValidation validation);

// Applies rules in order; false as soon as one drops the set.
[[nodiscard]] bool ApplyRelabelRules(std::span<const RelabelRule> rules, LabelsBuilder* labels);

}  // namespace narthex::model
