#include "scrape/sample_labels.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "narthex/base/status.h"

namespace narthex::scrape {
namespace {

using base::InvalidArgument;
using base::ResourceExhausted;

constexpr std::string_view kExportedPrefix = "exported_";
constexpr size_t kShownCharacters = 50;  // Of names and values in messages.

std::string_view Shortened(std::string_view text) {
  size_t num_characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<uint8_t>(text[i]) & 0xc0) != 0x80;
    if (starts_character && num_characters++ == kShownCharacters) return text.substr(0, i);
  }
  return text;
}

std::string Quoted(std::string_view text) {
  std::string out;
  model::AppendQuoted(&out, text);
  return out;
}

// Scraped labels whose names the target took, under new names; shorter names choose first.
void MoveAside(std::vector<std::pair<std::string, std::string>> conflicts,
               model::LabelsBuilder* labels) {
  std::stable_sort(conflicts.begin(), conflicts.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (const auto& [name, value] : conflicts) {
    std::string new_name = base::StrCat(kExportedPrefix, name);
    while (!labels->Get(new_name).empty()) new_name.insert(0, kExportedPrefix);
    labels->Set(new_name, value);
  }
}

bool NamesAreValid(const model::Labels& labels, model::NameValidation validation) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const model::Label label = labels[i];
    const bool is_valid =
        label.name == model::kMetricName
            ? model::IsValidMetricName(label.value, validation)
            : model::IsValidLabelName(label.name, validation) && model::IsValidUtf8(label.value);
    if (!is_valid) return false;
  }
  return true;
}

}  // namespace

bool FinishLabels(const PoolConfig& config, const model::Labels& target_labels,
                  model::LabelsBuilder* labels) {
  std::vector<std::pair<std::string, std::string>> conflicts;
  for (size_t i = 0; i < target_labels.size(); ++i) {
    const model::Label label = target_labels[i];
    if (config.options.honor_labels) {
      // A scraped label with an empty value takes the target's label away.
      if (!labels->Mentions(label.name)) labels->Set(label.name, label.value);
      continue;
    }
    const std::string_view scraped = labels->Get(label.name);
    if (!scraped.empty()) conflicts.emplace_back(label.name, scraped);
    labels->Set(label.name, label.value);
  }
  if (!conflicts.empty()) MoveAside(std::move(conflicts), labels);
  return model::ApplyRelabelRules(config.metric_rules, labels);
}

absl::Status CheckLabels(const PoolOptions& options, const model::Labels& labels) {
  const std::string_view metric = labels.Get(model::kMetricName);
  if (metric.empty()) return InvalidArgument("missing metric name (__name__ label)");
  if (!NamesAreValid(labels, options.name_validation)) {
    return InvalidArgument("invalid metric name or label names: ", labels.ToString());
  }
  if (options.label_limit > 0 && labels.size() > options.label_limit) {
    return ResourceExhausted("label_limit exceeded (metric: ", Shortened(metric),
                             ", number of labels: ", labels.size(),
                             ", limit: ", options.label_limit, ")");
  }
  if (options.label_name_length_limit == 0 && options.label_value_length_limit == 0) {
    return absl::OkStatus();
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const model::Label label = labels[i];
    const std::string_view name = Shortened(label.name);
    if (options.label_name_length_limit > 0 &&
        label.name.size() > options.label_name_length_limit) {
      return ResourceExhausted("label_name_length_limit exceeded (metric: ", Shortened(metric),
                               ", label name: ", name, ", length: ", label.name.size(),
                               ", limit: ", options.label_name_length_limit, ")");
    }
    if (options.label_value_length_limit > 0 &&
        label.value.size() > options.label_value_length_limit) {
      return ResourceExhausted("label_value_length_limit exceeded (metric: ", Shortened(metric),
                               ", label name: ", name, ", value: ", Quoted(Shortened(label.value)),
                               ", length: ", label.value.size(),
                               ", limit: ", options.label_value_length_limit, ")");
    }
  }
  return absl::OkStatus();
}

}  // namespace narthex::scrape
