#include "db/block_querier.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "db/block_cursor.h"
#include "narthex/base/status.h"
#include "narthex/disk/postings.h"

namespace narthex::db {

using model::Matcher;
using model::Symbol;
using model::SymbolLabel;
using model::TimeRange;

namespace {

TimeRange CutTo(TimeRange range, TimeRange other) {
  return {.min_time_ms = std::max(range.min_time_ms, other.min_time_ms),
          .max_time_ms = std::min(range.max_time_ms, other.max_time_ms)};
}

void Cut(size_t limit, std::vector<std::string>* texts) {
  if (limit != 0 && texts->size() > limit) texts->resize(limit);
}

// Values of `name` that the matchers, all of that name, accept.
absl::StatusOr<std::vector<std::string>> AcceptedValues(const disk::BlockIndex& index,
                                                        std::string_view name,
                                                        std::span<const Matcher> matchers) {
  std::vector<std::string> values;
  NX_RETURN_IF_ERROR(index.ForEachValue(name, [&](std::string_view value, uint64_t) {
    const bool accepted = std::all_of(matchers.begin(), matchers.end(),
                                      [&](const Matcher& one) { return one.Matches(value); });
    if (accepted) values.emplace_back(value);
  }));
  return values;
}

std::vector<std::string> SortedTexts(const disk::BlockIndex& index,
                                     const std::unordered_set<Symbol>& symbols) {
  std::vector<std::string> texts;
  texts.reserve(symbols.size());
  for (const Symbol symbol : symbols) texts.emplace_back(index.Text(symbol));
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

BlockQuerier::BlockQuerier(std::shared_ptr<const disk::Block> block, TimeRange range)
    : block_(std::move(block)),
      range_(CutTo(range, {block_->meta().min_time_ms, block_->meta().max_time_ms - 1})) {}

absl::StatusOr<std::unique_ptr<model::SeriesSelection>> BlockQuerier::Select(
    std::span<const Matcher> matchers, const model::SelectHints& hints) const {
  const TimeRange range = CutTo(range_, hints.range);
  disk::Refs refs;
  if (range.min_time_ms <= range.max_time_ms) {
    NX_ASSIGN_OR_RETURN(refs, disk::SelectSeries(block_->index(), matchers));
    disk::SeriesEntry entry;
    size_t num_kept = 0;
    for (const uint32_t ref : refs) {
      if (hints.limit != 0 && num_kept == hints.limit) break;
      NX_RETURN_IF_ERROR(block_->index().ReadSeries(ref, &entry));
      const auto deleted = block_->tombstones().Get(ref);
      const bool has_samples = std::any_of(
          entry.chunks.begin(), entry.chunks.end(),
          [&](const disk::ChunkMeta& chunk) { return IsChunkWanted(chunk, range, deleted); });
      if (has_samples) refs[num_kept++] = ref;
    }
    refs.resize(num_kept);
  }
  return std::unique_ptr<model::SeriesSelection>(
      std::make_unique<BlockSelection>(block_, range_, std::move(refs)));
}

absl::StatusOr<std::vector<std::string>> BlockQuerier::LabelNames(std::span<const Matcher> matchers,
                                                                  size_t limit) const {
  std::vector<std::string> names;
  if (!Overlaps()) return names;
  if (matchers.empty()) {
    for (const std::string_view name : block_->index().LabelNames()) names.emplace_back(name);
  } else {
    NX_ASSIGN_OR_RETURN(const disk::Refs refs, disk::SelectSeries(block_->index(), matchers));
    std::unordered_set<Symbol> symbols;
    std::vector<SymbolLabel> labels;
    for (const uint32_t ref : refs) {
      NX_RETURN_IF_ERROR(block_->index().ReadLabels(ref, &labels));
      for (const SymbolLabel& label : labels) symbols.insert(label.name);
    }
    names = SortedTexts(block_->index(), symbols);
  }
  Cut(limit, &names);
  return names;
}

absl::StatusOr<std::vector<std::string>> BlockQuerier::LabelValues(
    std::string_view name, std::span<const Matcher> matchers, size_t limit) const {
  std::vector<std::string> values;
  if (!Overlaps()) return values;
  const disk::BlockIndex& index = block_->index();
  if (std::all_of(matchers.begin(), matchers.end(),
                  [&](const Matcher& one) { return one.name() == name; })) {
    // Fast path: no list of postings is needed.
    NX_ASSIGN_OR_RETURN(values, AcceptedValues(index, name, matchers));
  } else if (const std::optional<Symbol> symbol = index.Find(name)) {
    NX_ASSIGN_OR_RETURN(const disk::Refs refs, disk::SelectSeries(index, matchers));
    std::unordered_set<Symbol> symbols;
    std::vector<SymbolLabel> labels;
    for (const uint32_t ref : refs) {
      NX_RETURN_IF_ERROR(index.ReadLabels(ref, &labels));
      for (const SymbolLabel& label : labels) {
        if (label.name == *symbol) symbols.insert(label.value);
      }
    }
    values = SortedTexts(index, symbols);
  }
  Cut(limit, &values);
  return values;
}

}  // namespace narthex::db
