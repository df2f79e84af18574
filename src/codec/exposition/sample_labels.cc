#include "codec/exposition/sample_labels.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "codec/exposition/text_value.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr std::string_view kTypeLabel = "__type__";
constexpr std::string_view kUnitLabel = "__unit__";

// Up to so many labels the builder's linear search is the cheapest.
constexpr size_t kFewLabels = 64;

bool IsNumberLabel(model::MetricType type, std::string_view label) {
  return (type == model::MetricType::kSummary && label == model::kQuantileLabel) ||
         (type == model::MetricType::kHistogram && label == model::kBucketLabel);
}

// kInvalidArgument if a name comes twice in `sorted`.
absl::Status CheckUnique(const std::vector<model::Label>& sorted) {
  const auto twin = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const model::Label& a, const model::Label& b) { return a.name == b.name; });
  if (twin == sorted.end()) return absl::OkStatus();
  std::string quoted;
  model::AppendQuoted(&quoted, twin->name);
  return base::InvalidArgument("label name ", quoted, " is not unique: invalid sample");
}

// The resolved labels of one sample.
class Resolver {
 public:
  Resolver(LabelEscapes escapes, model::MetricType type) : escapes_(escapes), type_(type) {}

  std::string_view Text(std::string_view raw) {
    if (escapes_ == LabelEscapes::kNone || raw.find('\\') == std::string_view::npos) return raw;
    return texts_.emplace_back(UnescapeLabel(raw));
  }

  std::string_view Value(std::string_view name, std::string_view raw) {
    const std::string_view value = Text(raw);
    if (escapes_ == LabelEscapes::kNone || !IsNumberLabel(type_, name)) return value;
    const std::optional<double> number = base::ParseFloat(value);
    if (!number.has_value() || IsOutOfRange(value, *number)) return value;
    std::string& text = texts_.emplace_back();
    base::AppendFloatOpenMetrics(&text, *number);
    return text;
  }

 private:
  const LabelEscapes escapes_;
  const model::MetricType type_;
  std::deque<std::string> texts_;  // Stable addresses.
};

}  // namespace

SampleLabels::Range SampleLabels::CloseRange() {
  const Range range = {static_cast<uint32_t>(first_open_),
                       static_cast<uint32_t>(labels_.size() - first_open_)};
  first_open_ = labels_.size();
  return range;
}

uint32_t SampleLabels::AddSample(const Sample& sample) {
  samples_.push_back(sample);
  return static_cast<uint32_t>(samples_.size() - 1);
}

void SampleLabels::Reset() {
  samples_.clear();
  labels_.clear();
  first_open_ = 0;
}

absl::Status SampleLabels::Build(uint32_t index, bool add_type_and_unit,
                                 model::LabelsBuilder* out) const {
  const Sample& sample = samples_[index];
  Resolver resolver(escapes_, sample.type);
  const bool add_type = add_type_and_unit && sample.type != model::MetricType::kUnknown;
  const bool add_unit = add_type_and_unit && !sample.unit.empty();

  std::vector<model::Label> labels;
  std::vector<std::string_view> emptied;
  labels.reserve(sample.labels.size + 4);
  labels.push_back({model::kMetricName, resolver.Text(sample.name)});
  if (add_type) labels.push_back({kTypeLabel, model::MetricTypeName(sample.type)});
  if (add_unit) labels.push_back({kUnitLabel, sample.unit});
  if (!sample.extra.name.empty()) labels.push_back(sample.extra);
  for (uint32_t i = 0; i < sample.labels.size; ++i) {
    const model::Label& raw = labels_[sample.labels.first + i];
    const std::string_view name = resolver.Text(raw.name);
    const bool is_overruled =
        add_type_and_unit && (name == model::kMetricName || (add_type && name == kTypeLabel) ||
                              (add_unit && name == kUnitLabel));
    if (is_overruled) continue;
    if (raw.value.empty()) {
      emptied.push_back(name);
      continue;
    }
    labels.push_back({name, resolver.Value(name, raw.value)});
  }
  std::sort(labels.begin(), labels.end(),
            [](const model::Label& a, const model::Label& b) { return a.name < b.name; });
  NX_RETURN_IF_ERROR(CheckUnique(labels));
  if (labels.size() > kFewLabels) {
    out->Reset(model::Labels::FromPairs(std::move(labels)));
  } else {
    out->Reset();
    for (const model::Label& label : labels) out->Set(label.name, label.value);
  }
  // Not labels, but mentioned: scraping may let them take a label of the target away.
  for (const std::string_view name : emptied) out->Set(name, "");
  return absl::OkStatus();
}

}  // namespace narthex::codec
