// A block's model::Querier. Thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/disk/block.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

class BlockQuerier final : public model::Querier {
 public:
  // Reads `range` (cut to the block's) and keeps the block open.
  BlockQuerier(std::shared_ptr<const disk::Block> block, model::TimeRange range);

  const model::SymbolTable& symbols() const override { return block_->index(); }
  absl::StatusOr<std::unique_ptr<model::SeriesSelection>> Select(
      std::span<const model::Matcher> matchers, const model::SelectHints& hints) const override;
  absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const model::Matcher> matchers,
                                                      size_t limit) const override;
  absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view name,
                                                       std::span<const model::Matcher> matchers,
                                                       size_t limit) const override;

 private:
  bool Overlaps() const { return range_.min_time_ms <= range_.max_time_ms; }

  const std::shared_ptr<const disk::Block> block_;
  const model::TimeRange range_;
};

}  // namespace narthex::db
