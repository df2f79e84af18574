#include "narthex/scrape/options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "narthex/base/status.h"

namespace narthex::scrape {
namespace {

using base::InvalidArgument;

constexpr std::array<std::pair<ScrapeProtocol, std::string_view>, 5> kProtocolNames = {{
    {ScrapeProtocol::kOpenMetricsText0_0_1, "OpenMetricsText0.0.1"},
    {ScrapeProtocol::kOpenMetricsText1_0_0, "OpenMetricsText1.0.0"},
    {ScrapeProtocol::kPrometheusProto, "PrometheusProto"},
    {ScrapeProtocol::kPrometheusText0_0_4, "PrometheusText0.0.4"},
    {ScrapeProtocol::kPrometheusText1_0_0, "PrometheusText1.0.0"},
}};

constexpr std::array<std::pair<NameEscaping, std::string_view>, 4> kEscapingNames = {{
    {NameEscaping::kAllowUtf8, "allow-utf-8"},
    {NameEscaping::kUnderscores, "underscores"},
    {NameEscaping::kDots, "dots"},
    {NameEscaping::kValues, "values"},
}};

template <typename Value, size_t kSize>
std::string_view NameOf(const std::array<std::pair<Value, std::string_view>, kSize>& names,
                        Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

template <typename Value, size_t kSize>
std::optional<Value> ValueOf(const std::array<std::pair<Value, std::string_view>, kSize>& names,
                             std::string_view text) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  return std::nullopt;
}

absl::Status CheckProtocols(const std::vector<ScrapeProtocol>& protocols) {
  if (protocols.empty()) return InvalidArgument("scrape_protocols cannot be empty");
  for (size_t i = 0; i < protocols.size(); ++i) {
    if (std::find(protocols.begin(), protocols.begin() + static_cast<ptrdiff_t>(i), protocols[i]) ==
        protocols.begin() + static_cast<ptrdiff_t>(i)) {
      continue;
    }
    std::string list;
    for (const ScrapeProtocol protocol : protocols) {
      if (!list.empty()) list += ' ';
      list += ScrapeProtocolName(protocol);
    }
    return InvalidArgument("duplicated protocol in scrape_protocols, got [", list, "]");
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view ScrapeProtocolName(ScrapeProtocol protocol) {
  return NameOf(kProtocolNames, protocol);
}

std::optional<ScrapeProtocol> ParseScrapeProtocol(std::string_view name) {
  return ValueOf(kProtocolNames, name);
}

std::string_view NameEscapingName(NameEscaping escaping) {
  return NameOf(kEscapingNames, escaping);
}

std::optional<NameEscaping> ParseNameEscaping(std::string_view name) {
  return ValueOf(kEscapingNames, name);
}

std::vector<ScrapeProtocol> DefaultScrapeProtocols(bool proto_first) {
  std::vector<ScrapeProtocol> protocols = {
      ScrapeProtocol::kOpenMetricsText1_0_0, ScrapeProtocol::kOpenMetricsText0_0_1,
      ScrapeProtocol::kPrometheusText1_0_0, ScrapeProtocol::kPrometheusText0_0_4};
  if (proto_first) protocols.insert(protocols.begin(), ScrapeProtocol::kPrometheusProto);
  return protocols;
}

absl::Status ValidatePoolOptions(const PoolOptions& options) {
  if (options.job_name.empty()) return InvalidArgument("job_name is empty");
  const std::string job = base::StrCat("scrape config with job name \"", options.job_name, "\"");
  if (options.scrape_interval_ms <= 0) return InvalidArgument("scrape interval of ", job, " is 0");
  if (options.scrape_timeout_ms > options.scrape_interval_ms) {
    return InvalidArgument("scrape timeout greater than scrape interval for ", job);
  }
  if (options.scrape_timeout_ms <= 0) return InvalidArgument("scrape timeout of ", job, " is 0");
  NX_RETURN_IF_ERROR(base::WithContext(CheckProtocols(options.protocols), job));
  if (options.name_validation == model::NameValidation::kLegacy &&
      options.name_escaping == NameEscaping::kAllowUtf8) {
    return InvalidArgument(
        job, ": utf8 metric names requested but validation scheme is not set to UTF8");
  }
  for (const auto* configs : {&options.relabel_configs, &options.metric_relabel_configs}) {
    const auto rules = model::CreateRelabelRules(*configs, options.name_validation);
    NX_RETURN_IF_ERROR(base::WithContext(rules.status(), job));
  }
  return absl::OkStatus();
}

}  // namespace narthex::scrape
