// anchored and smoothed ranges as results of their own. Pure; thread-safe.
#pragma once

#include "absl/status/status.h"
#include "narthex/promql/engine.h"
#include "promql/functions/window.h"

namespace narthex::promql {

// Replaces the floats of `*series`, which are those of `window`, by the samples within the range
// and one at each of its ends; leaves none if there is nothing after the range's start. Changes
// nothing for a plain window. kFailedPrecondition: there are histograms.
absl::Status ExtendRawRange(const Window& window, ResultSeries* series);

}  // namespace narthex::promql
