// Classic histogram series as native histograms with custom buckets. Free functions; thread-safe.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "tool/promqltest/series_notation.h"

namespace narthex::tool {

// The series that the `_bucket`, `_count` and `_sum` series among `series` make together, one per
// set of labels without `le`: a value wherever one of them has a float. Other series are ignored.
// kInvalidArgument: buckets are not cumulative, or differ from the count.
absl::StatusOr<std::vector<SeriesDescription>> ConvertClassicHistograms(
    const std::vector<const SeriesDescription*>& series);

}  // namespace narthex::tool
