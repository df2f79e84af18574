#include "server/api/targets_api.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "narthex/base/status.h"
#include "narthex/promql/engine.h"

namespace narthex::server {
namespace {

void WriteTextLabels(const model::Labels& labels, JsonWriter* json) {
  json->BeginObject();
  for (size_t i = 0; i < labels.size(); ++i) json->Field(labels[i].name, labels[i].value);
  json->EndObject();
}

// The URL with a loopback host replaced by the host of `external_url`.
std::string GlobalUrl(const std::string& url, std::string_view external_url) {
  const size_t host_begin = url.find("://");
  if (host_begin == std::string::npos) return url;
  const std::string_view rest = std::string_view(url).substr(host_begin + 3);
  for (const std::string_view loopback : {"localhost", "127.0.0.1", "[::1]"}) {
    if (rest.substr(0, loopback.size()) != loopback) continue;
    const char after = rest.size() > loopback.size() ? rest[loopback.size()] : '/';
    if (after != ':' && after != '/' && after != '?') continue;
    std::string_view host = external_url.substr(external_url.find("://") + 3);
    host = host.substr(0, host.find('/'));
    const size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && host.back() != ']') host = host.substr(0, colon);
    return base::StrCat(url.substr(0, host_begin + 3), host, rest.substr(loopback.size()));
  }
  return url;
}

void WriteActive(const scrape::ActiveTarget& target, std::string_view external_url,
                 JsonWriter* json) {
  json->BeginObject().Key("discoveredLabels");
  WriteTextLabels(target.discovered_labels, json);
  json->Key("labels");
  WriteTextLabels(target.labels, json);
  json->Field("scrapePool", target.scrape_pool)
      .Field("scrapeUrl", target.scrape_url)
      .Field("globalUrl", GlobalUrl(target.scrape_url, external_url))
      .Field("lastError", target.last_error)
      .Field("lastScrape", target.last_scrape_ms == 0 ? "0001-01-01T00:00:00Z"
                                                      : FormatRfc3339(target.last_scrape_ms));
  json->Key("lastScrapeDuration").Double(target.last_scrape_duration_s);
  json->Field("health", scrape::TargetHealthName(target.health))
      .Field("scrapeInterval", target.scrape_interval)
      .Field("scrapeTimeout", target.scrape_timeout)
      .EndObject();
}

// An integer parameter that may be negative (no limit); `text` is the error's wording.
absl::StatusOr<int64_t> LooseLimit(const Params& params, std::string_view name) {
  const std::string_view text = params.Get(name);
  if (text.empty()) return -1;
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    return base::InvalidArgument(name, " must be a number");
  }
  return value;
}

bool MatchesAll(const std::vector<model::Matcher>& matchers, const model::Labels& labels) {
  return std::all_of(matchers.begin(), matchers.end(), [&labels](const model::Matcher& matcher) {
    return matcher.Matches(labels.Get(matcher.name()));
  });
}

struct MetadataLess {
  bool operator()(const model::Metadata& a, const model::Metadata& b) const {
    return std::tie(a.type, a.unit, a.help) < std::tie(b.type, b.unit, b.help);
  }
};

void WriteMetadataFields(const model::Metadata& metadata, JsonWriter* json) {
  json->Field("type", model::MetricTypeName(metadata.type))
      .Field("help", metadata.help)
      .Field("unit", metadata.unit);
}

}  // namespace

void HandleTargets(const Params& params, const scrape::Manager& manager,
                   std::string_view external_url, Writer writer) {
  const std::string_view state = params.Get("state");
  const std::string_view pool = params.Get("scrapePool");
  const bool show_active = state.empty() || state == "any" || state == "active";
  const bool show_dropped = state.empty() || state == "any" || state == "dropped";
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginObject().Key("activeTargets").BeginArray();
  if (show_active) {
    for (const auto& target : manager.ActiveTargets(pool)) WriteActive(target, external_url, &json);
  }
  json.EndArray().Key("droppedTargets").BeginArray();
  if (show_dropped) {
    for (const auto& target : manager.DroppedTargets(pool)) {
      json.BeginObject().Key("discoveredLabels");
      WriteTextLabels(target.discovered_labels, &json);
      json.Field("scrapePool", target.scrape_pool).EndObject();
    }
  }
  json.EndArray().Key("droppedTargetCounts");
  if (show_dropped) {
    json.BeginObject();
    for (const auto& [name, count] : manager.DroppedTargetCounts()) {
      if (pool.empty() || pool == name) json.Key(name).Unsigned(count);
    }
    json.EndObject();
  } else {
    json.Null();
  }
  json.EndObject();
  response.Finish();
}

void HandleScrapePools(const scrape::Manager& manager, Writer writer) {
  DataResponse response(std::move(writer));
  response.json().BeginObject().Key("scrapePools").BeginArray();
  for (const std::string& name : manager.PoolNames()) response.json().String(name);
  response.json().EndArray().EndObject();
  response.Finish();
}

void HandleTargetMetadata(const Params& params, const scrape::Manager& manager, Writer writer) {
  const auto limit = LooseLimit(params, "limit");
  if (!limit.ok()) return SendError(writer, limit.status());
  std::vector<model::Matcher> matchers;
  if (const std::string_view text = params.Get("match_target"); !text.empty()) {
    auto parsed = promql::ParseSelector(text);
    if (!parsed.ok()) {
      return SendError(writer, BadParameter("match_target", base::Message(parsed.status())));
    }
    matchers = *std::move(parsed);
  }
  const std::string_view metric = params.Get("metric");
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginArray();
  int64_t left = *limit < 0 ? std::numeric_limits<int64_t>::max() : *limit;
  for (const auto& target : manager.Metadata(metric)) {
    if (!MatchesAll(matchers, target.labels)) continue;
    for (const auto& family : target.families) {
      if (left-- <= 0) break;
      json.BeginObject().Key("target");
      WriteTextLabels(target.labels, &json);
      if (metric.empty()) json.Field("metric", family.family);
      WriteMetadataFields(family.metadata, &json);
      json.EndObject();
    }
  }
  json.EndArray();
  response.Finish();
}

void HandleMetadata(const Params& params, const scrape::Manager& manager, Writer writer) {
  const auto limit = LooseLimit(params, "limit");
  const auto limit_per_metric = LooseLimit(params, "limit_per_metric");
  if (!limit.ok()) return SendError(writer, limit.status());
  if (!limit_per_metric.ok()) return SendError(writer, limit_per_metric.status());
  std::map<std::string, std::set<model::Metadata, MetadataLess>> families;
  for (const auto& target : manager.Metadata(params.Get("metric"))) {
    for (const auto& family : target.families) families[family.family].insert(family.metadata);
  }
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginObject();
  int64_t left = *limit < 0 ? std::numeric_limits<int64_t>::max() : *limit;
  for (const auto& [name, variants] : families) {
    if (left-- <= 0) break;
    json.Key(name).BeginArray();
    int64_t left_here =
        *limit_per_metric <= 0 ? std::numeric_limits<int64_t>::max() : *limit_per_metric;
    for (const model::Metadata& metadata : variants) {
      if (left_here-- <= 0) break;
      json.BeginObject();
      WriteMetadataFields(metadata, &json);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  response.Finish();
}

}  // namespace narthex::server
