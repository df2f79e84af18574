#include "promql/functions/annotations.h"

#include <algorithm>
#include <utility>

#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/labels.h"
#include "promql/functions/civil_time.h"

namespace narthex::promql {
namespace {

using base::StrCat;

// Whether a note's text holds the metric name: always, never, or if there is one.
enum class Naming : uint8_t { kNone, kAlways, kIfGiven };

struct NoteText {
  Severity severity;
  Naming naming;
  std::string_view text;
};

NoteText TextOf(Note note) {
  constexpr Severity kWarning = Severity::kWarning;
  constexpr Severity kInfo = Severity::kInfo;
  switch (note) {
    case Note::kMixedFloatsHistograms:
      return {kWarning, Naming::kAlways,
              "encountered a mix of histograms and floats for metric name"};
    case Note::kNotCounter:
      return {kWarning, Naming::kAlways, "this native histogram metric is not a counter:"};
    case Note::kNotGauge:
      return {kWarning, Naming::kAlways, "this native histogram metric is not a gauge:"};
    case Note::kMixedSchemas:
      return {kWarning, Naming::kAlways,
              "vector contains a mix of histograms with exponential and custom buckets schemas for "
              "metric name"};
    case Note::kHistogramsIgnored:
      return {kInfo, Naming::kAlways,
              "ignored histograms in a range containing both floats and histograms for metric "
              "name"};
    case Note::kCollisionInAddition:
      return {kWarning, Naming::kNone, "conflicting counter resets during histogram addition"};
    case Note::kCollisionInSubtraction:
      return {kWarning, Naming::kNone, "conflicting counter resets during histogram subtraction"};
    case Note::kCollisionInAggregation:
      return {kWarning, Naming::kNone, "conflicting counter resets during histogram aggregation"};
    case Note::kReconciledInAddition:
      return {kInfo, Naming::kNone, "mismatched custom buckets were reconciled during addition"};
    case Note::kReconciledInSubtraction:
      return {kInfo, Naming::kNone, "mismatched custom buckets were reconciled during subtraction"};
    case Note::kReconciledInAggregation:
      return {kInfo, Naming::kNone, "mismatched custom buckets were reconciled during aggregation"};
    case Note::kQuantileNanResult:
      return {kInfo, Naming::kIfGiven,
              "input to histogram_quantile has NaN observations, result is NaN"};
    case Note::kQuantileNanSkew:
      return {kInfo, Naming::kIfGiven,
              "input to histogram_quantile has NaN observations, result is skewed higher"};
    case Note::kFractionNans:
      return {kInfo, Naming::kIfGiven,
              "input to histogram_fraction has NaN observations, which are excluded from all "
              "fractions"};
    case Note::kMixedInAggregation:
      return {kWarning, Naming::kNone,
              "encountered a mix of histograms and floats for aggregation"};
    case Note::kMixedClassicNative:
      return {kWarning, Naming::kIfGiven, "vector contains a mix of classic and native histograms"};
    case Note::kPossibleNonCounter:
      return {kInfo, Naming::kAlways,
              "metric might not be a counter, name does not end in _total/_sum/_count/_bucket:"};
    case Note::kSortInRangeQuery:
      return {kWarning, Naming::kNone,
              "sort is ineffective for range queries since results are always ordered by labels"};
    case Note::kInvalidQuantile:
    case Note::kNumNotes:
      break;
  }
  return {kWarning, Naming::kNone, ""};
}

std::string_view PrefixOf(Severity severity) {
  return severity == Severity::kWarning ? "PromQL warning: " : "PromQL info: ";
}

std::string Quoted(std::string_view text) {
  std::string quoted;
  model::AppendQuoted(&quoted, text);
  return quoted;
}

std::string Number(double value, int precision = -1) {
  std::string text;
  base::AppendFloatG(&text, value, precision);
  return text;
}

std::string TimeText(int64_t time_ms) {
  std::string text;
  AppendRfc3339(&text, time_ms / 1000);
  return text;
}

// `text` with the metric name after it, if there is one.
std::string MaybeNamed(std::string_view text, std::string_view metric_name) {
  if (metric_name.empty()) return std::string(text);
  return StrCat(text, " for metric name ", Quoted(metric_name));
}

}  // namespace

void Annotations::AddEntry(Entry entry) {
  const auto [found, is_new] = by_text_.emplace(entry.text, entries_.size());
  if (is_new) {
    entries_.push_back(std::move(entry));
    return;
  }
  Entry& known = entries_[found->second];
  if (!entry.repaired) {
    known.position = entry.position;
    return;
  }
  Repair& repair = known.repair;
  repair.time_ms = std::min(repair.time_ms, entry.repair.time_ms);
  repair.min_bucket = std::min(repair.min_bucket, entry.repair.min_bucket);
  repair.max_bucket = std::max(repair.max_bucket, entry.repair.max_bucket);
  repair.max_difference = std::max(repair.max_difference, entry.repair.max_difference);
  known.max_time_ms = std::max(known.max_time_ms, entry.max_time_ms);
  known.num_repairs += entry.num_repairs;
}

void Annotations::AddText(Severity severity, std::string_view text, uint32_t position) {
  AddEntry({.severity = severity, .position = position, .text = StrCat(PrefixOf(severity), text)});
}

void Annotations::Add(Note note, uint32_t position, std::string_view metric_name) {
  const NoteText known = TextOf(note);
  if (known.text.empty()) return;
  switch (known.naming) {
    case Naming::kNone:
      return AddText(known.severity, known.text, position);
    case Naming::kAlways:
      return AddText(known.severity, StrCat(known.text, " ", Quoted(metric_name)), position);
    case Naming::kIfGiven:
      return AddText(known.severity, MaybeNamed(known.text, metric_name), position);
  }
}

void Annotations::AddAll(NoteSet notes, uint32_t position, std::string_view metric_name) {
  if (notes.empty()) return;
  for (uint8_t i = 0; i < static_cast<uint8_t>(Note::kNumNotes); ++i) {
    if (notes.Has(Note{i})) Add(Note{i}, position, metric_name);
  }
}

void Annotations::AddInvalidQuantile(double quantile, uint32_t position) {
  AddText(Severity::kWarning,
          StrCat("quantile value should be between 0 and 1, got ", Number(quantile)), position);
}

void Annotations::AddInvalidRatio(double ratio, double capped, uint32_t position) {
  AddText(Severity::kWarning,
          StrCat("ratio value should be between -1 and 1, got ", Number(ratio), ", capping to ",
                 Number(capped)),
          position);
}

void Annotations::AddBadBucketLabel(std::string_view label_value, uint32_t position,
                                    std::string_view metric_name) {
  AddText(Severity::kWarning,
          MaybeNamed(StrCat("bucket label \"le\" is missing or has a malformed value of ",
                            Quoted(label_value)),
                     metric_name),
          position);
}

void Annotations::AddNonCounterType(std::string_view metric_name, std::string_view type,
                                    uint32_t position) {
  AddText(Severity::kInfo,
          StrCat("metric might not be a counter, __type__ label is not set to \"counter\" or "
                 "\"histogram\", got ",
                 Quoted(type), ": ", Quoted(metric_name)),
          position);
}

void Annotations::AddIncompatibleTypes(std::string_view op, std::string_view left,
                                       std::string_view right, uint32_t position) {
  AddText(Severity::kInfo,
          StrCat("incompatible sample types encountered for binary operator ", Quoted(op), ": ",
                 left, " ", op, " ", right),
          position);
}

void Annotations::AddIncompatibleLayout(std::string_view op, uint32_t position) {
  AddText(Severity::kWarning,
          StrCat("incompatible bucket layout encountered for binary operator ", op), position);
}

void Annotations::AddIgnoredInAggregation(std::string_view aggregation, uint32_t position) {
  AddText(Severity::kInfo, StrCat("ignored histogram in ", aggregation, " aggregation"), position);
}

void Annotations::AddForcedMonotonicity(const Repair& repair, uint32_t position,
                                        std::string_view metric_name) {
  constexpr std::string_view kText =
      "input to histogram_quantile needed to be fixed for monotonicity (see "
      "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)";
  AddEntry({.severity = Severity::kInfo,
            .repaired = true,
            .position = position,
            .text = StrCat(PrefixOf(Severity::kInfo), MaybeNamed(kText, metric_name)),
            .repair = repair,
            .max_time_ms = repair.time_ms,
            .num_repairs = 1});
}

void Annotations::AddPlain(Severity severity, std::string_view text) {
  AddEntry({.severity = severity, .plain = true, .text = std::string(text)});
}

void Annotations::Merge(const Annotations& other) {
  for (const Entry& entry : other.entries_) AddEntry(entry);
}

void Annotations::Render(std::string_view query, std::vector<std::string>* warnings,
                         std::vector<std::string>* infos) const {
  for (const Entry& entry : entries_) {
    std::string text = entry.text;
    if (entry.repaired) {
      base::StrAppend(&text, ", from buckets ", Number(entry.repair.min_bucket), " to ",
                      Number(entry.repair.max_bucket), ", with a max diff of ",
                      Number(entry.repair.max_difference, 2), ", over ", entry.num_repairs,
                      " samples from ", TimeText(entry.repair.time_ms), " to ",
                      TimeText(entry.max_time_ms));
    }
    if (!entry.plain) base::StrAppend(&text, " (", PositionText(query, entry.position), ")");
    (entry.severity == Severity::kWarning ? warnings : infos)->push_back(std::move(text));
  }
}

std::string PositionText(std::string_view query, uint32_t position) {
  if (position > query.size()) return "invalid position";
  const std::string_view before = query.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_break = before.rfind('\n');
  const size_t column =
      line_break == std::string_view::npos ? position + size_t{1} : position - line_break;
  return StrCat(line, ":", column);
}

}  // namespace narthex::promql
