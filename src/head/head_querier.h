// The head's model::Querier: what was committed before it began. It keeps the index it began with.
// Thread-safe.
#pragma once

#include <memory>

#include "head/head_core.h"
#include "narthex/model/queryable.h"

namespace narthex::head {

// The symbols there were when the reader began. Thread-safe.
class SymbolSnapshot final : public model::SymbolTable {
 public:
  explicit SymbolSnapshot(const HeadCore* core);
  const std::shared_ptr<const HeadIndex>& index() const { return index_; }
  std::string_view Text(model::Symbol symbol) const override;
  std::optional<model::Symbol> Find(std::string_view text) const override;
  uint32_t size() const { return size_; }

 private:
  const HeadCore* const core_;
  std::shared_ptr<const HeadIndex> index_;
  uint32_t size_ = 0;
};

class HeadQuerier final : public model::Querier {
 public:
  // `core` must outlive the querier.
  HeadQuerier(HeadCore* core, model::TimeRange range);
  ~HeadQuerier() override;

  const model::SymbolTable& symbols() const override { return symbols_; }
  absl::StatusOr<std::unique_ptr<model::SeriesSelection>> Select(
      std::span<const model::Matcher> matchers, const model::SelectHints& hints) const override;
  absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const model::Matcher> matchers,
                                                      size_t limit) const override;
  absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view name,
                                                       std::span<const model::Matcher> matchers,
                                                       size_t limit) const override;

 private:
  bool Overlaps() const;
  // Series that match and have a sample this reader sees.
  std::vector<SeriesIndex> Match(std::span<const model::Matcher> matchers) const;

  HeadCore* const core_;
  const HeadCore::Reader reader_;  // Registered before the rest is read.
  const model::TimeRange range_;   // What of the wanted one this reader sees.
  const SymbolSnapshot symbols_;
  const uint32_t num_slots_;
};

}  // namespace narthex::head
