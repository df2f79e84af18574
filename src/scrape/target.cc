#include "scrape/target.h"

#include <xxhash.h>

#include <array>
#include <utility>
#include <vector>

#include "narthex/base/duration.h"
#include "narthex/base/status.h"
#include "scrape/target_url.h"

namespace narthex::scrape {
namespace {

using base::InvalidArgument;

constexpr std::string_view kAddress = "__address__";
constexpr std::string_view kInterval = "__scrape_interval__";
constexpr std::string_view kTimeout = "__scrape_timeout__";
constexpr std::string_view kInternalPrefix = "__";
constexpr std::string_view kMetaPrefix = "__meta_";

std::string Quoted(std::string_view text) {
  std::string out;
  model::AppendQuoted(&out, text);
  return out;
}

std::string_view BoolText(bool value) { return value ? "true" : "false"; }

// As Go's strconv.ParseBool.
std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

void SetIfAbsent(std::string_view name, std::string_view value, model::LabelsBuilder* labels) {
  if (labels->Get(name).empty()) labels->Set(name, value);
}

absl::StatusOr<int64_t> PositiveDuration(std::string_view what, std::string_view text) {
  const absl::StatusOr<int64_t> duration_ms = base::ParseDurationMs(text);
  if (!duration_ms.ok()) {
    return InvalidArgument("error parsing scrape ", what, ": ",
                           base::Message(duration_ms.status()));
  }
  if (*duration_ms == 0) return InvalidArgument("scrape ", what, " cannot be 0");
  return *duration_ms;
}

absl::Status CheckTimes(const model::LabelsBuilder& labels) {
  const std::string_view interval = labels.Get(kInterval);
  const std::string_view timeout = labels.Get(kTimeout);
  NX_ASSIGN_OR_RETURN(const int64_t interval_ms, PositiveDuration("interval", interval));
  NX_ASSIGN_OR_RETURN(const int64_t timeout_ms, PositiveDuration("timeout", timeout));
  if (timeout_ms <= interval_ms) return absl::OkStatus();
  return InvalidArgument("scrape timeout cannot be greater than scrape interval (", Quoted(timeout),
                         " > ", Quoted(interval), ")");
}

absl::Status CheckFlags(const model::LabelsBuilder& labels) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFlags = {{
      {kConvertHistogramsLabel, "convert classic histograms to nhcb"},
      {kClassicHistogramsLabel, "always scrape classic histograms"},
      {kNativeHistogramsLabel, "scrape native histograms"},
  }};
  for (const auto& [name, description] : kFlags) {
    const std::string_view value = labels.Get(name);
    if (value.empty() || ParseBool(value).has_value()) continue;
    return InvalidArgument("error parsing ", description, ": strconv.ParseBool: parsing ",
                           Quoted(value), ": invalid syntax");
  }
  return absl::OkStatus();
}

model::Labels WithoutInternal(const model::Labels& labels) {
  std::vector<model::Label> kept;
  for (const model::Label& label : labels.Views()) {
    if (!label.name.starts_with(kInternalPrefix)) kept.push_back(label);
  }
  return model::Labels::FromPairs(std::move(kept));
}

}  // namespace

void SetDiscoveredLabels(const PoolOptions& options, const TargetOrigin& origin,
                         model::LabelsBuilder* labels) {
  labels->Reset();
  for (const auto& [name, value] : origin.own_labels()) labels->Set(name, value);
  for (const auto& [name, value] : origin.group->labels) {
    if (!origin.own_labels().contains(name)) labels->Set(name, value);
  }
  SetIfAbsent("job", options.job_name, labels);
  SetIfAbsent(kInterval, base::FormatDuration(options.scrape_interval_ms), labels);
  SetIfAbsent(kTimeout, base::FormatDuration(options.scrape_timeout_ms), labels);
  SetIfAbsent("__metrics_path__", options.metrics_path, labels);
  SetIfAbsent("__scheme__", options.scheme, labels);
  SetIfAbsent(kConvertHistogramsLabel, BoolText(options.convert_classic_histograms_to_nhcb),
              labels);
  SetIfAbsent(kClassicHistogramsLabel, BoolText(options.always_scrape_classic_histograms), labels);
  SetIfAbsent(kNativeHistogramsLabel, BoolText(options.scrape_native_histograms), labels);
  for (const auto& [name, values] : options.params) {
    if (!values.empty()) SetIfAbsent(base::StrCat("__param_", name), values.front(), labels);
  }
}

