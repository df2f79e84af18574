#include "tool/promqltest/series_notation.h"

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "narthex/base/duration.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"
#include "narthex/promql/engine.h"
#include "tool/promqltest/text_scanner.h"

namespace narthex::tool {
namespace {

// Length of the labels at the front: a name, matchers in braces, or both.
size_t LabelsLength(std::string_view text) {
  TextScanner scanner(text);
  scanner.TakeName();
  if (scanner.Take("{")) {
    while (!scanner.done() && !scanner.Take("}")) {
      if (scanner.TakeQuoted().empty()) scanner.Take(scanner.rest().substr(0, 1));
    }
  }
  return text.size() - scanner.rest().size();
}

absl::StatusOr<model::Labels> ParseLabels(std::string_view text) {
  NX_ASSIGN_OR_RETURN(const std::vector<model::Matcher> matchers, promql::ParseSelector(text));
  std::vector<model::Label> pairs;
  for (const model::Matcher& matcher : matchers) {
    if (matcher.type() != model::MatchType::kEqual) {
      return base::InvalidArgument("a series has labels, not matchers: ", matcher.ToString());
    }
    pairs.push_back({matcher.name(), matcher.value()});
  }
  return model::Labels::FromPairs(std::move(pairs));
}

// The keys of a histogram as they are read.
struct HistogramText {
  std::set<std::string, std::less<>> seen;
  int64_t schema = 0, offset = 0, negative_offset = 0;
  double sum = 0, count = 0, zero_count = 0, zero_threshold = 0;
  std::vector<double> buckets, negative_buckets, custom_values;
  std::optional<model::CounterResetHint> hint;
};

absl::Status BadHistogram(std::string_view what, std::string_view rest) {
  return base::InvalidArgument("histogram description: ", what, " at \"", rest.substr(0, 20), "\"");
}

absl::Status TakeList(TextScanner* scanner, std::vector<double>* out) {
  if (!scanner->Take("[")) return BadHistogram("expected '['", scanner->rest());
  for (;;) {
    scanner->SkipSpaces();
    if (scanner->Take("]")) return absl::OkStatus();
    const std::optional<double> value = scanner->TakeNumber();
    if (!value.has_value()) return BadHistogram("expected a number or ']'", scanner->rest());
    out->push_back(*value);
  }
}

absl::Status TakeFloat(TextScanner* scanner, double* out) {
  const std::optional<double> value = scanner->TakeNumber();
  if (!value.has_value()) return BadHistogram("expected a number", scanner->rest());
  *out = *value;
  return absl::OkStatus();
}

absl::Status TakeInteger(TextScanner* scanner, int64_t* out) {
  constexpr uint64_t kMax = 1 << 30;
  const bool negative = scanner->Take("-");
  const std::optional<uint64_t> value = scanner->TakeCount();
  if (!value.has_value() || *value > kMax) {
    return BadHistogram("expected an integer", scanner->rest());
  }
  *out = negative ? -static_cast<int64_t>(*value) : static_cast<int64_t>(*value);
  return absl::OkStatus();
}

absl::Status TakeHint(TextScanner* scanner, std::optional<model::CounterResetHint>* out) {
  const std::string_view before = scanner->rest();
  const std::string_view word = scanner->TakeName();
  if (word == "unknown") {
    *out = model::CounterResetHint::kUnknown;
  } else if (word == "reset") {
    *out = model::CounterResetHint::kReset;
  } else if (word == "not_reset") {
    *out = model::CounterResetHint::kNotReset;
  } else if (word == "gauge") {
    *out = model::CounterResetHint::kGauge;
  } else {
    return BadHistogram("expected unknown, reset, not_reset or gauge", before);
  }
  return absl::OkStatus();
}

absl::Status TakeKeyValue(std::string_view key, TextScanner* scanner, HistogramText* out) {
  if (key == "schema") return TakeInteger(scanner, &out->schema);
  if (key == "offset") return TakeInteger(scanner, &out->offset);
  if (key == "n_offset") return TakeInteger(scanner, &out->negative_offset);
  if (key == "sum") return TakeFloat(scanner, &out->sum);
  if (key == "count") return TakeFloat(scanner, &out->count);
  if (key == "z_bucket") return TakeFloat(scanner, &out->zero_count);
  if (key == "z_bucket_w") return TakeFloat(scanner, &out->zero_threshold);
  if (key == "buckets") return TakeList(scanner, &out->buckets);
  if (key == "n_buckets") return TakeList(scanner, &out->negative_buckets);
  if (key == "custom_values") return TakeList(scanner, &out->custom_values);
  if (key == "counter_reset_hint") return TakeHint(scanner, &out->hint);
  return BadHistogram("unknown key", key);
}

void AddSpan(int64_t offset, size_t length, std::vector<model::BucketSpan>* spans) {
  if (length == 0) return;
  spans->push_back({static_cast<int32_t>(offset), static_cast<uint32_t>(length)});
}

SequenceValue Build(HistogramText text) {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = static_cast<int32_t>(text.schema);
  layout->zero_threshold = text.zero_threshold;
  AddSpan(text.offset, text.buckets.size(), &layout->positive_spans);
  AddSpan(text.negative_offset, text.negative_buckets.size(), &layout->negative_spans);
  layout->custom_bounds = std::move(text.custom_values);
  auto histogram = std::make_shared<model::FloatHistogram>();
  histogram->hint = text.hint.value_or(model::CounterResetHint::kUnknown);
  histogram->layout = std::move(layout);
  histogram->count = text.count;
  histogram->zero_count = text.zero_count;
  histogram->sum = text.sum;
  histogram->buckets = std::move(text.buckets);
  histogram->buckets.insert(histogram->buckets.end(), text.negative_buckets.begin(),
                            text.negative_buckets.end());
  SequenceValue value;
  value.hint_given = text.hint.has_value();
  value.histogram = std::move(histogram);
  return value;
}

absl::Status TooMany() {
  return base::InvalidArgument("more than ", kMaxSequenceValues, " values in a series");
}

// The N of "xN" at the front; nullopt if there is no x.
absl::StatusOr<std::optional<uint64_t>> TakeRepetition(TextScanner* scanner) {
  if (!scanner->Take("x")) return std::optional<uint64_t>();
  const std::optional<uint64_t> count = scanner->TakeCount();
  if (!count.has_value()) {
    return base::InvalidArgument("invalid repetition in series values: \"", scanner->rest(), "\"");
  }
  if (*count >= kMaxSequenceValues) return TooMany();
  return count;
}

absl::Status AppendHistograms(TextScanner* scanner, std::vector<SequenceValue>* out) {
  std::string_view rest = scanner->rest();
  NX_ASSIGN_OR_RETURN(SequenceValue value, ParseHistogram(&rest));
  *scanner = TextScanner(rest);
  const bool adds = scanner->IsNext('+');
  if (!adds && !scanner->IsNext('-')) {
    NX_ASSIGN_OR_RETURN(const auto repetition, TakeRepetition(scanner));
    out->insert(out->end(), repetition.value_or(0) + 1, value);
    return absl::OkStatus();
  }
  rest = scanner->rest().substr(1);
  NX_ASSIGN_OR_RETURN(const SequenceValue increment, ParseHistogram(&rest));
  *scanner = TextScanner(rest);
  NX_ASSIGN_OR_RETURN(const auto repetition, TakeRepetition(scanner));
  if (!repetition.has_value()) return BadHistogram("expected x and a count", scanner->rest());
  value.hint_given = increment.hint_given;
  const int32_t increment_schema = increment.histogram->layout->schema;
  for (uint64_t i = 0;; ++i) {
    out->push_back(value);
    if (i == *repetition) return absl::OkStatus();
    model::FloatHistogram next = *value.histogram;
    if (next.layout->schema > increment_schema) {
      return base::InvalidArgument("error combining histograms: cannot merge from schema ",
                                   increment_schema, " to ", next.layout->schema);
    }
    const model::Combined combined = adds ? model::Add(&next, *increment.histogram)
                                          : model::Subtract(&next, *increment.histogram);
    if (!combined.compatible) {
      return base::InvalidArgument("histograms with exponential and custom buckets do not add up");
    }
    value.histogram = std::make_shared<const model::FloatHistogram>(std::move(next));
  }
}

absl::Status AppendFloats(TextScanner* scanner, std::vector<SequenceValue>* out) {
  SequenceValue value;
  if (scanner->Take("stale")) {
    value.value = model::StaleNan();
  } else {
    const std::optional<double> number = scanner->TakeNumber();
    if (!number.has_value()) {
      return base::InvalidArgument("unexpected \"", scanner->rest().substr(0, 20),
                                   "\" in series values, expected number or \"stale\"");
    }
    value.value = *number;
  }
  double increment = 0;
  const bool has_increment = scanner->IsNext('+') || scanner->IsNext('-');
  if (has_increment) {
    const std::optional<double> number = scanner->TakeNumber();
    if (!number.has_value()) {
      return base::InvalidArgument("no number after the sign in series values");
    }
    increment = *number;
  }
  NX_ASSIGN_OR_RETURN(const auto repetition, TakeRepetition(scanner));
  if (has_increment && !repetition.has_value()) {
    return base::InvalidArgument("an increment in series values needs x and a count");
  }
  for (uint64_t i = 0; i <= repetition.value_or(0); ++i) {
    out->push_back(value);
    if (has_increment) value.value += increment;
  }
  return absl::OkStatus();
}

absl::Status AppendItem(TextScanner* scanner, std::vector<SequenceValue>* out) {
  if (scanner->Take("_")) {
    NX_ASSIGN_OR_RETURN(const auto repetition, TakeRepetition(scanner));
    SequenceValue none;
    none.omitted = true;
    out->insert(out->end(), repetition.value_or(1), none);
    return absl::OkStatus();
  }
  return scanner->rest().starts_with("{{") ? AppendHistograms(scanner, out)
                                           : AppendFloats(scanner, out);
}

absl::StatusOr<std::vector<SequenceValue>> ParseItems(
    std::string_view text,
    const std::function<absl::Status(TextScanner*, std::vector<SequenceValue>*)>& append_item) {
  std::vector<SequenceValue> values;
  TextScanner scanner(text);
  scanner.SkipSpaces();
  while (!scanner.done()) {
    NX_RETURN_IF_ERROR(append_item(&scanner, &values));
    if (values.size() > kMaxSequenceValues) return TooMany();
    if (!scanner.done() && !scanner.SkipSpaces()) {
      return base::InvalidArgument("unexpected \"", scanner.rest().substr(0, 20),
                                   "\" in series values");
    }
  }
  return values;
}

absl::StatusOr<int64_t> TakeOffsetMs(TextScanner* scanner) {
  const bool negative = scanner->Take("-");
  if (!negative) scanner->Take("+");
  const std::string_view before = scanner->rest();
  size_t length = 0;
  while (length < before.size() && before[length] >= '0' && before[length] <= '9') ++length;
  while (length < before.size() && before[length] >= 'a' && before[length] <= 'z' &&
         before[length] != 'x') {
    ++length;
  }
  NX_ASSIGN_OR_RETURN(const int64_t offset_ms, base::ParseDurationMs(before.substr(0, length)));
  scanner->Take(before.substr(0, length));
  return negative ? -offset_ms : offset_ms;
}

absl::Status AppendOffsets(TextScanner* scanner, std::vector<SequenceValue>* out) {
  if (scanner->IsNext('_')) return AppendItem(scanner, out);
  NX_ASSIGN_OR_RETURN(int64_t offset_ms, TakeOffsetMs(scanner));
  int64_t increment_ms = 0;
  const bool has_increment = scanner->IsNext('+') || scanner->IsNext('-');
  if (has_increment) {
    NX_ASSIGN_OR_RETURN(increment_ms, TakeOffsetMs(scanner));
  }
  NX_ASSIGN_OR_RETURN(const auto repetition, TakeRepetition(scanner));
  if (has_increment && !repetition.has_value()) {
    return base::InvalidArgument("expected 'x<count>' after step duration");
  }
  for (uint64_t i = 0; i <= repetition.value_or(0); ++i) {
    SequenceValue value;
    value.value = static_cast<double>(offset_ms);
    out->push_back(value);
    offset_ms += increment_ms;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SequenceValue> ParseHistogram(std::string_view* text) {
  TextScanner scanner(*text);
  if (!scanner.Take("{{")) return BadHistogram("expected \"{{\"", scanner.rest());
  HistogramText keys;
  for (;;) {
    scanner.SkipSpaces();
    if (scanner.Take("}}")) break;
    const std::string_view before = scanner.rest();
    size_t length = 0;
    while (length < before.size() &&
           (before[length] == '_' || (before[length] >= 'a' && before[length] <= 'z'))) {
      ++length;
    }
    const std::string_view key = before.substr(0, length);
    scanner.Take(key);
    if (key.empty() || !scanner.Take(":")) return BadHistogram("expected a key and ':'", before);
    if (!keys.seen.emplace(key).second) {
      return base::InvalidArgument("duplicate key \"", key, "\" in histogram");
    }
    NX_RETURN_IF_ERROR(TakeKeyValue(key, &scanner, &keys));
  }
  *text = scanner.rest();
  return Build(std::move(keys));
}

absl::StatusOr<SeriesDescription> ParseSeriesDescription(std::string_view text) {
  text = Trimmed(text);
  const size_t length = LabelsLength(text);
  SeriesDescription series;
  NX_ASSIGN_OR_RETURN(series.labels, ParseLabels(text.substr(0, length)));
  const std::string_view values = text.substr(length);
  if (!values.empty() && Trimmed(values).size() == values.size()) {
    return base::InvalidArgument("unexpected \"", values.substr(0, 20), "\" after the labels");
  }
  NX_ASSIGN_OR_RETURN(series.values, ParseItems(values, AppendItem));
  return series;
}

absl::StatusOr<std::vector<SequenceValue>> ParseStartOffsets(std::string_view text) {
  return ParseItems(text, AppendOffsets);
}

}  // namespace narthex::tool
