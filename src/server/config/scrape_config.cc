#include "server/config/scrape_config.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "narthex/base/status.h"
#include "server/config/http_client_config.h"
#include "server/config/relabel_config.h"
#include "server/config/yaml_map.h"

namespace narthex::server {
namespace {

using base::YamlNode;

constexpr std::array<std::string_view, 30> kDiscoverySections = {
    "aws_sd_configs",          "azure_sd_configs",     "consul_sd_configs",
    "digitalocean_sd_configs", "dns_sd_configs",       "docker_sd_configs",
    "dockerswarm_sd_configs",  "ec2_sd_configs",       "eureka_sd_configs",
    "file_sd_configs",         "gce_sd_configs",       "hetzner_sd_configs",
    "http_sd_configs",         "ionos_sd_configs",     "kubernetes_sd_configs",
    "kuma_sd_configs",         "lightsail_sd_configs", "linode_sd_configs",
    "marathon_sd_configs",     "nerve_sd_configs",     "nomad_sd_configs",
    "oci_sd_configs",          "openstack_sd_configs", "outscale_sd_configs",
    "ovhcloud_sd_configs",     "puppetdb_sd_configs",  "scaleway_sd_configs",
    "serverset_sd_configs",    "stackit_sd_configs",   "triton_sd_configs"};
constexpr std::array<std::string_view, 2> kMoreDiscoverySections = {"uyuni_sd_configs",
                                                                    "vultr_sd_configs"};

using scrape::PoolOptions;
using scrape::ScrapeProtocol;

std::string Joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) base::StrAppend(&out, out.empty() ? "" : " ", text);
  return out;
}

void DecodeProtocols(YamlMap* map, std::vector<ScrapeProtocol>* protocols) {
  std::vector<std::string> names;
  if (!map->Strings("scrape_protocols", &names)) return;
  const int line = map->Node("scrape_protocols")->line;
  if (names.empty()) map->Error(line, "scrape_protocols cannot be empty");
  protocols->clear();
  for (const std::string& name : names) {
    const auto protocol = scrape::ParseScrapeProtocol(name);
    if (!protocol) {
      map->Error(line, base::StrCat("unknown scrape protocol ", name,
                                    ", supported: [OpenMetricsText0.0.1 OpenMetricsText1.0.0 "
                                    "PrometheusProto PrometheusText0.0.4 PrometheusText1.0.0]"));
      return;
    }
    if (std::find(protocols->begin(), protocols->end(), *protocol) != protocols->end()) {
      map->Error(
          line, base::StrCat("duplicated protocol in scrape_protocols, got [", Joined(names), "]"));
    }
    protocols->push_back(*protocol);
  }
}

void DecodeLimits(YamlMap* map, PoolOptions* limits) {
  // 0 in a scrape config means the global value, as an absent key does.
  const auto read = [map](std::string_view key, uint64_t* out) {
    uint64_t value = 0;
    if (map->Unsigned(key, &value) && value != 0) *out = value;
  };
  uint64_t bytes = 0;
  if (map->SizeBytes("body_size_limit", &bytes) && bytes != 0) limits->body_size_limit = bytes;
  read("sample_limit", &limits->sample_limit);
  read("target_limit", &limits->target_limit);
  read("label_limit", &limits->label_limit);
  read("label_name_length_limit", &limits->label_name_length_limit);
  read("label_value_length_limit", &limits->label_value_length_limit);
  read("keep_dropped_targets", &limits->keep_dropped_targets);
}

// `where` is "global" or "scrape": how the error texts call the place.
void DecodeNames(YamlMap* map, std::string_view where, PoolOptions* options) {
  model::NameValidation* validation = &options->name_validation;
  std::string scheme;
  if (map->String("metric_name_validation_scheme", &scheme) && !scheme.empty()) {
    if (scheme == "legacy") {
      *validation = model::NameValidation::kLegacy;
    } else if (scheme == "utf8") {
      *validation = model::NameValidation::kUtf8;
    } else {
      map->Error(map->Node("metric_name_validation_scheme")->line,
                 base::StrCat("unknown ", where,
                              " name validation method specified, must be either "
                              "'legacy' or 'utf8', got ",
                              scheme));
    }
    if (*validation == model::NameValidation::kLegacy &&
        options->name_escaping == scrape::NameEscaping::kAllowUtf8) {
      options->name_escaping = scrape::NameEscaping::kUnderscores;
    }
  }
  std::string name;
  if (!map->String("metric_name_escaping_scheme", &name) || name.empty()) return;
  const int line = map->Node("metric_name_escaping_scheme")->line;
  const auto escaping = scrape::ParseNameEscaping(name);
  if (!escaping) {
    map->Error(line, base::StrCat("unknown ", where,
                                  " name escaping method specified, must be one "
                                  "of 'allow-utf-8', 'underscores', 'dots', or 'values', got ",
                                  name));
    return;
  }
  options->name_escaping = *escaping;
  if (*escaping == scrape::NameEscaping::kAllowUtf8 &&
      *validation == model::NameValidation::kLegacy) {
    map->Error(line, "utf8 metric names requested but validation scheme is not set to UTF8");
  }
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// $VAR and ${VAR} from the environment; $$ is a literal $. Undefined names are warned of.
std::string ExpandEnvironment(std::string_view text, std::string_view label,
                              std::vector<std::string>* warnings) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    size_t begin = i + 1;
    size_t end = begin;
    size_t next = begin;
    if (text[begin] == '$') {
      out += '$';
      i = begin;
      continue;
    }
    if (text[begin] == '{' && text.find('}', begin) != std::string_view::npos) {
      end = text.find('}', ++begin);
      next = end + 1;
    } else {
      while (end < text.size() && IsNameByte(text[end])) ++end;
      next = end;
    }
    if (begin == end) {
      out += text[i];
      continue;
    }
    const std::string name(text.substr(begin, end - begin));
    if (const char* value = std::getenv(name.c_str())) {
      out += value;
    } else {
      warnings->push_back(
          base::StrCat("empty environment variable: name=", name, " externalLabel=", label));
    }
    i = next - 1;
  }
  return out;
}

