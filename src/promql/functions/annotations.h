// Warnings and infos about a query, with Prometheus's texts. Kernels set bits in a NoteSet (no text
// is built per sample); whoever called them turns the bits into texts once per series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace narthex::promql {

// What a kernel can have to say. "(name)" texts hold the metric name.
enum class Note : uint8_t {
  kMixedFloatsHistograms,  // Warning (name): both kinds in one range.
  kNotCounter,             // Warning (name): a gauge histogram where a counter is due.
  kNotGauge,               // Warning (name): the other way round.
  kMixedSchemas,           // Warning (name): exponential and custom buckets.
  kHistogramsIgnored,      // Info (name): histograms in a range of floats.
  kCollisionInAddition,    // Warnings: reset against not reset.
  kCollisionInSubtraction,
  kCollisionInAggregation,
  kReconciledInAddition,  // Infos: different custom bounds.
  kReconciledInSubtraction,
  kReconciledInAggregation,
  kQuantileNanResult,   // Info (name, if one is given): histogram_quantile of NaN observations.
  kQuantileNanSkew,     // Info (name, if one is given).
  kFractionNans,        // Info (name, if one is given): histogram_fraction.
  kMixedInAggregation,  // Warning: floats and histograms in one group.
  kMixedClassicNative,  // Warning (name, if one is given).
  kPossibleNonCounter,  // Info (name): rate or increase of a float series of such a name.
  kInvalidQuantile,     // Warning; needs the value, so AddAll() passes over it: see
                        // AddInvalidQuantile().
  kSortInRangeQuery,    // Warning.
  kNumNotes,
};

// Notes of one or more kernel calls.
class NoteSet {
 public:
  void Add(Note note) { bits_ |= Bit(note); }
  bool Has(Note note) const { return (bits_ & Bit(note)) != 0; }
  bool empty() const { return bits_ == 0; }
  void Clear() { bits_ = 0; }
  void Merge(NoteSet other) { bits_ |= other.bits_; }
  bool operator==(const NoteSet&) const = default;

 private:
  static uint32_t Bit(Note note) { return uint32_t{1} << static_cast<uint32_t>(note); }
  uint32_t bits_ = 0;
};

enum class Severity : uint8_t { kWarning, kInfo };

// All annotations of a query, each text once. A position is the byte offset in the query text where
// the argument spoken of starts; of equal texts the last position counts. Thread-compatible.
class Annotations {
 public:
  void Add(Note note, uint32_t position, std::string_view metric_name = "");
  // Every note of `notes`.
  void AddAll(NoteSet notes, uint32_t position, std::string_view metric_name = "");

  void AddInvalidQuantile(double quantile, uint32_t position);
  void AddInvalidRatio(double ratio, double capped, uint32_t position);
  void AddBadBucketLabel(std::string_view label_value, uint32_t position,
                         std::string_view metric_name = "");
  void AddNonCounterType(std::string_view metric_name, std::string_view type, uint32_t position);
  // `left` and `right` are "float" or "histogram", in operand order.
  void AddIncompatibleTypes(std::string_view op, std::string_view left, std::string_view right,
                            uint32_t position);
  void AddIncompatibleLayout(std::string_view op, uint32_t position);
  void AddIgnoredInAggregation(std::string_view aggregation, uint32_t position);

  // A classic histogram had to be made monotonic; see ClassicQuantile() of quantile.h. Repeats are
  // merged: extremes of buckets, difference and time, and their number.
  struct Repair {
    int64_t time_ms = 0;
    double min_bucket = 0;
    double max_bucket = 0;
    double max_difference = 0;
  };
  void AddForcedMonotonicity(const Repair& repair, uint32_t position,
                             std::string_view metric_name = "");

  // A text without prefix and position, such as a storage's; printed as it is.
  void AddPlain(Severity severity, std::string_view text);

  void Merge(const Annotations& other);
  bool empty() const { return entries_.empty(); }

  // Appends the whole texts, "PromQL warning: ... (1:5)", in order of first occurrence.
  void Render(std::string_view query, std::vector<std::string>* warnings,
              std::vector<std::string>* infos) const;

 private:
  struct Entry {
    Severity severity = Severity::kWarning;
    bool plain = false;
    bool repaired = false;  // Whether the fields from `repair` on count.
    uint32_t position = 0;
    std::string text = {};
    Repair repair = {};
    int64_t max_time_ms = 0;
    size_t num_repairs = 0;
  };
  void AddEntry(Entry entry);
  void AddText(Severity severity, std::string_view text, uint32_t position);

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> by_text_;
};

// "line:column" of byte `position`, both from 1.
std::string PositionText(std::string_view query, uint32_t position);

}  // namespace narthex::promql