absl::StatusOr<std::optional<model::Labels>> TargetLabels(const PoolConfig& config,
                                                          const TargetOrigin& origin) {
  model::LabelsBuilder builder;
  SetDiscoveredLabels(config.options, origin, &builder);
  if (!model::ApplyRelabelRules(config.target_rules, &builder)) return std::nullopt;

  const std::string address(builder.Get(kAddress));
  if (address.empty()) return InvalidArgument("no address");
  if (address.find('/') != std::string::npos) {
    return InvalidArgument(Quoted(address), " is not a valid hostname");
  }
  NX_RETURN_IF_ERROR(CheckTimes(builder));
  NX_RETURN_IF_ERROR(CheckFlags(builder));
  std::vector<std::string> meta_names;
  for (const model::Label& label : builder.Current()) {
    if (label.name.starts_with(kMetaPrefix)) meta_names.emplace_back(label.name);
  }
  for (const std::string& name : meta_names) builder.Delete(name);
  SetIfAbsent("instance", address, &builder);

  model::Labels labels = builder.Build();
  for (const model::Label& label : labels.Views()) {
    if (model::IsValidUtf8(label.value)) continue;
    return InvalidArgument("invalid label value for ", Quoted(label.name), ": ",
                           Quoted(label.value));
  }
  return labels;
}

Target::Target(model::Labels labels, std::shared_ptr<const PoolConfig> config, TargetOrigin origin,
               MetadataPool* metadata_pool)
    : labels_(std::move(labels)),
      public_labels_(WithoutInternal(labels_)),
      url_(TargetUrl(labels_, config->options)),
      interval_ms_(base::ParseDurationMs(labels_.Get(kInterval))
                       .value_or(config->options.scrape_interval_ms)),
      timeout_ms_(
          base::ParseDurationMs(labels_.Get(kTimeout)).value_or(config->options.scrape_timeout_ms)),
      hash_(XXH3_64bits_withSeed(url_.data(), url_.size(), labels_.Hash())),
      metadata_(metadata_pool),
      config_(std::move(config)),
      origin_(std::move(origin)) {}

bool Target::Flag(std::string_view label_name, bool otherwise) const {
  return ParseBool(labels_.Get(label_name)).value_or(otherwise);
}

void Target::AdoptOrigin(const Target& newer) {
  std::shared_ptr<const PoolConfig> config;
  TargetOrigin origin;
  {
    base::MutexLock lock(&newer.mutex_);
    config = newer.config_;
    origin = newer.origin_;
  }
  base::MutexLock lock(&mutex_);
  config_ = std::move(config);
  origin_ = std::move(origin);
}

void Target::Report(int64_t scrape_ms, double duration_s, const absl::Status& result) {
  base::MutexLock lock(&mutex_);
  health_ = result.ok() ? TargetHealth::kUp : TargetHealth::kDown;
  last_error_ = base::Message(result);
  last_scrape_ms_ = scrape_ms;
  last_duration_s_ = duration_s;
}

ActiveTarget Target::Describe() const {
  ActiveTarget description;
  description.scrape_url = url_;
  description.labels = public_labels_;
  description.scrape_interval = labels_.Get(kInterval);
  description.scrape_timeout = labels_.Get(kTimeout);
  model::LabelsBuilder discovered;
  base::MutexLock lock(&mutex_);
  SetDiscoveredLabels(config_->options, origin_, &discovered);
  description.discovered_labels = discovered.Build();
  description.scrape_pool = config_->options.job_name;
  description.health = health_;
  description.last_error = last_error_;
  description.last_scrape_ms = last_scrape_ms_;
  description.last_scrape_duration_s = last_duration_s_;
  return description;
}

}  // namespace narthex::scrape
