// One symbol table over those of several queriers. The first table's symbols stay as they are, so
// that the labels of its series (the head's, as a rule) cost nothing; texts that it lacks get
// numbers of their own as they are met. Which texts are known is fixed from the start. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "narthex/base/mutex.h"
#include "narthex/model/symbols.h"

namespace narthex::db {

class MergedSymbols final : public model::SymbolTable {
 public:
  // Tables must outlive this. REQUIRES: at least one; the first hands out no symbol with kOwnBit
  // or above (an index file has no room for so many different texts).
  explicit MergedSymbols(std::vector<const model::SymbolTable*> tables);

  std::string_view Text(model::Symbol symbol) const override;
  std::optional<model::Symbol> Find(std::string_view text) const override;
  // Rewrites labels with symbols of table number `table` into symbols of this one.
  void Translate(size_t table, std::span<model::SymbolLabel> labels) const;

 private:
  static constexpr model::Symbol kOwnBit = model::kOverlayBit >> 1;

  model::Symbol TranslateOne(size_t table, model::Symbol symbol) const NX_REQUIRES(mutex_);
  model::Symbol Intern(std::string_view text) const NX_REQUIRES(mutex_);

  const std::vector<const model::SymbolTable*> tables_;
  mutable base::Mutex mutex_;
  // All lazily filled. Texts are views into the tables.
  mutable std::vector<std::unordered_map<model::Symbol, model::Symbol>> translated_
      NX_GUARDED_BY(mutex_);
  mutable std::deque<std::string_view> texts_ NX_GUARDED_BY(mutex_);
  mutable std::unordered_map<std::string_view, model::Symbol> own_ NX_GUARDED_BY(mutex_);
};

}  // namespace narthex::db
