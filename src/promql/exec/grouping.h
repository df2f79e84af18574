// by (...) and without (...): which group each series belongs to, computed once on symbols.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "promql/exec/context.h"
#include "promql/exec/series_list.h"

namespace narthex::promql {

class Grouping {
 public:
  // `labels`: those to keep, or those to drop besides the metric name if `without`.
  Grouping(QueryContext* context, std::span<const std::string> labels, bool without);

  // Appends the labels of the group that `labels` falls in.
  void AppendGroupLabels(LabelSpan labels, std::vector<model::SymbolLabel>* out) const;

 private:
  std::vector<model::Symbol> names_;  // Few: a scan is the fastest lookup.
  const bool without_;
};

// The groups of a list of series.
struct Groups {
  SeriesList series;               // Labels of each group; drop_name if any member has it.
  std::vector<uint32_t> group_of;  // Per series.
};
Groups GroupSeries(const Grouping& grouping, const SeriesList& input);

}  // namespace narthex::promql
