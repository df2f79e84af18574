#include "server/api/status_api.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <limits>

#include "narthex/base/status.h"
#include "server/build_info.h"
#include "server/process_metrics.h"

namespace narthex::server {
namespace {

constexpr size_t kDefaultTsdbLimit = 10;
constexpr size_t kMaxTsdbLimit = 10'000;

void WriteCounts(std::string_view key, const std::vector<db::NamedCount>& counts,
                 JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const db::NamedCount& count : counts) {
    json->BeginObject().Field("name", count.name).Key("value").Unsigned(count.value).EndObject();
  }
  json->EndArray();
}

}  // namespace

void HandleConfig(const std::string& yaml, Writer writer) {
  DataResponse response(std::move(writer));
  response.json().BeginObject().Field("yaml", yaml).EndObject();
  response.Finish();
}

void HandleFlags(const std::map<std::string, std::string>& flags, Writer writer) {
  DataResponse response(std::move(writer));
  response.json().BeginObject();
  for (const auto& [name, value] : flags) response.json().Field(name, value);
  response.json().EndObject();
  response.Finish();
}

void HandleRuntimeInfo(const RuntimeInfo& info, Writer writer) {
  char host_name[256] = "";
  gethostname(host_name, sizeof host_name - 1);
  std::error_code error;
  const std::string directory = std::filesystem::current_path(error).string();
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginObject()
      .Field("startTime", FormatRfc3339(info.start_time_ms))
      .Field("CWD", directory)
      .Field("hostname", host_name)
      .Field("serverTime", FormatRfc3339(info.now_ms))
      .Field("reloadConfigSuccess", info.reload_config_success)
      .Field("lastConfigTime", FormatRfc3339(info.last_config_time_ms));
  json.Key("corruptionCount").Unsigned(info.corruption_count);
  // The reference's runtime has these; here the threads stand for goroutines.
  json.Key("goroutineCount").Unsigned(NumThreads());
  json.Key("GOMAXPROCS").Int(sysconf(_SC_NPROCESSORS_ONLN));
  json.Key("GOMEMLIMIT").Int(std::numeric_limits<int64_t>::max());
  json.Field("GOGC", "").Field("GODEBUG", "").Field("storageRetention", info.storage_retention);
  json.EndObject();
  response.Finish();
}

void HandleBuildInfo(Writer writer) {
  DataResponse response(std::move(writer));
  response.json()
      .BeginObject()
      .Field("version", kCompatibleVersion)
      .Field("revision", Revision())
      .Field("branch", kBranch)
      .Field("buildUser", "")
      .Field("buildDate", "")
      .Field("goVersion", Compiler())
      .EndObject();
  response.Finish();
}

void HandleTsdbStatus(const Params& params, const db::Database& database, Writer writer) {
  size_t limit = kDefaultTsdbLimit;
  if (const std::string_view text = params.Get("limit"); !text.empty()) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || limit == 0) {
      return SendError(writer, base::InvalidArgument("limit must be a positive number"));
    }
    if (limit > kMaxTsdbLimit) {
      return SendError(writer, base::InvalidArgument("limit must not exceed ", kMaxTsdbLimit));
    }
  }
  const db::HeadStats stats = database.Stats(limit);
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginObject().Key("headStats").BeginObject();
  json.Key("numSeries").Unsigned(stats.num_series);
  json.Key("numLabelPairs").Unsigned(stats.num_label_pairs);
  json.Key("chunkCount").Unsigned(stats.num_chunks);
  json.Key("minTime").Int(stats.min_time_ms);
  json.Key("maxTime").Int(stats.max_time_ms);
  json.EndObject();
  WriteCounts("seriesCountByMetricName", stats.series_by_metric, &json);
  WriteCounts("labelValueCountByLabelName", stats.values_by_label, &json);
  WriteCounts("memoryInBytesByLabelName", stats.bytes_by_label, &json);
  WriteCounts("seriesCountByLabelValuePair", stats.series_by_pair, &json);
  json.EndObject();
  response.Finish();
}

void HandleWalReplay(const db::ReplayProgress& progress, Writer writer) {
  DataResponse response(std::move(writer));
  JsonWriter& json = response.json();
  json.BeginObject();
  json.Key("min").Int(progress.first_segment);
  json.Key("max").Int(progress.last_segment);
  json.Key("current").Int(progress.current_segment);
  json.EndObject();
  response.Finish();
}

}  // namespace narthex::server
