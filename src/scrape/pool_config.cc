#include "scrape/pool_config.h"

#include <cmath>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/histogram.h"

namespace narthex::scrape {
namespace {

std::string_view MediaTypeOf(ScrapeProtocol protocol) {
  switch (protocol) {
    case ScrapeProtocol::kPrometheusProto:
      return "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
             "encoding=delimited";
    case ScrapeProtocol::kPrometheusText0_0_4:
      return "text/plain;version=0.0.4";
    case ScrapeProtocol::kPrometheusText1_0_0:
      return "text/plain;version=1.0.0";
    case ScrapeProtocol::kOpenMetricsText0_0_1:
      return "application/openmetrics-text;version=0.0.1";
    case ScrapeProtocol::kOpenMetricsText1_0_0:
      return "application/openmetrics-text;version=1.0.0";
  }
  return "";
}

bool KnowsEscaping(ScrapeProtocol protocol) {
  return protocol == ScrapeProtocol::kPrometheusText1_0_0 ||
         protocol == ScrapeProtocol::kOpenMetricsText1_0_0;
}

constexpr int kHighestWeight = 6;  // In tenths: one more than there are protocols.

}  // namespace

std::string AcceptHeader(const std::vector<ScrapeProtocol>& protocols, NameEscaping escaping) {
  std::string header;
  int weight = kHighestWeight;
  for (const ScrapeProtocol protocol : protocols) {
    header += MediaTypeOf(protocol);
    if (KnowsEscaping(protocol)) base::StrAppend(&header, ";escaping=", NameEscapingName(escaping));
    base::StrAppend(&header, ";q=0.", weight--, ",");
  }
  base::StrAppend(&header, "*/*;q=0.", weight);
  return header;
}

int32_t SchemaOfMinFactor(double factor) {
  if (!(factor > 1)) return model::kMaxExponentialSchema;
  const double schema = std::floor(-std::log2(std::log2(factor)));
  if (schema >= model::kMaxExponentialSchema) return model::kMaxExponentialSchema;
  if (schema <= model::kMinExponentialSchema) return model::kMinExponentialSchema;
  return static_cast<int32_t>(schema);
}

absl::StatusOr<std::shared_ptr<const PoolConfig>> CompilePoolOptions(
    PoolOptions options, std::shared_ptr<FailureLog> failure_log) {
  NX_RETURN_IF_ERROR(ValidatePoolOptions(options));
  auto config = std::make_shared<PoolConfig>();
  NX_ASSIGN_OR_RETURN(config->target_rules,
                      model::CreateRelabelRules(options.relabel_configs, options.name_validation));
  NX_ASSIGN_OR_RETURN(
      config->metric_rules,
      model::CreateRelabelRules(options.metric_relabel_configs, options.name_validation));
  config->accept = AcceptHeader(options.protocols, options.name_escaping);
  config->accept_encoding = options.enable_compression ? "gzip" : "identity";
  if (options.fallback_protocol.has_value()) {
    config->fallback = ScrapeProtocolName(*options.fallback_protocol);
  }
  config->max_schema = SchemaOfMinFactor(options.native_histogram_min_bucket_factor);
  config->http = std::make_shared<const net::HttpClientOptions>(options.http);
  config->failure_log = std::move(failure_log);
  config->options = std::move(options);
  return std::shared_ptr<const PoolConfig>(std::move(config));
}

bool SeriesStayTheSame(PoolOptions before, PoolOptions after) {
  for (PoolOptions* options : {&before, &after}) {
    // None of these changes a label of a scraped series.
    options->scrape_interval_ms = 0;
    options->scrape_timeout_ms = 0;
    options->sample_limit = 0;
    options->http = {};
    options->keep_dropped_targets = 0;
    options->scrape_failure_log_file.clear();
    options->static_groups.clear();
  }
  return before == after;
}

}  // namespace narthex::scrape
