// The series that several sources found, each label set once. Built source by source; immutable
// and thread-safe from then on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "db/merged_symbols.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

// Where a series is in one source.
struct SourceSeries {
  uint32_t part = 0;   // Number of the source's selection.
  uint32_t index = 0;  // The series in it.
};

// What one source found, and the times (closed) outside which it has no samples.
struct SelectionPart {
  std::unique_ptr<model::SeriesSelection> selection;
  model::TimeRange range;
};

class MergedSelection final : public model::SeriesSelection {
 public:
  explicit MergedSelection(model::HistogramDetail detail) : detail_(detail) {}

  // Adds what source number `table` of `symbols` found.
  void Add(SelectionPart part, const MergedSymbols& symbols, size_t table);
  // Keeps the first `limit` series.
  void Truncate(size_t limit);

  size_t size() const override { return series_.size(); }
  void AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const override;
  std::unique_ptr<model::SeriesCursor> NewCursor(model::HistogramDetail detail) const override;
  Latest FindLatest(size_t index, model::TimeRange range, model::LatestSample* out) const override;

  const SelectionPart& part(size_t number) const { return parts_[number]; }
  size_t num_parts() const { return parts_.size(); }
  // Replaces `*out` with the places of series `index` that may have samples in `range`, in the
  // order of the sources.
  void FindPlaces(size_t index, model::TimeRange range, std::vector<SourceSeries>* out) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Place {
    SourceSeries series;
    uint32_t next = kNone;  // In the next source that has the series.
  };
  struct Series {
    uint32_t labels_begin = 0;
    uint32_t num_labels = 0;
    uint32_t first_place = kNone;
    uint32_t last_place = kNone;
  };

  std::span<const model::SymbolLabel> LabelsOf(const Series& series) const {
    return std::span(labels_).subspan(series.labels_begin, series.num_labels);
  }
  // The series whose labels are the last `num_labels` of labels_ (which it takes over or drops).
  Series* FindOrAdd(uint32_t num_labels);

  const model::HistogramDetail detail_;
  std::vector<SelectionPart> parts_;
  std::vector<model::SymbolLabel> labels_;
  std::vector<Series> series_;
  std::vector<Place> places_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

}  // namespace narthex::db
