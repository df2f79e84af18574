#include "promql/exec/series_list.h"

#include <algorithm>

#include "narthex/model/labels.h"

namespace narthex::promql {

using model::Symbol;
using model::SymbolLabel;

void SeriesList::Add(LabelSpan labels, bool drop_name) {
  const SymbolLabel* const old_begin = labels_.data();
  const bool own =
      !labels.empty() && labels.data() >= old_begin && labels.data() < old_begin + labels_.size();
  if (own) {
    const auto offset = static_cast<size_t>(labels.data() - old_begin);
    labels_.reserve(labels_.size() + labels.size());
    labels = LabelSpan(labels_).subspan(offset, labels.size());
  }
  labels_.insert(labels_.end(), labels.begin(), labels.end());
  Finish(drop_name);
}

void SeriesList::Finish(bool drop_name) {
  if (drop_name && drop_names_.empty()) drop_names_.assign(ends_.size(), false);
  ends_.push_back(static_cast<uint32_t>(labels_.size()));
  if (drop_name || !drop_names_.empty()) drop_names_.push_back(drop_name);
}

uint64_t HashLabels(LabelSpan labels) {
  // One multiply-and-fold round a pair; symbols are small integers, so both halves are mixed.
  uint64_t hash = 0x9e3779b97f4a7c15ull ^ labels.size();
  for (const SymbolLabel& label : labels) {
    const uint64_t pair = (static_cast<uint64_t>(label.name) << 32) | label.value;
    const auto product = static_cast<unsigned __int128>(hash ^ pair) * 0xd6e8feb86659fd93ull;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    hash ^= pair * 0x9e3779b97f4a7c15ull;
  }
  return hash ^ (hash >> 29);
}

bool SameLabels(LabelSpan a, LabelSpan b) { return std::ranges::equal(a, b); }

size_t LabelSetIndex::Slot(LabelSpan labels, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == hash && SameLabels(sets_.labels(id), labels)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void LabelSetIndex::Grow() {
  slots_.assign(std::max<size_t>(16, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < hashes_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

LabelSetIndex::Inserted LabelSetIndex::Insert(LabelSpan labels) {
  if ((sets_.size() + 1) * 4 > slots_.size() * 3) Grow();
  const uint64_t hash = HashLabels(labels);
  const size_t slot = Slot(labels, hash);
  if (slots_[slot] != 0) return {slots_[slot] - 1, false};
  const auto id = static_cast<uint32_t>(sets_.size());
  sets_.Add(labels);
  hashes_.push_back(hash);
  slots_[slot] = id + 1;
  return {id, true};
}

std::optional<uint32_t> LabelSetIndex::Find(LabelSpan labels) const {
  if (slots_.empty()) return std::nullopt;
  const size_t slot = Slot(labels, HashLabels(labels));
  if (slots_[slot] == 0) return std::nullopt;
  return slots_[slot] - 1;
}

std::optional<Symbol> FindLabel(LabelSpan labels, Symbol name) {
  for (const SymbolLabel& label : labels) {
    if (label.name == name) return label.value;
  }
  return std::nullopt;
}

std::string_view LabelText(const model::SymbolTable& symbols, LabelSpan labels,
                           std::optional<Symbol> name) {
  if (!name.has_value()) return {};
  const std::optional<Symbol> value = FindLabel(labels, *name);
  return value.has_value() ? symbols.Text(*value) : std::string_view();
}

int CompareLabels(const model::SymbolTable& symbols, LabelSpan a, LabelSpan b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (a[i].name != b[i].name) return symbols.Text(a[i].name).compare(symbols.Text(b[i].name));
    if (a[i].value != b[i].value) return symbols.Text(a[i].value).compare(symbols.Text(b[i].value));
  }
  if (a.size() == b.size()) return 0;
  return a.size() < b.size() ? -1 : 1;
}

std::string LabelsToString(const model::SymbolTable& symbols, LabelSpan labels) {
  std::vector<model::Label> pairs;
  for (const SymbolLabel& label : labels) {
    pairs.push_back({symbols.Text(label.name), symbols.Text(label.value)});
  }
  return model::Labels::FromPairs(std::move(pairs)).ToString();
}

void SetLabel(const model::SymbolTable& symbols, Symbol name, std::optional<Symbol> value,
              std::vector<SymbolLabel>* labels) {
  const auto same = std::ranges::find(*labels, name, &SymbolLabel::name);
  if (same != labels->end()) {
    if (value.has_value()) {
      same->value = *value;
    } else {
      labels->erase(same);
    }
    return;
  }
  if (!value.has_value()) return;
  const std::string_view text = symbols.Text(name);
  const auto place = std::ranges::find_if(
      *labels, [&](const SymbolLabel& label) { return symbols.Text(label.name) > text; });
  labels->insert(place, SymbolLabel{name, *value});
}

}  // namespace narthex::promql
