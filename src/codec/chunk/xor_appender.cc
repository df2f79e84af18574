// Writes XOR chunks; the bytes are drawn in float_decoder.cc.
#include <bit>
#include <cstdint>
#include <string>

#include "codec/chunk/bit_stream.h"
#include "codec/chunk/float_decoder.h"
#include "narthex/base/bytes.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"

namespace narthex::codec {
namespace {

void WriteDod(BitWriter* writer, int64_t dod) {
  const auto bits = static_cast<uint64_t>(dod);
  if (dod == 0) return writer->Write(0, 1);
  if (FitsWidth(dod, 14)) return writer->Write(uint64_t{0b10} << 14 | (bits & 0x3fff), 16);
  if (FitsWidth(dod, 17)) return writer->Write(uint64_t{0b110} << 17 | (bits & 0x1ffff), 20);
  if (FitsWidth(dod, 20)) return writer->Write(uint64_t{0b1110} << 20 | (bits & 0xfffff), 24);
  writer->Write(0b1111, 4);
  writer->Write(bits, 64);
}

// Bytes written through the bit stream, as Go's varints are.
void WriteUvarint(BitWriter* writer, uint64_t value) {
  for (; value >= 0x80; value >>= 7) writer->Write(value | 0x80, 8);
  writer->Write(value, 8);
}

void WriteSample(BitWriter* writer, size_t index, int64_t time_ms, double value, XorState* state) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (index == 0) {
    WriteUvarint(writer, base::ZigZag(time_ms));
    writer->Write(bits, 64);
  } else {
    const uint64_t delta_ms =
        static_cast<uint64_t>(time_ms) - static_cast<uint64_t>(state->time_ms);
    if (index == 1) {
      WriteUvarint(writer, delta_ms);
    } else {
      WriteDod(writer, static_cast<int64_t>(delta_ms - state->time_delta_ms));
    }
    WriteXor(writer, bits ^ state->value_bits, &state->window);
    state->time_delta_ms = delta_ms;
  }
  state->time_ms = time_ms;
  state->value_bits = bits;
}

}  // namespace

void EncodeXorChunk(std::span<const int64_t> times_ms, std::span<const double> values,
                    std::string* chunk) {
  NX_CHECK_EQ(times_ms.size(), values.size());
  NX_CHECK(!times_ms.empty() && times_ms.size() <= kMaxChunkSamples);
  chunk->clear();
  base::AppendU16(chunk, static_cast<uint16_t>(times_ms.size()));
  BitWriter writer(chunk, 0);
  XorState state;
  for (size_t i = 0; i < times_ms.size(); ++i) {
    WriteSample(&writer, i, times_ms[i], values[i], &state);
  }
  writer.Finish();
}

absl::StatusOr<XorAppender> XorAppender::Open(std::string* chunk) {
  XorAppender appender(chunk);
  if (chunk->empty()) {
    base::AppendU16(chunk, 0);
    return appender;
  }
  FloatColumns columns;
  XorState state;
  NX_RETURN_IF_ERROR(DecodeXor(*chunk, &columns, &state));
  // Older versions may have left the last byte free.
  if (state.num_bits_left == 8) {
    chunk->pop_back();
    state.num_bits_left = 0;
  }
  if (state.num_bits_left > 8) {
    return base::DataLoss("float chunk: bits after the last sample: ", state.num_bits_left);
  }
  appender.num_samples_ = columns.times_ms.size();
  appender.time_ms_ = state.time_ms;
  appender.time_delta_ms_ = state.time_delta_ms;
  appender.value_bits_ = state.value_bits;
  appender.leading_ = state.window.leading;
  appender.trailing_ = state.window.trailing;
  appender.num_free_bits_ = static_cast<uint8_t>(state.num_bits_left);
  return appender;
}

void XorAppender::Append(int64_t time_ms, double value) {
  NX_CHECK_LT(num_samples_, kMaxChunkSamples);
  XorState state{time_ms_, time_delta_ms_, value_bits_, {leading_, trailing_}, 0};
  BitWriter writer(chunk_, num_free_bits_);
  WriteSample(&writer, num_samples_, time_ms, value, &state);
  num_free_bits_ = writer.Finish();
  ++num_samples_;
  base::StoreBigEndian(chunk_->data(), static_cast<uint16_t>(num_samples_));
  time_ms_ = state.time_ms;
  time_delta_ms_ = state.time_delta_ms;
  value_bits_ = state.value_bits;
  leading_ = state.window.leading;
  trailing_ = state.window.trailing;
}

double XorAppender::last_value() const { return std::bit_cast<double>(value_bits_); }

}  // namespace narthex::codec
