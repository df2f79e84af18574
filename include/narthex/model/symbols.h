// Label texts as numbers: the read side's form. Between a Querier and its users labels are pairs of
// symbols, so that grouping and matching compare integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace narthex::model {

// A text's number within one SymbolTable. Equal texts have equal symbols within one table; the
// order of symbols says nothing about the order of texts.
using Symbol = uint32_t;

// Symbols of a layered table's own texts have this bit; tables below never hand it out.
inline constexpr Symbol kOverlayBit = 0x80000000u;

struct SymbolLabel {
  Symbol name;
  Symbol value;
  bool operator==(const SymbolLabel&) const = default;
};

// Thread-safe for readers.
class SymbolTable {
 public:
  virtual ~SymbolTable() = default;
  // REQUIRES: `symbol` came from this table. The view is valid as long as the table.
  virtual std::string_view Text(Symbol symbol) const = 0;
  // nullopt if no label of this table's owner has the text.
  virtual std::optional<Symbol> Find(std::string_view text) const = 0;
};

// A table that adds texts of its own (label_replace, count_values) over a base table. A base that
// does not know a text now must not learn it later (a Querier's table keeps that promise).
// Thread-compatible: one per query.
class SymbolOverlay final : public SymbolTable {
 public:
  // `base` must outlive this; may be null for an empty base.
  explicit SymbolOverlay(const SymbolTable* base) : base_(base) {}

  std::string_view Text(Symbol symbol) const override;
  std::optional<Symbol> Find(std::string_view text) const override;
  Symbol Intern(std::string_view text);
  size_t num_bytes() const { return num_bytes_; }

 private:
  const SymbolTable* const base_;
  std::deque<std::string> texts_;  // Stable addresses.
  std::unordered_map<std::string_view, Symbol> symbols_;
  size_t num_bytes_ = 0;
};

}  // namespace narthex::model
