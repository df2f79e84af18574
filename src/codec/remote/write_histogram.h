// Histograms of remote write messages, which versions 1 and 2 share. Free functions, thread-safe.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "narthex/codec/remote/write_v1.h"

namespace narthex::codec {

// kInvalidArgument: `bytes` is no histogram message. Counts that do not fit the spans are told in
// `out->status`.
absl::Status DecodeWriteHistogram(std::string_view bytes, WriteHistogram* out);

}  // namespace narthex::codec
