// The `global` and `scrape_configs` sections as written, defaults filled in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/yaml.h"
#include "narthex/model/labels.h"
#include "narthex/scrape/options.h"

namespace narthex::server {

// `defaults` has the limits, histogram settings and name rules that scrape configs inherit.
struct GlobalConfig {
  int64_t scrape_interval_ms = 60'000;
  int64_t scrape_timeout_ms = 10'000;
  int64_t evaluation_interval_ms = 60'000;
  int64_t rule_query_offset_ms = 0;
  std::vector<scrape::ScrapeProtocol> scrape_protocols;  // Empty: the default of each job.
  std::string query_log_file;
  std::map<std::string, std::string> external_labels;  // Environment variables expanded.
  scrape::PoolOptions defaults;
};

// kInvalidArgument: "line N: ...". `warnings` takes what is accepted but has no effect.
// `defaults` holds where the section says nothing.
absl::StatusOr<GlobalConfig> DecodeGlobal(const base::YamlNode& node, const GlobalConfig& defaults,
                                          std::vector<std::string>* warnings);
absl::StatusOr<scrape::PoolOptions> DecodeScrapeConfig(const base::YamlNode& node,
                                                       const GlobalConfig& global,
                                                       std::vector<std::string>* warnings);

// The protocols a job uses that names none: protobuf first when native histograms are scraped.
std::vector<scrape::ScrapeProtocol> EffectiveProtocols(const GlobalConfig& global,
                                                       bool scrape_native_histograms);

}  // namespace narthex::server