void DecodeExternalLabels(YamlMap* map, GlobalConfig* global, std::vector<std::string>* warnings) {
  if (!map->StringMap("external_labels", &global->external_labels)) return;
  const int line = map->Node("external_labels")->line;
  for (auto& [name, value] : global->external_labels) {
    if (!model::IsValidLabelName(name, global->defaults.name_validation)) {
      map->Error(line, base::StrCat("\"", name, "\" is not a valid label name"));
    }
    value = ExpandEnvironment(value, name, warnings);
    if (!model::IsValidUtf8(value)) {
      map->Error(line,
                 base::StrCat("the value of external label \"", name, "\" is no valid UTF-8"));
    }
  }
}

absl::Status DecodeStatic(const YamlNode& node, PoolOptions* pool) {
  YamlMap map(node, "static_configs entry");
  scrape::TargetGroup group;
  group.source = base::StrCat(pool->static_groups.size());
  std::vector<std::string> targets;
  map.Strings("targets", &targets);
  map.StringMap("labels", &group.labels);
  for (const auto& [name, value] : group.labels) {
    if (!model::IsValidLabelName(name, model::NameValidation::kUtf8)) {
      map.Error(map.Node("labels")->line, base::StrCat("\"", name, "\" is not a valid label name"));
    }
    if (!model::IsValidUtf8(value)) {
      std::string quoted;
      model::AppendQuoted(&quoted, value);
      map.Error(map.Node("labels")->line, base::StrCat(quoted, " is not a valid label value"));
    }
  }
  for (const std::string& target : targets) {
    if (target.find('/') != std::string::npos) {
      map.Error(map.Node("targets")->line,
                base::StrCat("\"", target, "\" is not a valid hostname"));
    }
    group.targets.push_back({{"__address__", target}});
  }
  pool->static_groups.push_back(std::move(group));
  return map.Finish();
}

void DecodeDiscovery(YamlMap* map, PoolOptions* config, std::vector<std::string>* warnings) {
  for (const YamlNode* node :
       map->List("static_configs", "empty or null section in static_configs")) {
    if (const absl::Status status = DecodeStatic(*node, config); !status.ok()) map->Adopt(status);
  }
  const auto refuse = [&](std::string_view section) {
    for (const YamlNode* node :
         map->List(section, base::StrCat("empty or null section in ", section))) {
      warnings->push_back(
          base::StrCat("line ", node->line, ": ", section, " of job \"", config->job_name,
                       "\" has no effect: this version discovers static targets only"));
      return;
    }
  };
  for (const std::string_view section : kDiscoverySections) refuse(section);
  for (const std::string_view section : kMoreDiscoverySections) refuse(section);
}

void DecodeTimes(YamlMap* map, const GlobalConfig& global, PoolOptions* config) {
  config->scrape_interval_ms = global.scrape_interval_ms;
  map->DurationMs("scrape_interval", &config->scrape_interval_ms);
  if (config->scrape_interval_ms == 0) config->scrape_interval_ms = global.scrape_interval_ms;
  config->scrape_timeout_ms = 0;
  map->DurationMs("scrape_timeout", &config->scrape_timeout_ms);
  if (config->scrape_timeout_ms > config->scrape_interval_ms) {
    map->Error(
        map->Node("scrape_timeout")->line,
        base::StrCat("scrape timeout greater than scrape interval for scrape config with job "
                     "name \"",
                     config->job_name, "\""));
  }
  if (config->scrape_timeout_ms == 0) {
    config->scrape_timeout_ms = std::min(global.scrape_timeout_ms, config->scrape_interval_ms);
  }
}

void DecodeHistogramSettings(YamlMap* map, PoolOptions* config) {
  map->Bool("scrape_native_histograms", &config->scrape_native_histograms);
  map->Bool("always_scrape_classic_histograms", &config->always_scrape_classic_histograms);
  map->Bool("convert_classic_histograms_to_nhcb", &config->convert_classic_histograms_to_nhcb);
  map->Bool("extra_scrape_metrics", &config->extra_scrape_metrics);
}

