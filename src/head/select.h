// Matchers to series, over the head's index. Free functions; the caller holds the index lock
// shared.
#pragma once

#include <span>
#include <vector>

#include "head/head_index.h"
#include "narthex/model/matcher.h"

namespace narthex::head {

// The series 0 .. num_series - 1 that match all of `matchers`, ascending; all of them without
// matchers. A missing label has the value "".
std::vector<SeriesIndex> SelectSeries(const HeadIndex& index,
                                      std::span<const model::Matcher> matchers,
                                      uint32_t num_series);

}  // namespace narthex::head
