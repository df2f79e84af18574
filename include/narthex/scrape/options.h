// The options of one scrape pool (a job of the configuration, docs/configuration.md). Plain values;
// `server` fills them from the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/model/labels.h"
#include "narthex/model/relabel.h"
#include "narthex/net/http_client.h"
#include "narthex/scrape/target_group.h"

namespace narthex::scrape {

enum class ScrapeProtocol : uint8_t {
  kPrometheusProto,
  kPrometheusText0_0_4,
  kPrometheusText1_0_0,
  kOpenMetricsText0_0_1,
  kOpenMetricsText1_0_0,
};
// "PrometheusProto", "PrometheusText0.0.4", ...
std::string_view ScrapeProtocolName(ScrapeProtocol protocol);
std::optional<ScrapeProtocol> ParseScrapeProtocol(std::string_view name);

// What a target is asked to do with names that are no legacy names.
enum class NameEscaping : uint8_t { kAllowUtf8, kUnderscores, kDots, kValues };
// "allow-utf-8", "underscores", "dots", "values".
std::string_view NameEscapingName(NameEscaping escaping);
std::optional<NameEscaping> ParseNameEscaping(std::string_view name);

// OpenMetrics 1.0.0 and 0.0.1, then text 1.0.0 and 0.0.4; with `proto_first` protobuf before them.
std::vector<ScrapeProtocol> DefaultScrapeProtocols(bool proto_first);

// All limits: 0 is none.
struct PoolOptions {
  std::string job_name;
  int64_t scrape_interval_ms = 60'000;
  int64_t scrape_timeout_ms = 10'000;
  std::vector<ScrapeProtocol> protocols = DefaultScrapeProtocols(/*proto_first=*/false);
  std::optional<ScrapeProtocol> fallback_protocol;
  std::string scheme = "http";
  std::string metrics_path = "/metrics";
  std::map<std::string, std::vector<std::string>> params;
  bool enable_compression = true;
  net::HttpClientOptions http;

  bool honor_labels = false;
  bool honor_timestamps = true;
  bool track_timestamps_staleness = false;
  bool scrape_native_histograms = false;
  bool always_scrape_classic_histograms = false;
  bool convert_classic_histograms_to_nhcb = false;
  bool extra_scrape_metrics = false;
  uint64_t native_histogram_bucket_limit = 0;
  double native_histogram_min_bucket_factor = 0;

  uint64_t body_size_limit = 0;
  uint64_t sample_limit = 0;
  uint64_t target_limit = 0;
  uint64_t label_limit = 0;
  uint64_t label_name_length_limit = 0;
  uint64_t label_value_length_limit = 0;
  uint64_t keep_dropped_targets = 0;  // Of the list of dropped targets; 0 keeps all.

  model::NameValidation name_validation = model::NameValidation::kUtf8;
  NameEscaping name_escaping = NameEscaping::kAllowUtf8;
  std::vector<model::RelabelConfig> relabel_configs;
  std::vector<model::RelabelConfig> metric_relabel_configs;
  std::string scrape_failure_log_file;  // JSON lines; "" for none.

  std::vector<TargetGroup> static_groups;

  bool operator==(const PoolOptions&) const = default;
};

// Interval and timeout, protocol list, escaping against validation, relabel rules.
// kInvalidArgument with Prometheus's texts.
absl::Status ValidatePoolOptions(const PoolOptions& options);

}  // namespace narthex::scrape
