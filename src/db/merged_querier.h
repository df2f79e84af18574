// One view over several queriers (head, blocks) whose time ranges may overlap: each label set once,
// each time once. Where two sources have a sample of one series at one time, the source that comes
// first in the list wins. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/merged_symbols.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

// A querier and the times (closed) outside which it has no samples.
struct QuerierSource {
  std::unique_ptr<model::Querier> querier;
  model::TimeRange range;
};

class MergedQuerier final : public model::Querier {
 public:
  // REQUIRES: at least one source.
  explicit MergedQuerier(std::vector<QuerierSource> sources);

  const model::SymbolTable& symbols() const override { return symbols_; }
  absl::StatusOr<std::unique_ptr<model::SeriesSelection>> Select(
      std::span<const model::Matcher> matchers, const model::SelectHints& hints) const override;
  absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const model::Matcher> matchers,
                                                      size_t limit) const override;
  absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view name,
                                                       std::span<const model::Matcher> matchers,
                                                       size_t limit) const override;

 private:
  const std::vector<QuerierSource> sources_;
  const MergedSymbols symbols_;
};

}  // namespace narthex::db
