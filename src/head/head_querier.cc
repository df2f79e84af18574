#include "head/head_querier.h"

#include <algorithm>
#include <unordered_set>

#include "head/head_cursor.h"
#include "head/select.h"

namespace narthex::head {

using model::Symbol;
using model::SymbolLabel;
using model::TimeRange;

// ---- SymbolSnapshot

SymbolSnapshot::SymbolSnapshot(const HeadCore* core) : core_(core) {
  base::ReaderLock lock(core_->index_mutex());
  index_ = core_->index();
  size_ = index_->symbols().size();
}

std::string_view SymbolSnapshot::Text(Symbol symbol) const {
  return index_->symbols().Text(symbol);
}

std::optional<Symbol> SymbolSnapshot::Find(std::string_view text) const {
  base::ReaderLock lock(core_->index_mutex());
  const std::optional<Symbol> found = index_->symbols().Find(text);
  if (!found || *found >= size_) return std::nullopt;
  return found;
}

// ---- HeadQuerier

HeadQuerier::HeadQuerier(HeadCore* core, TimeRange range)
    : core_(core),
      reader_(core->RegisterReader(range.min_time_ms)),
      range_{.min_time_ms = reader_.min_time_ms, .max_time_ms = range.max_time_ms},
      symbols_(core),
      num_slots_(core->num_slots()) {}

HeadQuerier::~HeadQuerier() { core_->ReleaseReader(reader_); }

bool HeadQuerier::Overlaps() const {
  return range_.min_time_ms <= core_->max_time_ms() && range_.max_time_ms >= core_->min_time_ms();
}

std::vector<SeriesIndex> HeadQuerier::Match(std::span<const model::Matcher> matchers) const {
  std::vector<SeriesIndex> series;
  {
    base::ReaderLock lock(core_->index_mutex());
    // Series whose symbols are younger than this reader's table have no sample it sees either.
    series = SelectSeries(*symbols_.index(), matchers, num_slots_);
  }
  const auto seen = static_cast<CommitNumber>(reader_.seen);
  StripeHolder stripe(core_);
  std::erase_if(series, [&](SeriesIndex one) {
    stripe.Hold(one);
    const Series& state = core_->series(one);
    if (state.sealed != 0) return false;
    if (state.kind == ColumnKind::kNone) return true;
    return core_->times().HiddenFrom(state.times, seen) <= core_->times()[state.times].first_ms;
  });
  return series;
}

absl::StatusOr<std::unique_ptr<model::SeriesSelection>> HeadQuerier::Select(
    std::span<const model::Matcher> matchers, const model::SelectHints& hints) const {
  const TimeRange range{.min_time_ms = std::max(range_.min_time_ms, hints.range.min_time_ms),
                        .max_time_ms = std::min(range_.max_time_ms, hints.range.max_time_ms)};
  std::vector<SeriesIndex> series;
  if (Overlaps() && range.min_time_ms <= range.max_time_ms) {
    series = Match(matchers);
    StripeHolder stripe(core_);
    std::erase_if(series, [&](SeriesIndex one) {
      stripe.Hold(one);
      const Series& state = core_->series(one);
      if (core_->LastTimeOf(state) < range.min_time_ms) return true;
      return state.sealed == 0 && core_->times()[state.times].first_ms > range.max_time_ms;
    });
    if (hints.limit != 0 && series.size() > hints.limit) series.resize(hints.limit);
  }
  return std::unique_ptr<model::SeriesSelection>(std::make_unique<HeadSelection>(
      core_, symbols_.index(), reader_, hints.detail, std::move(series)));
}

absl::StatusOr<std::vector<std::string>> HeadQuerier::LabelNames(
    std::span<const model::Matcher> matchers, size_t limit) const {
  std::vector<std::string> names;
  if (!Overlaps()) return names;
  std::unordered_set<Symbol> symbols;
  if (matchers.empty()) {
    base::ReaderLock lock(core_->index_mutex());
    symbols_.index()->postings().ForEachName([&](Symbol name, uint32_t) {
      if (name < symbols_.size()) symbols.insert(name);
    });
  } else {
    std::vector<SymbolLabel> labels;
    for (const SeriesIndex series : Match(matchers)) {
      labels.clear();
      symbols_.index()->label_sets().Decode(series, &labels);
      for (const SymbolLabel& label : labels) symbols.insert(label.name);
    }
  }
  for (const Symbol symbol : symbols) names.emplace_back(symbols_.Text(symbol));
  std::sort(names.begin(), names.end());
  if (limit != 0 && names.size() > limit) names.resize(limit);
  return names;
}

absl::StatusOr<std::vector<std::string>> HeadQuerier::LabelValues(
    std::string_view name, std::span<const model::Matcher> matchers, size_t limit) const {
  std::vector<std::string> values;
  const std::optional<Symbol> name_symbol = symbols_.Find(name);
  if (!Overlaps() || !name_symbol) return values;
  std::unordered_set<Symbol> symbols;
  if (matchers.empty()) {
    base::ReaderLock lock(core_->index_mutex());
    symbols_.index()->postings().ForEachValue(*name_symbol, [&](Symbol value, uint32_t) {
      if (value < symbols_.size()) symbols.insert(value);
    });
  } else {
    for (const SeriesIndex series : Match(matchers)) {
      Symbol value = 0;
      if (symbols_.index()->label_sets().FindValue(series, *name_symbol, &value))
        symbols.insert(value);
    }
  }
  for (const Symbol symbol : symbols) values.emplace_back(symbols_.Text(symbol));
  std::sort(values.begin(), values.end());
  if (limit != 0 && values.size() > limit) values.resize(limit);
  return values;
}

}  // namespace narthex::head
