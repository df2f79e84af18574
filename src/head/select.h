// Matchers to series, over the head's index. Free functions; the caller holds the index lock
// shared.
#pragma once

#include <span>
#include <vector>

#include "head/label_sets.h"
#include "head/postings.h"
#include "head/symbol_store.h"
#include "narthex/model/matcher.h"

namespace narthex::head {

struct IndexView {
  const SymbolStore* symbols;
  const LabelSets* label_sets;
  const Postings* postings;
};

// The series 0 .. num_series - 1 that match all of `matchers`, ascending; all of them without
// matchers. A missing label has the value "".
std::vector<SeriesIndex> SelectSeries(const IndexView& index,
                                      std::span<const model::Matcher> matchers,
                                      uint32_t num_series);

}  // namespace narthex::head
