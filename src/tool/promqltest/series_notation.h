// The notation of series in query and rule tests: `up{job="a"} 0+1x4 _ stale {{count:3}}x2`.
// Free functions; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/model/histogram.h"
#include "narthex/model/labels.h"

namespace narthex::tool {

struct SequenceValue {
  bool omitted = false;
  double value = 0;
  std::shared_ptr<const model::FloatHistogram> histogram;  // Null: a float.
  bool hint_given = false;  // The text names the histogram's counter reset hint.
};

struct SeriesDescription {
  model::Labels labels;
  std::vector<SequenceValue> values;
};

// At most this many values come of one description.
inline constexpr uint64_t kMaxSequenceValues = 1'000'000;

// kInvalidArgument says what is wrong.
absl::StatusOr<SeriesDescription> ParseSeriesDescription(std::string_view text);

// Offsets in milliseconds of a start timestamp line: `_ -30s -1mx2 -1m-30sx3`.
absl::StatusOr<std::vector<SequenceValue>> ParseStartOffsets(std::string_view text);

// `{{schema:1 count:3}}` as it stands at the front of `*text`, which is moved behind it.
absl::StatusOr<SequenceValue> ParseHistogram(std::string_view* text);

}  // namespace narthex::tool
