// The head's index as a source of postings. A list's place is its pair: the name's symbol in the
// upper, the value's in the lower half.
#include "head/select.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "narthex/base/check.h"
#include "narthex/disk/postings.h"

namespace narthex::head {

using model::Symbol;

namespace {

class HeadPostings final : public disk::PostingsSource {
 public:
  HeadPostings(const HeadIndex* index, uint32_t num_series)
      : index_(index), num_series_(num_series) {}

  uint64_t ref_limit() const override { return num_series_; }

  absl::Status ForEachValue(std::string_view name, const ValueVisitor& visit) const override {
    const std::optional<Symbol> symbol = index_->symbols().Find(name);
    if (!symbol) return absl::OkStatus();
    index_->postings().ForEachValue(*symbol, [&](Symbol value, uint32_t) {
      visit(index_->symbols().Text(value), PlaceOf(*symbol, value));
    });
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<uint64_t>> FindList(std::string_view name,
                                                   std::string_view value) const override {
    const std::optional<Symbol> name_symbol = index_->symbols().Find(name);
    const std::optional<Symbol> value_symbol = index_->symbols().Find(value);
    if (!name_symbol || !value_symbol) return std::nullopt;
    if (index_->postings().Count(*name_symbol, *value_symbol) == 0) return std::nullopt;
    return PlaceOf(*name_symbol, *value_symbol);
  }
  size_t CountOf(uint64_t place) const override {
    return index_->postings().Count(NameOf(place), ValueOf(place));
  }
  absl::Status AppendList(uint64_t place, disk::Refs* out) const override {
    index_->postings().Decode(NameOf(place), ValueOf(place), out);
    while (!out->empty() && out->back() >= num_series_) out->pop_back();
    return absl::OkStatus();
  }
  absl::Status IntersectList(uint64_t place, disk::Refs* refs) const override {
    disk::Refs list;
    index_->postings().Decode(NameOf(place), ValueOf(place), &list);
    disk::Intersect(std::span<const uint32_t>(list), refs);
    return absl::OkStatus();
  }
  absl::Status AppendAll(disk::Refs* out) const override {
    for (uint32_t i = 0; i < num_series_; ++i) {
      if (index_->Contains(i)) out->push_back(i);
    }
    return absl::OkStatus();
  }
  absl::Status FilterByLabel(std::string_view name,
                             const std::function<bool(std::string_view)>& accepts,
                             disk::Refs* refs) const override {
    const bool accepts_none = accepts("");
    const std::optional<Symbol> symbol = index_->symbols().Find(name);
    std::unordered_map<Symbol, bool> verdicts;
    std::erase_if(*refs, [&](SeriesIndex series) {
      Symbol value = 0;
      if (!symbol || !index_->label_sets().FindValue(series, *symbol, &value)) {
        return !accepts_none;
      }
      const auto [verdict, is_new] = verdicts.try_emplace(value, false);
      if (is_new) verdict->second = accepts(index_->symbols().Text(value));
      return !verdict->second;
    });
    return absl::OkStatus();
  }

 private:
  static uint64_t PlaceOf(Symbol name, Symbol value) { return uint64_t{name} << 32 | value; }
  static Symbol NameOf(uint64_t place) { return static_cast<Symbol>(place >> 32); }
  static Symbol ValueOf(uint64_t place) { return static_cast<Symbol>(place); }

  const HeadIndex* const index_;
  const uint32_t num_series_;
};

}  // namespace

std::vector<SeriesIndex> SelectSeries(const HeadIndex& index,
                                      std::span<const model::Matcher> matchers,
                                      uint32_t num_series) {
  absl::StatusOr<disk::Refs> selected =
      disk::SelectSeries(HeadPostings(&index, num_series), matchers);
  // Memory cannot be damaged: no method above gives an error.
  NX_CHECK(selected.ok());
  return *std::move(selected);
}

}  // namespace narthex::head
