// Native histograms of the exposition format as the model's. Free functions, thread-safe.
#pragma once

#include "absl/status/status.h"
#include "codec/exposition/metric_message.h"
#include "narthex/model/histogram.h"

namespace narthex::codec {

// Spans and deltas to a compact layout and absolute counts: empty buckets are left out and spans
// that touch are joined. kInvalidArgument: there are not as many counts as the spans ask for.
absl::Status MakeHistogram(const HistogramMessage& message, model::CounterResetHint hint,
                           model::Histogram* out);
absl::Status MakeHistogram(const HistogramMessage& message, model::CounterResetHint hint,
                           model::FloatHistogram* out);

}  // namespace narthex::codec
