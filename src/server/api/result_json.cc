#include "server/api/result_json.h"

#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/histogram_buckets.h"

namespace narthex::server {
namespace {

using promql::FloatPoint;
using promql::HistogramPoint;
using promql::ResultSeries;
using promql::ValueType;

// Seconds with three decimals, or none.
void AppendTime(std::string* out, int64_t time_ms) {
  const int64_t magnitude = time_ms < 0 ? -time_ms : time_ms;
  if (time_ms < 0) out->push_back('-');
  base::StrAppend(out, magnitude / 1000);
  if (const int64_t ms = magnitude % 1000; ms != 0) {
    base::StrAppend(out, ".", static_cast<char>('0' + ms / 100),
                    static_cast<char>('0' + ms / 10 % 10), static_cast<char>('0' + ms % 10));
  }
}

void AppendQuotedFloat(std::string* out, double value) {
  out->push_back('"');
  base::AppendFloatJson(out, value);
  out->push_back('"');
}

void AppendPoint(const FloatPoint& point, std::string* out) {
  out->push_back('[');
  AppendTime(out, point.time_ms);
  out->push_back(',');
  AppendQuotedFloat(out, point.value);
  out->push_back(']');
}

void AppendPoint(const HistogramPoint& point, std::string* out) {
  const model::FloatHistogram& histogram = *point.histogram;
  out->push_back('[');
  AppendTime(out, point.time_ms);
  out->append(",{\"count\":");
  AppendQuotedFloat(out, histogram.count);
  out->append(",\"sum\":");
  AppendQuotedFloat(out, histogram.sum);
  bool found = false;
  model::BucketCursor cursor(histogram, model::BucketOrder::kAscending);
  while (cursor.Next()) {
    const model::HistogramBucket& bucket = cursor.bucket();
    if (bucket.count == 0) continue;
    base::StrAppend(out, found ? "," : ",\"buckets\":[", "[", bucket.interval_kind(), ",");
    found = true;
    AppendQuotedFloat(out, bucket.lower);
    out->push_back(',');
    AppendQuotedFloat(out, bucket.upper);
    out->push_back(',');
    AppendQuotedFloat(out, bucket.count);
    out->push_back(']');
  }
  out->append(found ? "]}]" : "}]");
}

template <typename Point>
void WritePoints(std::string_view key, const std::vector<Point>& points, DataResponse* response) {
  if (points.empty()) return;
  JsonWriter& json = response->json();
  std::string text;
  json.Key(key).BeginArray();
  for (const Point& point : points) {
    text.clear();
    AppendPoint(point, &text);
    json.Raw(text);
  }
  json.EndArray();
}

template <typename Point>
void WritePoint(std::string_view key, const Point& point, JsonWriter* json) {
  std::string text;
  AppendPoint(point, &text);
  json->Key(key).Raw(text);
}

bool WriteSeries(const promql::QueryResult& result, size_t limit, DataResponse* response) {
  JsonWriter& json = response->json();
  json.BeginArray();
  size_t num_written = 0;
  for (const ResultSeries& series : result.series) {
    if (limit != 0 && num_written == limit) break;
    ++num_written;
    json.BeginObject().Key("metric");
    WriteLabels(series.labels, *result.symbols, &json);
    if (result.type == ValueType::kMatrix) {
      WritePoints("values", series.floats, response);
      WritePoints("histograms", series.histograms, response);
    } else if (!series.floats.empty()) {
      WritePoint("value", series.floats.front(), &json);
    } else if (!series.histograms.empty()) {
      WritePoint("histogram", series.histograms.front(), &json);
    }
    json.EndObject();
    if (!response->FlushIfLarge()) break;
  }
  json.EndArray();
  return num_written < result.series.size();
}

void WriteScalar(const promql::QueryResult& result, JsonWriter* json) {
  std::string text;
  if (result.type == ValueType::kScalar && !result.series.empty() &&
      !result.series[0].floats.empty()) {
    AppendPoint(result.series[0].floats[0], &text);
  } else {
    text.push_back('[');
    AppendTime(&text, result.string_time_ms);
    text.push_back(',');
    AppendJsonString(&text, result.string_value);
    text.push_back(']');
  }
  json->Raw(text);
}

std::string_view TypeName(ValueType type) {
  switch (type) {
    case ValueType::kScalar:
      return "scalar";
    case ValueType::kString:
      return "string";
    case ValueType::kVector:
      return "vector";
    case ValueType::kMatrix:
      return "matrix";
  }
  return "";
}

void WriteStats(const promql::QueryStats& stats, JsonWriter* json) {
  json->Key("stats").BeginObject().Key("timings").BeginObject();
  json->Key("evalTotalTime").Double(stats.eval_total_s);
  json->Key("resultSortTime").Double(stats.result_sort_s);
  json->Key("queryPreparationTime").Double(stats.preparation_s);
  json->Key("innerEvalTime").Double(stats.inner_eval_s);
  json->Key("execQueueTime").Double(stats.queue_s);
  json->Key("execTotalTime").Double(stats.exec_total_s);
  json->EndObject().Key("samples").BeginObject();
  json->Key("totalQueryableSamples").Unsigned(stats.total_queryable_samples);
  json->Key("peakSamples").Unsigned(stats.peak_samples);
  json->Key("samplesRead").Unsigned(stats.samples_read);
  json->EndObject().EndObject();
}

}  // namespace

void WriteLabels(std::span<const model::SymbolLabel> labels, const model::SymbolTable& symbols,
                 JsonWriter* json) {
  json->BeginObject();
  for (const model::SymbolLabel& label : labels) {
    json->Field(symbols.Text(label.name), symbols.Text(label.value));
  }
  json->EndObject();
}

bool WriteResult(const promql::QueryResult& result, size_t limit, WithStats with_stats,
                 DataResponse* response) {
  JsonWriter& json = response->json();
  json.BeginObject().Field("resultType", TypeName(result.type)).Key("result");
  bool truncated = false;
  if (result.type == ValueType::kScalar || result.type == ValueType::kString) {
    WriteScalar(result, &json);
  } else {
    truncated = WriteSeries(result, limit, response);
  }
  if (with_stats == WithStats::kYes) WriteStats(result.stats, &json);
  json.EndObject();
  return truncated;
}

}  // namespace narthex::server
