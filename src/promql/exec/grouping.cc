#include "promql/exec/grouping.h"

#include <algorithm>
#include <utility>

namespace narthex::promql {

using model::SymbolLabel;

Grouping::Grouping(QueryContext* context, std::span<const std::string> labels, bool without)
    : without_(without) {
  for (const std::string& label : labels) names_.push_back(context->symbols->Intern(label));
  if (without) names_.push_back(context->name_symbol);
}

void Grouping::AppendGroupLabels(LabelSpan labels, std::vector<SymbolLabel>* out) const {
  for (const SymbolLabel& label : labels) {
    const bool named = std::ranges::find(names_, label.name) != names_.end();
    if (named != without_) out->push_back(label);
  }
}

Groups GroupSeries(const Grouping& grouping, const SeriesList& input) {
  Groups groups;
  groups.group_of.resize(input.size());
  LabelSetIndex index;
  std::vector<SymbolLabel> labels;
  std::vector<bool> drop_names;
  for (size_t i = 0; i < input.size(); ++i) {
    labels.clear();
    grouping.AppendGroupLabels(input.labels(i), &labels);
    const uint32_t id = index.Insert(labels).id;
    groups.group_of[i] = id;
    if (id == drop_names.size()) drop_names.push_back(false);
    if (input.drop_name(i)) drop_names[id] = true;
  }
  for (uint32_t id = 0; id < index.size(); ++id) {
    groups.series.Add(index.labels(id), drop_names[id]);
  }
  return groups;
}

}  // namespace narthex::promql
