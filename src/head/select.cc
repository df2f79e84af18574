// A matcher is resolved to values of its label: at once for literals, else by one verdict per
// distinct value. Those that match no missing label become unions of the values' lists; those that
// do are turned around: the series of the values they do not match are taken away. The matcher with
// the fewest series goes first; once few candidates are left, the rest look at the candidates'
// labels instead of at lists.
#include "head/select.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>

namespace narthex::head {

using model::Matcher;
using model::MatchType;
using model::Symbol;

namespace {

// One matcher as values of its label.
struct Term {
  const Matcher* matcher = nullptr;
  bool has_name = false;
  Symbol name = 0;
  bool subtract = false;  // The values are the ones that do not match.
  std::vector<Symbol> values;
  uint64_t num_series = 0;  // Of all values.
};

Term Resolve(const HeadIndex& index, const Matcher& matcher) {
  Term term;
  term.matcher = &matcher;
  term.subtract = matcher.MatchesEmpty();
  const std::optional<Symbol> name = index.symbols().Find(matcher.name());
  if (!name || !index.postings().HasName(*name)) return term;
  term.has_name = true;
  term.name = *name;
  const auto add = [&](Symbol value, uint32_t count) {
    term.values.push_back(value);
    term.num_series += count;
  };
  if (!matcher.literals().empty() && !term.subtract) {
    // Fast path: only the literals can match.
    for (const std::string& literal : matcher.literals()) {
      const std::optional<Symbol> value = index.symbols().Find(literal);
      if (!value || !matcher.Matches(literal)) continue;
      if (std::find(term.values.begin(), term.values.end(), *value) != term.values.end()) continue;
      const uint32_t count = index.postings().Count(*name, *value);
      if (count > 0) add(*value, count);
    }
    return term;
  }
  index.postings().ForEachValue(*name, [&](Symbol value, uint32_t count) {
    if (matcher.Matches(index.symbols().Text(value)) != term.subtract) add(value, count);
  });
  return term;
}

// The series of all values of the term, ascending, each once: a series has one value per name.
std::vector<SeriesIndex> Union(const HeadIndex& index, const Term& term, uint32_t num_series) {
  std::vector<SeriesIndex> out;
  if (term.values.size() <= 1) {
    for (const Symbol value : term.values) index.postings().Decode(term.name, value, &out);
  } else if (term.num_series < num_series / 64) {
    for (const Symbol value : term.values) index.postings().Decode(term.name, value, &out);
    std::sort(out.begin(), out.end());
  } else {
    // Many series: mark them in a bitmap instead of sorting.
    std::vector<uint64_t> bits(num_series / 64 + 1, 0);
    std::vector<SeriesIndex> list;
    for (const Symbol value : term.values) {
      list.clear();
      index.postings().Decode(term.name, value, &list);
      for (const SeriesIndex series : list) {
        if (series < num_series) bits[series / 64] |= uint64_t{1} << (series % 64);
      }
    }
    out.reserve(term.num_series);
    for (size_t word = 0; word < bits.size(); ++word) {
      for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
        out.push_back(
            static_cast<SeriesIndex>(word * 64 + static_cast<size_t>(std::countr_zero(rest))));
      }
    }
  }
  while (!out.empty() && out.back() >= num_series) out.pop_back();
  return out;
}

// Keeps the candidates that match, by their own labels, with one verdict per distinct value.
void FilterByLabels(const HeadIndex& index, const Term& term, std::vector<SeriesIndex>* series) {
  std::unordered_map<Symbol, bool> verdicts;
  for (const Symbol value : term.values) verdicts.emplace(value, !term.subtract);
  std::erase_if(*series, [&](SeriesIndex one) {
    Symbol value = 0;
    if (!term.has_name || !index.label_sets().FindValue(one, term.name, &value)) {
      return !term.matcher->MatchesEmpty();
    }
    const auto verdict = verdicts.find(value);
    return !(verdict == verdicts.end() ? term.subtract : verdict->second);
  });
}

}  // namespace

std::vector<SeriesIndex> SelectSeries(const HeadIndex& index, std::span<const Matcher> matchers,
                                      uint32_t num_series) {
  std::vector<Term> terms;
  for (const Matcher& matcher : matchers) {
    terms.push_back(Resolve(index, matcher));
    if (!terms.back().subtract && terms.back().num_series == 0) return {};
  }
  // Cheapest first, subtractions last.
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    if (a.subtract != b.subtract) return b.subtract;
    return a.num_series < b.num_series;
  });
  std::vector<SeriesIndex> result;
  size_t next = 0;
  if (terms.empty() || terms.front().subtract) {
    for (uint32_t i = 0; i < num_series; ++i) {
      if (index.Contains(i)) result.push_back(i);
    }
  } else {
    result = Union(index, terms.front(), num_series);
    next = 1;
  }
  for (; next < terms.size() && !result.empty(); ++next) {
    const Term& term = terms[next];
    // Looking at a candidate's labels costs about as much as reading this many list entries.
    constexpr uint64_t kLabelLookCost = 16;
    if (result.size() * kLabelLookCost < term.num_series) {
      FilterByLabels(index, term, &result);
      continue;
    }
    const std::vector<SeriesIndex> other = Union(index, term, num_series);
    std::vector<SeriesIndex> kept;
    kept.reserve(result.size());
    if (term.subtract) {
      std::set_difference(result.begin(), result.end(), other.begin(), other.end(),
                          std::back_inserter(kept));
    } else {
      std::set_intersection(result.begin(), result.end(), other.begin(), other.end(),
                            std::back_inserter(kept));
    }
    result = std::move(kept);
  }
  return result;
}

}  // namespace narthex::head
