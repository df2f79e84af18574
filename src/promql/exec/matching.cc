#include "promql/exec/matching.h"

#include <algorithm>

namespace narthex::promql {

using model::Symbol;
using model::SymbolLabel;

namespace {

std::vector<Symbol> SymbolsOf(QueryContext* context, std::span<const std::string> names) {
  std::vector<Symbol> symbols;
  for (const std::string& name : names) symbols.push_back(context->symbols->Intern(name));
  return symbols;
}

bool Has(const std::vector<Symbol>& names, Symbol name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Signatures::Signatures(QueryContext* context, const VectorMatching& matching)
    : on_(matching.on),
      names_(SymbolsOf(context, matching.labels)),
      name_symbol_(context->name_symbol) {}

void Signatures::AppendMatchLabels(LabelSpan labels, std::vector<SymbolLabel>* out) const {
  for (const SymbolLabel& label : labels) {
    const bool named = Has(names_, label.name);
    if (on_ ? named : (!named && label.name != name_symbol_)) out->push_back(label);
  }
}

std::vector<uint32_t> Signatures::NumberAll(const SeriesList& series) {
  std::vector<uint32_t> numbers(series.size());
  std::vector<SymbolLabel> labels;
  for (size_t i = 0; i < series.size(); ++i) {
    labels.clear();
    AppendMatchLabels(series.labels(i), &labels);
    numbers[i] = index_.Insert(labels).id;
  }
  return numbers;
}

SignatureLists ListBySignature(const std::vector<uint32_t>& signature_of, uint32_t count) {
  SignatureLists lists;
  lists.begins.assign(count + 1, 0);
  for (const uint32_t signature : signature_of) ++lists.begins[signature + 1];
  for (uint32_t i = 0; i < count; ++i) lists.begins[i + 1] += lists.begins[i];
  lists.members.resize(signature_of.size());
  std::vector<uint32_t> next(lists.begins.begin(), lists.begins.end() - 1);
  for (uint32_t i = 0; i < signature_of.size(); ++i) {
    lists.members[next[signature_of[i]]++] = i;
  }
  return lists;
}

ResultLabels::ResultLabels(QueryContext* context, const VectorMatching& matching,
                           bool drop_metadata)
    : context_(context),
      one_to_one_(matching.cardinality == Cardinality::kOneToOne),
      on_(matching.on),
      drop_metadata_(drop_metadata),
      names_(SymbolsOf(context, matching.labels)),
      include_(SymbolsOf(context, matching.include)) {}

void ResultLabels::Compute(LabelSpan many, LabelSpan one, std::vector<SymbolLabel>* out) const {
  out->clear();
  for (const SymbolLabel& label : many) {
    if (drop_metadata_ && context_->IsMetadata(label.name)) continue;
    if (one_to_one_ && Has(names_, label.name) != on_) continue;
    out->push_back(label);
  }
  for (const Symbol name : include_) {
    SetLabel(*context_->symbols, name, FindLabel(one, name), out);
  }
}

}  // namespace narthex::promql
