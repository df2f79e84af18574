#include "db/merged_symbols.h"

#include <utility>

#include "narthex/base/check.h"

namespace narthex::db {

using model::Symbol;
using model::SymbolLabel;

MergedSymbols::MergedSymbols(std::vector<const model::SymbolTable*> tables)
    : tables_(std::move(tables)), translated_(tables_.size()) {
  NX_CHECK(!tables_.empty());
}

std::string_view MergedSymbols::Text(Symbol symbol) const {
  if ((symbol & kOwnBit) == 0) return tables_[0]->Text(symbol);
  base::MutexLock lock(&mutex_);
  return texts_[symbol & ~kOwnBit];
}

std::optional<Symbol> MergedSymbols::Find(std::string_view text) const {
  for (size_t table = 0; table < tables_.size(); ++table) {
    const std::optional<Symbol> found = tables_[table]->Find(text);
    if (!found) continue;
    if (table == 0) return found;
    base::MutexLock lock(&mutex_);
    return TranslateOne(table, *found);
  }
  return std::nullopt;
}

void MergedSymbols::Translate(size_t table, std::span<SymbolLabel> labels) const {
  if (table == 0) return;
  base::MutexLock lock(&mutex_);
  for (SymbolLabel& label : labels) {
    label.name = TranslateOne(table, label.name);
    label.value = TranslateOne(table, label.value);
  }
}

Symbol MergedSymbols::TranslateOne(size_t table, Symbol symbol) const {
  const auto [found, is_new] = translated_[table].try_emplace(symbol, 0);
  if (is_new) {
    const std::string_view text = tables_[table]->Text(symbol);
    const std::optional<Symbol> in_first = tables_[0]->Find(text);
    found->second = in_first ? *in_first : Intern(text);
  }
  return found->second;
}

Symbol MergedSymbols::Intern(std::string_view text) const {
  const auto [found, is_new] = own_.try_emplace(text, static_cast<Symbol>(texts_.size()) | kOwnBit);
  if (is_new) texts_.push_back(text);
  return found->second;
}

}  // namespace narthex::db
