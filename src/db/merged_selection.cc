#include "db/merged_selection.h"

#include <algorithm>
#include <utility>

#include "db/merged_cursor.h"
#include "narthex/base/check.h"

namespace narthex::db {

using model::SymbolLabel;

namespace {

uint64_t HashOf(std::span<const SymbolLabel> labels) {
  uint64_t hash = labels.size();
  for (const SymbolLabel& label : labels) {
    // Multiply and rotate; the constant is 2^64 over the golden ratio.
    hash = (hash ^ (static_cast<uint64_t>(label.name) << 32 | label.value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

bool Overlap(model::TimeRange a, model::TimeRange b) {
  return a.min_time_ms <= b.max_time_ms && b.min_time_ms <= a.max_time_ms;
}

}  // namespace

MergedSelection::Series* MergedSelection::FindOrAdd(uint32_t num_labels) {
  Series added{.labels_begin = static_cast<uint32_t>(labels_.size() - num_labels),
               .num_labels = num_labels};
  const std::span<const SymbolLabel> labels = LabelsOf(added);
  const uint64_t hash = HashOf(labels);
  for (auto [it, end] = by_hash_.equal_range(hash); it != end; ++it) {
    Series& series = series_[it->second];
    if (std::ranges::equal(LabelsOf(series), labels)) {
      labels_.resize(added.labels_begin);
      return &series;
    }
  }
  by_hash_.emplace(hash, static_cast<uint32_t>(series_.size()));
  return &series_.emplace_back(added);
}

void MergedSelection::Add(SelectionPart part, const MergedSymbols& symbols, size_t table) {
  const auto number = static_cast<uint32_t>(parts_.size());
  const size_t size = part.selection->size();
  by_hash_.reserve(by_hash_.size() + size);
  for (size_t i = 0; i < size; ++i) {
    const size_t begin = labels_.size();
    part.selection->AppendLabels(i, &labels_);
    symbols.Translate(table, std::span(labels_).subspan(begin));
    Series* const series = FindOrAdd(static_cast<uint32_t>(labels_.size() - begin));
    const auto place = static_cast<uint32_t>(places_.size());
    places_.push_back({.series = {.part = number, .index = static_cast<uint32_t>(i)}});
    if (series->first_place == kNone) {
      series->first_place = place;
    } else {
      places_[series->last_place].next = place;
    }
    series->last_place = place;
  }
  parts_.push_back(std::move(part));
}

void MergedSelection::Truncate(size_t limit) {
  if (series_.size() > limit) series_.resize(limit);
}

void MergedSelection::AppendLabels(size_t index, std::vector<SymbolLabel>* out) const {
  const std::span<const SymbolLabel> labels = LabelsOf(series_[index]);
  out->insert(out->end(), labels.begin(), labels.end());
}

std::unique_ptr<model::SeriesCursor> MergedSelection::NewCursor(
    model::HistogramDetail detail) const {
  return std::make_unique<MergedCursor>(this, detail);
}

model::SeriesSelection::Latest MergedSelection::FindLatest(size_t index, model::TimeRange range,
                                                           model::LatestSample* out) const {
  std::vector<SourceSeries> places;
  FindPlaces(index, range, &places);
  if (places.empty()) return Latest::kNone;
  if (places.size() > 1) return Latest::kAskCursor;
  return parts_[places[0].part].selection->FindLatest(places[0].index, range, out);
}

void MergedSelection::FindPlaces(size_t index, model::TimeRange range,
                                 std::vector<SourceSeries>* out) const {
  out->clear();
  for (uint32_t place = series_[index].first_place; place != kNone; place = places_[place].next) {
    const SourceSeries& series = places_[place].series;
    if (Overlap(parts_[series.part].range, range)) out->push_back(series);
  }
}

}  // namespace narthex::db
