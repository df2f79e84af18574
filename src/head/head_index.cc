#include "head/head_index.h"

namespace narthex::head {

using model::Symbol;
using model::SymbolLabel;

SeriesIndex HeadIndex::Find(std::span<const model::Label> labels) const {
  std::vector<SymbolLabel> symbols;
  symbols.reserve(labels.size());
  for (const model::Label& label : labels) {
    const auto name = symbols_.Find(label.name);
    const auto value = name ? symbols_.Find(label.value) : std::nullopt;
    if (!value) return kNoSeriesIndex;
    symbols.push_back({*name, *value});
  }
  return label_sets_.Find(symbols);
}

void HeadIndex::Add(SeriesIndex series, std::span<const model::Label> labels) {
  new_labels_.clear();
  for (const model::Label& label : labels) {
    const Symbol name = symbols_.Intern(label.name);
    new_labels_.push_back({name, symbols_.Intern(label.value)});
  }
  label_sets_.Add(series, new_labels_);
  for (const SymbolLabel& label : new_labels_) postings_.Add(label.name, label.value, series);
}

void HeadIndex::AppendLabelTexts(SeriesIndex series, std::vector<model::Label>* out) const {
  std::vector<SymbolLabel> labels;
  label_sets_.Decode(series, &labels);
  for (const SymbolLabel& label : labels) {
    out->push_back({symbols_.Text(label.name), symbols_.Text(label.value)});
  }
}

}  // namespace narthex::head
