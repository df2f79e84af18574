// The histogram decoder with the state it ends in, for who goes on writing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "codec/chunk/bit_stream.h"
#include "narthex/codec/chunk/histogram_chunk.h"

namespace narthex::codec {

template <typename Count, typename Bucket>
struct HistogramState {
  int64_t time_ms = 0;
  uint64_t time_delta_ms = 0;
  Count count = 0;
  Count zero_count = 0;
  XorWindow sum_window;
  std::vector<Bucket> buckets;  // Absolute counts.
  // Integer histograms: changes against the sample before.
  uint64_t count_delta = 0;
  uint64_t zero_count_delta = 0;
  std::vector<uint64_t> bucket_deltas;
  // Float histograms.
  XorWindow count_window;
  XorWindow zero_count_window;
  std::vector<XorWindow> bucket_windows;
  uint64_t num_bits_left = 0;  // After the last sample: padding, if the chunk is well-formed.
};

// All samples of a chunk without start times (encodings 2 and 3) in the schema they have.
// On error the columns hold anything.
absl::Status DecodeHistograms(std::string_view chunk,
                              BasicHistogramColumns<uint64_t, int64_t>* columns,
                              HistogramState<uint64_t, int64_t>* state);
absl::Status DecodeHistograms(std::string_view chunk,
                              BasicHistogramColumns<double, double>* columns,
                              HistogramState<double, double>* state);

}  // namespace narthex::codec
