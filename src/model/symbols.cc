#include "narthex/model/symbols.h"

#include "narthex/base/check.h"

namespace narthex::model {

std::string_view SymbolOverlay::Text(Symbol symbol) const {
  if ((symbol & kOverlayBit) == 0) {
    NX_DCHECK(base_ != nullptr);
    return base_->Text(symbol);
  }
  return texts_[symbol & ~kOverlayBit];
}

std::optional<Symbol> SymbolOverlay::Find(std::string_view text) const {
  if (base_ != nullptr) {
    if (const std::optional<Symbol> symbol = base_->Find(text)) return symbol;
  }
  const auto found = symbols_.find(text);
  if (found == symbols_.end()) return std::nullopt;
  return found->second;
}

Symbol SymbolOverlay::Intern(std::string_view text) {
  if (const std::optional<Symbol> symbol = Find(text)) return *symbol;
  NX_CHECK_LT(texts_.size(), static_cast<size_t>(kOverlayBit));
  const Symbol symbol = static_cast<Symbol>(texts_.size()) | kOverlayBit;
  texts_.emplace_back(text);
  symbols_.emplace(texts_.back(), symbol);
  num_bytes_ += text.size() + sizeof(std::string) + sizeof(std::string_view) + 4 * sizeof(void*);
  return symbol;
}

}  // namespace narthex::model