void DecodeProtocolSettings(YamlMap* map, const GlobalConfig& global, PoolOptions* config) {
  config->protocols = EffectiveProtocols(global, config->scrape_native_histograms);
  DecodeProtocols(map, &config->protocols);
  std::string fallback;
  if (!map->String("fallback_scrape_protocol", &fallback) || fallback.empty()) return;
  config->fallback_protocol = scrape::ParseScrapeProtocol(fallback);
  if (!config->fallback_protocol) {
    map->Error(map->Node("fallback_scrape_protocol")->line,
               base::StrCat("invalid fallback_scrape_protocol for scrape config with job name \"",
                            config->job_name, "\": unknown scrape protocol ", fallback));
  }
}

void DecodeRequestSettings(YamlMap* map, PoolOptions* config) {
  map->String("metrics_path", &config->metrics_path);
  if (map->String("scheme", &config->scheme) && config->scheme != "http" &&
      config->scheme != "https") {
    map->Error(map->Node("scheme")->line, "scheme must be http or https");
  }
  map->StringListMap("params", &config->params);
  map->Bool("honor_labels", &config->honor_labels);
  map->Bool("honor_timestamps", &config->honor_timestamps);
  map->Bool("track_timestamps_staleness", &config->track_timestamps_staleness);
  map->Bool("enable_compression", &config->enable_compression);
  DecodeHttpClient(map, &config->http);
}

}  // namespace

std::vector<ScrapeProtocol> EffectiveProtocols(const GlobalConfig& global,
                                               bool scrape_native_histograms) {
  // An explicit global list holds for all jobs; the default depends on the job's histograms.
  if (!global.scrape_protocols.empty()) return global.scrape_protocols;
  return scrape::DefaultScrapeProtocols(scrape_native_histograms);
}

absl::StatusOr<GlobalConfig> DecodeGlobal(const YamlNode& node, const GlobalConfig& defaults,
                                          std::vector<std::string>* warnings) {
  YamlMap map(node, "global");
  GlobalConfig global = defaults;
  int64_t timeout_ms = 0;
  map.DurationMs("scrape_interval", &global.scrape_interval_ms);
  if (global.scrape_interval_ms == 0) global.scrape_interval_ms = 60'000;
  map.DurationMs("scrape_timeout", &timeout_ms);
  if (timeout_ms > global.scrape_interval_ms) {
    map.Error(map.Node("scrape_timeout")->line,
              "global scrape timeout greater than scrape interval");
  }
  global.scrape_timeout_ms =
      timeout_ms != 0 ? timeout_ms : std::min<int64_t>(10'000, global.scrape_interval_ms);
  map.DurationMs("evaluation_interval", &global.evaluation_interval_ms);
  if (global.evaluation_interval_ms == 0) global.evaluation_interval_ms = 60'000;
  map.DurationMs("rule_query_offset", &global.rule_query_offset_ms);
  DecodeProtocols(&map, &global.scrape_protocols);
  map.String("query_log_file", &global.query_log_file);
  map.String("scrape_failure_log_file", &global.defaults.scrape_failure_log_file);
  DecodeLimits(&map, &global.defaults);
  DecodeNames(&map, "global", &global.defaults);
  DecodeExternalLabels(&map, &global, warnings);
  DecodeHistogramSettings(&map, &global.defaults);
  NX_RETURN_IF_ERROR(map.Finish());
  return global;
}

absl::StatusOr<PoolOptions> DecodeScrapeConfig(const YamlNode& node, const GlobalConfig& global,
                                               std::vector<std::string>* warnings) {
  YamlMap map(node, "scrape_config");
  PoolOptions config = global.defaults;
  map.String("job_name", &config.job_name);
  if (config.job_name.empty()) map.Error(map.line(), "job_name is empty");
  DecodeTimes(&map, global, &config);
  DecodeHistogramSettings(&map, &config);
  map.Unsigned("native_histogram_bucket_limit", &config.native_histogram_bucket_limit);
  map.Double("native_histogram_min_bucket_factor", &config.native_histogram_min_bucket_factor);
  DecodeProtocolSettings(&map, global, &config);
  map.String("scrape_failure_log_file", &config.scrape_failure_log_file);
  DecodeRequestSettings(&map, &config);
  DecodeLimits(&map, &config);
  DecodeNames(&map, "scrape", &config);
  config.relabel_configs = DecodeRelabelConfigs(
      &map, "relabel_configs", "empty or null target relabeling rule in scrape config",
      config.name_validation);
  config.metric_relabel_configs = DecodeRelabelConfigs(
      &map, "metric_relabel_configs", "empty or null metric relabeling rule in scrape config",
      config.name_validation);
  DecodeDiscovery(&map, &config, warnings);
  NX_RETURN_IF_ERROR(map.Finish());
  if (const absl::Status status = scrape::ValidatePoolOptions(config); !status.ok()) {
    return base::WithContext(status, base::StrCat("line ", node.line));
  }
  return config;
}

}  // namespace narthex::server
