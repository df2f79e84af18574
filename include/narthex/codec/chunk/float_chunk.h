// Chunks of float samples (encodings 1 and 4, docs/format/chunks.md): timestamps as deltas of
// deltas, values as XOR with their predecessor. Written sample by sample or as whole columns, read
// as whole columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/codec/chunk/encoding.h"

namespace narthex::codec {

// The samples of one chunk; both columns have the same size. Reused from chunk to chunk.
struct FloatColumns {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

// Replaces `*columns` with all samples of `chunk`; ~1 to 7 ns a sample. kInvalidArgument: not a
// float encoding; kDataLoss: bad bytes (then `*columns` is empty).
absl::Status DecodeFloatChunk(ChunkEncoding encoding, std::string_view chunk,
                              FloatColumns* columns);

// Replaces `*chunk` with an XOR chunk of the samples.
// REQUIRES: equal sizes, 1 to kMaxChunkSamples samples.
void EncodeXorChunk(std::span<const int64_t> times_ms, std::span<const double> values,
                    std::string* chunk);

// Appends samples to one XOR chunk; the chunk is complete after every call.
// Thread-compatible.
class XorAppender {
 public:
  // Continues `*chunk`, or starts it if empty. The caller owns it, keeps it alive as long as the
  // appender, and changes it no other way. kDataLoss: the bytes are no XOR chunk.
  static absl::StatusOr<XorAppender> Open(std::string* chunk);

  // REQUIRES: num_samples() < kMaxChunkSamples.
  void Append(int64_t time_ms, double value);

  size_t num_samples() const { return num_samples_; }
  // REQUIRES: num_samples() > 0.
  int64_t last_time_ms() const { return time_ms_; }
  double last_value() const;

 private:
  explicit XorAppender(std::string* chunk) : chunk_(chunk) {}

  std::string* chunk_;
  size_t num_samples_ = 0;
  int64_t time_ms_ = 0;
  uint64_t time_delta_ms_ = 0;
  uint64_t value_bits_ = 0;
  // Window of significant bits of the last XOR written in full; kNoWindow before the first.
  uint8_t leading_ = kNoWindow;
  uint8_t trailing_ = 0;
  uint8_t num_free_bits_ = 0;  // Of the chunk's last byte.

  static constexpr uint8_t kNoWindow = 0xff;
};

}  // namespace narthex::codec
