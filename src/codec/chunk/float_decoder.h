// The XOR decoder with the state it ends in, for who goes on writing.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "codec/chunk/bit_stream.h"
#include "narthex/codec/chunk/float_chunk.h"

namespace narthex::codec {

struct XorState {
  int64_t time_ms = 0;
  uint64_t time_delta_ms = 0;
  uint64_t value_bits = 0;
  XorWindow window;
  uint64_t num_bits_left = 0;  // After the last sample: padding, if the chunk is well-formed.
};

// As DecodeFloatChunk() for XOR; `end` may be null. On error the columns hold anything.
absl::Status DecodeXor(std::string_view chunk, FloatColumns* columns, XorState* end);

}  // namespace narthex::codec
