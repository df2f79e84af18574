#include "db/merged_querier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "db/merged_selection.h"
#include "narthex/base/status.h"

namespace narthex::db {
namespace {

std::vector<const model::SymbolTable*> TablesOf(const std::vector<QuerierSource>& sources) {
  std::vector<const model::SymbolTable*> tables;
  for (const QuerierSource& source : sources) tables.push_back(&source.querier->symbols());
  return tables;
}

// Adds `texts` to the sorted `*all`, of which at most `limit` stay if it is not 0.
void Unite(std::vector<std::string> texts, size_t limit, std::vector<std::string>* all) {
  std::vector<std::string> united;
  united.reserve(all->size() + texts.size());
  std::set_union(std::make_move_iterator(all->begin()), std::make_move_iterator(all->end()),
                 std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end()),
                 std::back_inserter(united));
  *all = std::move(united);
  if (limit != 0 && all->size() > limit) all->resize(limit);
}

}  // namespace

MergedQuerier::MergedQuerier(std::vector<QuerierSource> sources)
    : sources_(std::move(sources)), symbols_(TablesOf(sources_)) {}

absl::StatusOr<std::unique_ptr<model::SeriesSelection>> MergedQuerier::Select(
    std::span<const model::Matcher> matchers, const model::SelectHints& hints) const {
  std::vector<std::pair<size_t, SelectionPart>> parts;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const model::TimeRange& range = sources_[i].range;
    if (range.min_time_ms > hints.range.max_time_ms ||
        range.max_time_ms < hints.range.min_time_ms) {
      continue;
    }
    NX_ASSIGN_OR_RETURN(auto selection, sources_[i].querier->Select(matchers, hints));
    if (selection->size() != 0) parts.emplace_back(i, SelectionPart{std::move(selection), range});
  }
  // Fast path: only the first source has such series, and its symbols are the merged ones.
  if (parts.size() == 1 && parts[0].first == 0) return std::move(parts[0].second.selection);
  auto merged = std::make_unique<MergedSelection>(hints.detail);
  for (auto& [table, part] : parts) merged->Add(std::move(part), symbols_, table);
  if (hints.limit != 0) merged->Truncate(hints.limit);
  return std::unique_ptr<model::SeriesSelection>(std::move(merged));
}

absl::StatusOr<std::vector<std::string>> MergedQuerier::LabelNames(
    std::span<const model::Matcher> matchers, size_t limit) const {
  std::vector<std::string> all;
  for (const QuerierSource& source : sources_) {
    NX_ASSIGN_OR_RETURN(std::vector<std::string> names,
                        source.querier->LabelNames(matchers, limit));
    Unite(std::move(names), limit, &all);
  }
  return all;
}

absl::StatusOr<std::vector<std::string>> MergedQuerier::LabelValues(
    std::string_view name, std::span<const model::Matcher> matchers, size_t limit) const {
  std::vector<std::string> all;
  for (const QuerierSource& source : sources_) {
    NX_ASSIGN_OR_RETURN(std::vector<std::string> values,
                        source.querier->LabelValues(name, matchers, limit));
    Unite(std::move(values), limit, &all);
  }
  return all;
}

}  // namespace narthex::db
