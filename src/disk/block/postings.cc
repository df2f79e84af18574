// A matcher is resolved to values of its label: at once for literals, else by one verdict per
// distinct value. Those that match no missing label become unions of the values' lists; those that
// do are turned around: the series of the values they do not match are taken away. The matcher with
// the fewest series goes first; once few candidates are left, the rest look at the candidates'
// labels instead of at lists.
#include "narthex/disk/postings.h"

#include <algorithm>
#include <bit>
#include <string>

#include "narthex/base/status.h"

namespace narthex::disk {
namespace {

using model::Matcher;

// A list this many times longer than the other is sought in rather than walked.
constexpr size_t kSeekRatio = 8;

// One matcher as lists of its label's values.
struct Term {
  const Matcher* matcher = nullptr;
  bool subtract = false;  // The values are the ones that do not match.
  std::vector<uint64_t> lists;
  uint64_t num_series = 0;  // Of all lists.
};

absl::StatusOr<Term> Resolve(const PostingsSource& source, const Matcher& matcher) {
  Term term;
  term.matcher = &matcher;
  term.subtract = matcher.MatchesEmpty();
  const auto add = [&](uint64_t place) {
    term.lists.push_back(place);
    term.num_series += source.CountOf(place);
  };
  if (matcher.literals().empty() || term.subtract) {
    NX_RETURN_IF_ERROR(
        source.ForEachValue(matcher.name(), [&](std::string_view value, uint64_t place) {
          if (matcher.Matches(value) != term.subtract) add(place);
        }));
    return term;
  }
  // Fast path: only the literals can match.
  for (const std::string& literal : matcher.literals()) {
    if (!matcher.Matches(literal)) continue;
    NX_ASSIGN_OR_RETURN(const std::optional<uint64_t> place,
                        source.FindList(matcher.name(), literal));
    if (!place || std::find(term.lists.begin(), term.lists.end(), *place) != term.lists.end()) {
      continue;
    }
    add(*place);
  }
  return term;
}

absl::StatusOr<Refs> Union(const PostingsSource& source, const Term& term) {
  Refs refs;
  refs.reserve(term.num_series);
  for (const uint64_t place : term.lists) NX_RETURN_IF_ERROR(source.AppendList(place, &refs));
  if (term.lists.size() > 1) MergeLists(source.ref_limit(), &refs);
  return refs;
}

absl::Status Apply(const PostingsSource& source, const Term& term, Refs* result) {
  // Looking at a candidate's labels costs about as much as reading this many list entries.
  constexpr uint64_t kLabelLookCost = 16;
  if (result->size() * kLabelLookCost < term.num_series) {
    return source.FilterByLabel(
        term.matcher->name(),
        [&term](std::string_view value) { return term.matcher->Matches(value); }, result);
  }
  if (!term.subtract && term.lists.size() == 1) {
    return source.IntersectList(term.lists.front(), result);
  }
  NX_ASSIGN_OR_RETURN(const Refs other, Union(source, term));
  if (term.subtract) {
    Subtract(std::span<const uint32_t>(other), result);
  } else {
    Intersect(std::span<const uint32_t>(other), result);
  }
  return absl::OkStatus();
}

}  // namespace

void PostingsCursor::Seek(uint32_t ref) {
  // Doubles its steps until it is beyond, then halves the last one.
  size_t low = 0;  // Entries below this are less than `ref`.
  size_t step = 1;
  const size_t size = num_left();
  const auto at = [this](size_t i) { return base::LoadBigEndian<uint32_t>(position_ + 4 * i); };
  while (low + step <= size && at(low + step - 1) < ref) {
    low += step;
    step *= 2;
  }
  size_t high = std::min(low + step - 1, size);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (at(middle) < ref) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  position_ += 4 * low;
}

void AppendRefs(PostingsCursor postings, Refs* out) {
  const size_t first = out->size();
  const size_t count = postings.num_left();
  out->resize(first + count);
  for (size_t i = 0; i < count; ++i, postings.Next()) (*out)[first + i] = postings.ref();
}

void Intersect(PostingsCursor postings, Refs* refs) {
  size_t num_kept = 0;
  const bool seeks = postings.num_left() / kSeekRatio > refs->size();
  for (const uint32_t ref : *refs) {
    if (seeks) {
      postings.Seek(ref);
    } else {
      while (!postings.done() && postings.ref() < ref) postings.Next();
    }
    if (postings.done()) break;
    if (postings.ref() == ref) (*refs)[num_kept++] = ref;
  }
  refs->resize(num_kept);
}

void Subtract(PostingsCursor postings, Refs* refs) {
  const bool seeks = postings.num_left() / kSeekRatio > refs->size();
  std::erase_if(*refs, [&](uint32_t ref) {
    if (seeks) {
      postings.Seek(ref);
    } else {
      while (!postings.done() && postings.ref() < ref) postings.Next();
    }
    return !postings.done() && postings.ref() == ref;
  });
}

void Intersect(std::span<const uint32_t> postings, Refs* refs) {
  const auto end = std::set_intersection(refs->begin(), refs->end(), postings.begin(),
                                         postings.end(), refs->begin());
  refs->erase(end, refs->end());
}

void Subtract(std::span<const uint32_t> postings, Refs* refs) {
  const auto end = std::set_difference(refs->begin(), refs->end(), postings.begin(), postings.end(),
                                       refs->begin());
  refs->erase(end, refs->end());
}

void MergeLists(uint64_t ref_limit, Refs* refs) {
  if (refs->size() < ref_limit / 64) {
    std::sort(refs->begin(), refs->end());
    refs->erase(std::unique(refs->begin(), refs->end()), refs->end());
    return;
  }
  // Many series: mark them in a bitmap instead of sorting.
  std::vector<uint64_t> bits(ref_limit / 64 + 1, 0);
  for (const uint32_t ref : *refs) {
    if (ref < ref_limit) bits[ref / 64] |= uint64_t{1} << (ref % 64);
  }
  refs->clear();
  for (size_t word = 0; word < bits.size(); ++word) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      refs->push_back(
          static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(rest))));
    }
  }
}

absl::StatusOr<Refs> SelectSeries(const PostingsSource& source, std::span<const Matcher> matchers) {
  std::vector<Term> terms;
  for (const Matcher& matcher : matchers) {
    NX_ASSIGN_OR_RETURN(Term term, Resolve(source, matcher));
    if (!term.subtract && term.num_series == 0) return Refs();
    terms.push_back(std::move(term));
  }
  // Cheapest first, subtractions last.
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    if (a.subtract != b.subtract) return b.subtract;
    return a.num_series < b.num_series;
  });
  Refs result;
  size_t next = 0;
  if (terms.empty() || terms.front().subtract) {
    NX_RETURN_IF_ERROR(source.AppendAll(&result));
  } else {
    NX_ASSIGN_OR_RETURN(result, Union(source, terms.front()));
    next = 1;
  }
  for (; next < terms.size() && !result.empty(); ++next) {
    NX_RETURN_IF_ERROR(Apply(source, terms[next], &result));
  }
  return result;
}

}  // namespace narthex::disk
