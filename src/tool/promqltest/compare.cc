#include "tool/promqltest/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/histogram_text.h"
#include "narthex/model/stale.h"

namespace narthex::tool {
namespace {

using promql::QueryResult;
using promql::ResultSeries;
using promql::ValueType;

template <typename... Pieces>
absl::Status Mismatch(const Pieces&... pieces) {
  return base::FailedPrecondition(pieces...);
}

std::string FloatText(double value) {
  std::string out;
  base::AppendFloatG(&out, value);
  return out;
}

std::string ValueText(const SequenceValue& value) {
  if (value.omitted) return "_";
  return value.histogram != nullptr ? model::ToTestNotation(*value.histogram)
                                    : FloatText(value.value);
}

std::string ValuesText(const std::vector<SequenceValue>& values) {
  std::string out;
  for (const SequenceValue& value : values)
    base::StrAppend(&out, out.empty() ? "" : " ", ValueText(value));
  return out;
}

std::string PointsText(const ResultSeries& series) {
  std::string out;
  for (const promql::FloatPoint& point : series.floats) {
    base::StrAppend(&out, out.empty() ? "" : " ", FloatText(point.value), " @[", point.time_ms,
                    "]");
  }
  for (const promql::HistogramPoint& point : series.histograms) {
    base::StrAppend(&out, out.empty() ? "" : " ", model::ToTestNotation(*point.histogram), " @[",
                    point.time_ms, "]");
  }
  return out;
}

model::Labels LabelsOf(const ResultSeries& series, const QueryResult& result) {
  std::vector<model::Label> pairs;
  for (const model::SymbolLabel& label : series.labels) {
    pairs.push_back({result.symbols->Text(label.name), result.symbols->Text(label.value)});
  }
  return model::Labels::FromPairs(std::move(pairs));
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

bool SpansMatch(std::vector<model::BucketSpan> a, std::vector<model::BucketSpan> b) {
  const auto is_empty = [](const model::BucketSpan& span) { return span.length == 0; };
  std::erase_if(a, is_empty);
  std::erase_if(b, is_empty);
  return a == b;
}

bool HistogramsMatch(model::FloatHistogram expected, model::FloatHistogram actual,
                     bool compare_hint) {
  if (compare_hint && expected.hint != actual.hint) return false;
  model::Compact(&expected);
  model::Compact(&actual);
  const model::HistogramLayout& a = *expected.layout;
  const model::HistogramLayout& b = *actual.layout;
  return a.schema == b.schema && a.zero_threshold == b.zero_threshold &&
         (!a.has_custom_buckets() || a.custom_bounds == b.custom_bounds) &&
         SpansMatch(a.positive_spans, b.positive_spans) &&
         SpansMatch(a.negative_spans, b.negative_spans) &&
         AlmostEqual(expected.count, actual.count) && AlmostEqual(expected.sum, actual.sum) &&
         AlmostEqual(expected.zero_count, actual.zero_count) &&
         std::ranges::equal(expected.buckets, actual.buckets, AlmostEqual);
}

// The points that `values` stand for.
struct ExpectedPoints {
  std::vector<promql::FloatPoint> floats;
  std::vector<std::pair<int64_t, const SequenceValue*>> histograms;
};

ExpectedPoints PointsOf(const EvalCommand& eval, const std::vector<SequenceValue>& values) {
  ExpectedPoints points;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t time_ms = eval.start_ms + static_cast<int64_t>(i) * eval.step_ms;
    if (values[i].histogram != nullptr) {
      points.histograms.emplace_back(time_ms, &values[i]);
    } else if (!values[i].omitted) {
      points.floats.push_back({time_ms, values[i].value});
    }
  }
  return points;
}

bool PointsMatch(const ExpectedPoints& expected, const ResultSeries& actual) {
  return std::ranges::equal(expected.floats, actual.floats,
                            [](const promql::FloatPoint& a, const promql::FloatPoint& b) {
                              return a.time_ms == b.time_ms && AlmostEqual(a.value, b.value);
                            }) &&
         std::ranges::equal(expected.histograms, actual.histograms,
                            [](const auto& a, const promql::HistogramPoint& b) {
                              return a.first == b.time_ms &&
                                     HistogramsMatch(*a.second->histogram, *b.histogram,
                                                     a.second->hint_given);
                            });
}

bool ElementMatches(const SequenceValue& expected, const ResultSeries& actual) {
  if (expected.omitted) return false;
  if (expected.histogram == nullptr) {
    return actual.floats.size() == 1 && AlmostEqual(expected.value, actual.floats[0].value);
  }
  return actual.histograms.size() == 1 &&
         HistogramsMatch(*expected.histogram, *actual.histograms[0].histogram, expected.hint_given);
}

absl::Status CompareSeries(const EvalCommand& eval, const QueryResult& result) {
  if (eval.scalar.has_value()) {
    return Mismatch("expected a scalar, got a ", TypeName(result.type));
  }
  const bool is_matrix = result.type == ValueType::kMatrix;
  if (is_matrix && eval.ordered) return Mismatch("expected ordered result, got a matrix");
  std::set<model::Labels> seen;
  model::Labels last;
  for (size_t i = 0; i < result.series.size(); ++i) {
    const ResultSeries& series = result.series[i];
    model::Labels labels = LabelsOf(series, result);
    const auto found = eval.series.find(labels);
    if (found == eval.series.end()) {
      return Mismatch("expected no ", labels.ToString(), ", got ", PointsText(series));
    }
    const ExpectedSeries& expected = found->second;
    const bool equal = is_matrix ? PointsMatch(PointsOf(eval, expected.values), series)
                                 : ElementMatches(expected.values[0], series);
    if (!equal) {
      return Mismatch("expected ", labels.ToString(), " ", ValuesText(expected.values), ", got ",
                      PointsText(series));
    }
    if (!is_matrix && eval.ordered && expected.position != i + 1) {
      return Mismatch("expected ", labels.ToString(), " at position ", expected.position,
                      ", got it at ", i + 1);
    }
    if (is_matrix && i > 0 && labels < last) {
      return Mismatch("expected series sorted by labels, got ", labels.ToString(), " after ",
                      last.ToString());
    }
    if (!seen.insert(labels).second) return Mismatch("got ", labels.ToString(), " twice");
    last = std::move(labels);
  }
  for (const auto& [labels, expected] : eval.series) {
    if (seen.contains(labels)) continue;
    return Mismatch("expected ", labels.ToString(), " ", ValuesText(expected.values),
                    ", got no such series");
  }
  return absl::OkStatus();
}

absl::Status CompareTexts(std::string_view kind, const std::vector<ExpectedText>& expected,
                          std::span<const std::string> actual) {
  std::string all;
  for (const std::string& text : actual) base::StrAppend(&all, all.empty() ? "" : "; ", text);
  for (const ExpectedText& wanted : expected) {
    const bool found =
        std::ranges::any_of(actual, [&](const std::string& text) { return wanted.Accepts(text); });
    if (!found) {
      return Mismatch("expected ", kind, " \"", wanted.text(), "\", got ",
                      all.empty() ? "none" : all);
    }
  }
  if (expected.empty()) return absl::OkStatus();
  for (const std::string& text : actual) {
    const bool is_expected = std::ranges::any_of(
        expected, [&](const ExpectedText& wanted) { return wanted.Accepts(text); });
    if (!is_expected) return Mismatch("expected no other ", kind, ", got ", text);
  }
  return absl::OkStatus();
}

}  // namespace

bool AlmostEqual(double a, double b) {
  constexpr double kTolerance = 1e-6;
  constexpr double kMinNormal = std::numeric_limits<double>::min();
  if (model::IsStaleNan(a) || model::IsStaleNan(b)) {
    return model::IsStaleNan(a) && model::IsStaleNan(b);
  }
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  const double difference = std::abs(a - b);
  const double magnitude = std::abs(a) + std::abs(b);
  if (a == 0 || b == 0 || magnitude < kMinNormal) return difference < kTolerance * kMinNormal;
  return difference / std::min(magnitude, std::numeric_limits<double>::max()) < kTolerance;
}

absl::Status CompareResult(const EvalCommand& eval, const QueryResult& result) {
  switch (result.type) {
    case ValueType::kString:
      if (eval.string == result.string_value) return absl::OkStatus();
      return Mismatch("expected ", eval.string.has_value() ? *eval.string : "no string", ", got \"",
                      result.string_value, "\"");
    case ValueType::kScalar: {
      const double actual = result.series.at(0).floats.at(0).value;
      if (!eval.scalar.has_value()) return Mismatch("expected no scalar, got ", FloatText(actual));
      if (AlmostEqual(*eval.scalar, actual)) return absl::OkStatus();
      return Mismatch("expected ", FloatText(*eval.scalar), ", got ", FloatText(actual));
    }
    default:
      return CompareSeries(eval, result);
  }
}

absl::Status CompareAnnotations(const EvalCommand& eval, const QueryResult& result) {
  if (eval.some_warning && result.warnings.empty()) {
    return Mismatch("expected a warning, got none");
  }
  if (eval.some_info && result.infos.empty()) return Mismatch("expected an info, got none");
  NX_RETURN_IF_ERROR(CompareTexts("warning", eval.warnings, result.warnings));
  NX_RETURN_IF_ERROR(CompareTexts("info", eval.infos, result.infos));
  if (eval.no_warning && !result.warnings.empty()) {
    return Mismatch("expected no warning, got ", result.warnings[0]);
  }
  if (eval.no_info && !result.infos.empty()) {
    return Mismatch("expected no info, got ", result.infos[0]);
  }
  return absl::OkStatus();
}

QueryResult InstantOf(const QueryResult& range, ValueType type, int64_t time_ms) {
  QueryResult instant;
  instant.type = type;
  instant.symbols = range.symbols;
  for (const ResultSeries& series : range.series) {
    ResultSeries at;
    at.labels = series.labels;
    for (const auto& point : series.floats) {
      if (point.time_ms == time_ms) at.floats.push_back(point);
    }
    for (const auto& point : series.histograms) {
      if (point.time_ms == time_ms) at.histograms.push_back(point);
    }
    if (!at.floats.empty() || !at.histograms.empty()) instant.series.push_back(std::move(at));
  }
  return instant;
}

}  // namespace narthex::tool
