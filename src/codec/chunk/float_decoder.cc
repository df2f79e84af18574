// Float chunks to columns. Most of the time goes into branches that the processor cannot foresee,
// so the XOR kernel looks at the window once per decision: a run of samples whose time step and
// value both stay is one count of leading zeroes, a prefix one count of leading ones.
//
//   XOR    u16 count | varint t0, f64 v0 | uvarint t1-t0, xor | dod, xor | dod, xor | ...
//   XOR2   u16 count, u8 start times | the same with one prefix for dod and value together
#include "codec/chunk/float_decoder.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "codec/chunk/bit_stream.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

constexpr size_t kXorHeaderBytes = 2;
constexpr size_t kXor2HeaderBytes = 3;

// Width of a delta of deltas by the number of ones before it; 64 is read apart.
constexpr uint8_t kDodWidths[] = {0, 14, 17, 20, 64};
constexpr int kMaxDodOnes = 4;

// Writes samples 2 and on. False: an impossible window. By value in, by value out: the reader and
// the state stay in registers.
struct XorRun {
  BitReader reader;
  XorState state;
  bool ok = true;
};

XorRun DecodeXorRun(XorRun run, int64_t* times_ms, double* values, size_t num_samples) {
  BitReader reader = run.reader;
  auto time_ms = static_cast<uint64_t>(run.state.time_ms);
  uint64_t delta_ms = run.state.time_delta_ms;
  uint64_t bits = run.state.value_bits;
  int significant = 64 - (run.state.window.leading == XorWindow::kNone
                              ? 0
                              : run.state.window.leading + run.state.window.trailing);
  int trailing = run.state.window.trailing;
  bool has_window = run.state.window.leading != XorWindow::kNone;

  for (size_t i = 0; i < num_samples;) {
    reader.Refill();
    const int zeroes = std::min(std::countl_zero(reader.window()), reader.num_valid());
    if (zeroes >= 2) {
      // Fast path: two zero bits are a sample with the same step and the same value.
      const size_t same = std::min(static_cast<size_t>(zeroes) / 2, num_samples - i);
      const double value = std::bit_cast<double>(bits);
      for (size_t end = i + same; i < end; ++i) {
        time_ms += delta_ms;
        times_ms[i] = static_cast<int64_t>(time_ms);
        values[i] = value;
      }
      reader.Skip(static_cast<int>(2 * same));
      continue;
    }
    if (zeroes == 1) {
      reader.Skip(1);
    } else {
      const int ones = CountOnes(reader, kMaxDodOnes);
      reader.Skip(ones + (ones < kMaxDodOnes));
      const int width = kDodWidths[ones];
      const uint64_t raw = width == 64 ? reader.Read(64) : reader.Take(width);
      if (width == 64) reader.Refill();
      delta_ms += static_cast<uint64_t>(SignedOfWidth(raw, width));
    }
    time_ms += delta_ms;
    times_ms[i] = static_cast<int64_t>(time_ms);

    // At least 32 bits are left here: enough for the 13 of a new window.
    if (static_cast<int64_t>(reader.window()) >= 0) {
      reader.Skip(1);
    } else {
      if ((reader.window() >> 62) == 0b11) {
        const auto header = static_cast<int>(reader.window() >> 51 & 0x7ff);
        const int leading = header >> 6;
        significant = ((header - 1) & 63) + 1;
        trailing = 64 - leading - significant;
        if (trailing < 0) return {reader, {}, false};
        has_window = true;
        reader.Skip(13);
      } else {
        reader.Skip(2);
      }
      if (significant > reader.num_valid()) reader.Refill();
      const uint64_t delta =
          significant <= 56 ? reader.Take(significant) : reader.Read(significant);
      bits ^= delta << trailing;
    }
    values[i] = std::bit_cast<double>(bits);
    ++i;
  }
  const XorWindow window = has_window ? XorWindow{static_cast<uint8_t>(64 - significant - trailing),
                                                  static_cast<uint8_t>(trailing)}
                                      : XorWindow{};
  return {reader, {static_cast<int64_t>(time_ms), delta_ms, bits, window}, true};
}

absl::Status Malformed(std::string_view reason, size_t num_samples, size_t num_bytes) {
  return base::DataLoss("float chunk: ", reason, ": samples=", num_samples, " bytes=", num_bytes);
}

// The value part of an XOR2 sample whose time changed. `baseline` is the last value that was no
// staleness marker.
bool ReadXor2Value(BitReader& reader, XorWindow& window, uint64_t& baseline, uint64_t& value);

// `kind`: 0 reuses the window, 1 brings a new one.
bool ReadXor2Bits(BitReader& reader, uint64_t kind, XorWindow& window, uint64_t& baseline) {
  if (kind == 1) {
    reader.Refill();
    const auto leading = static_cast<int>(reader.Take(5));
    const auto field = static_cast<int>(reader.Take(6));
    const int significant = field == 0 ? 64 : field;
    if (leading + significant > 64) return false;
    window = {static_cast<uint8_t>(leading), static_cast<uint8_t>(64 - leading - significant)};
  }
  const int leading = window.leading == XorWindow::kNone ? 0 : window.leading;
  baseline ^= reader.Read(64 - leading - window.trailing) << window.trailing;
  return true;
}

bool ReadXor2Value(BitReader& reader, XorWindow& window, uint64_t& baseline, uint64_t& value) {
  reader.Refill();
  const int ones = CountOnes(reader, 3);
  reader.Skip(ones + (ones < 3));
  if (ones == 3) {
    value = model::kStaleNanBits;
    return true;
  }
  if (ones > 0 && !ReadXor2Bits(reader, ones == 2 ? 1 : 0, window, baseline)) return false;
  value = baseline;
  return true;
}

// One sample from the third on. False: an impossible window.
bool ReadXor2Sample(BitReader& reader, uint64_t& delta_ms, XorWindow& window, uint64_t& baseline,
                    uint64_t& value) {
  constexpr int kMaxOnes = 5;
  constexpr uint8_t kWidths[] = {0, 0, 13, 20, 64, 0};
  reader.Refill();
  const int ones = CountOnes(reader, kMaxOnes);
  reader.Skip(ones + (ones < kMaxOnes));
  switch (ones) {
    case 0:
      value = baseline;
      return true;
    case 1: {
      if (!ReadXor2Bits(reader, reader.Take(1), window, baseline)) return false;
      value = baseline;
      return true;
    }
    case kMaxOnes:
      value = model::kStaleNanBits;
      return true;
    default: {
      const int width = kWidths[ones];
      uint64_t step = reader.Read(width);
      // Plain two's complement here, unlike XOR.
      if (width < 64 && step >> (width - 1) != 0) step -= uint64_t{1} << width;
      delta_ms += step;
      return ReadXor2Value(reader, window, baseline, value);
    }
  }
}

// A varint written through the bit stream.
uint64_t ReadUvarint(BitReader& reader) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = reader.Read(8);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

absl::Status DecodeXor2(std::string_view chunk, FloatColumns* columns) {
  const size_t num_samples = NumChunkSamples(ChunkEncoding::kXor2, chunk);
  if (chunk.size() < kXor2HeaderBytes) return Malformed("no header", 0, chunk.size());
  const auto start_header = static_cast<uint8_t>(chunk[2]);
  const size_t first_start_change = start_header & 0x7f;
  BitReader reader(chunk.substr(kXor2HeaderBytes));
  // A sample is at least one bit.
  if (num_samples > (chunk.size() - kXor2HeaderBytes) * 8) {
    return Malformed("too short", num_samples, chunk.size());
  }
  columns->times_ms.resize(num_samples);
  columns->values.resize(num_samples);
  uint64_t time_ms = 0, delta_ms = 0, baseline = 0, value = 0;
  XorWindow window;
  for (size_t i = 0; i < num_samples; ++i) {
    if (i == 0) {
      time_ms = static_cast<uint64_t>(base::UnZigZag(ReadUvarint(reader)));
      value = reader.Read(64);
      if (value != model::kStaleNanBits) baseline = value;
      if (start_header & 0x80) ReadUvarint(reader);
    } else {
      bool ok = true;
      if (i == 1) {
        delta_ms = ReadUvarint(reader);
        ok = ReadXor2Value(reader, window, baseline, value);
      } else {
        ok = ReadXor2Sample(reader, delta_ms, window, baseline, value);
      }
      if (!ok) return Malformed("bad window", num_samples, chunk.size());
      time_ms += delta_ms;
      if (first_start_change != 0 && i >= first_start_change) ReadVarbitSigned(reader);
    }
    columns->times_ms[i] = static_cast<int64_t>(time_ms);
    columns->values[i] = std::bit_cast<double>(value);
  }
  if (reader.overrun()) return Malformed("too short", num_samples, chunk.size());
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeXor(std::string_view chunk, FloatColumns* columns, XorState* end) {
  const size_t num_samples = NumChunkSamples(ChunkEncoding::kXor, chunk);
  if (chunk.size() < kXorHeaderBytes) return Malformed("no header", 0, chunk.size());
  // From the third on a sample is at least two bits.
  if (num_samples > chunk.size() * 4) return Malformed("too short", num_samples, chunk.size());
  columns->times_ms.resize(num_samples);
  columns->values.resize(num_samples);
  XorState state;
  size_t num_left = num_samples;
  // The first sample and the second's step are whole bytes.
  base::Reader bytes(chunk.substr(kXorHeaderBytes));
  if (num_samples > 0) {
    state.time_ms = bytes.Varint();
    state.value_bits = bytes.U64();
    columns->times_ms[0] = state.time_ms;
    columns->values[0] = std::bit_cast<double>(state.value_bits);
    --num_left;
  }
  if (num_samples > 1) {
    state.time_delta_ms = bytes.Uvarint();
    state.time_ms =
        static_cast<int64_t>(static_cast<uint64_t>(state.time_ms) + state.time_delta_ms);
  }
  if (!bytes.ok()) return Malformed("too short", num_samples, chunk.size());
  BitReader reader(bytes.rest());
  if (num_samples > 1) {
    uint64_t delta = 0;
    if (!ReadXor(reader, state.window, delta)) {
      return Malformed("bad window", num_samples, chunk.size());
    }
    state.value_bits ^= delta;
    columns->times_ms[1] = state.time_ms;
    columns->values[1] = std::bit_cast<double>(state.value_bits);
    --num_left;
  }
  const size_t num_read = num_samples - num_left;
  const XorRun run = DecodeXorRun({reader, state}, columns->times_ms.data() + num_read,
                                  columns->values.data() + num_read, num_left);
  if (!run.ok) return Malformed("bad window", num_samples, chunk.size());
  if (run.reader.overrun()) return Malformed("too short", num_samples, chunk.size());
  if (end != nullptr) {
    *end = run.state;
    end->num_bits_left = run.reader.num_left();
  }
  return absl::OkStatus();
}

absl::Status DecodeFloatChunk(ChunkEncoding encoding, std::string_view chunk,
                              FloatColumns* columns) {
  absl::Status status;
  switch (encoding) {
    case ChunkEncoding::kXor:
      status = DecodeXor(chunk, columns, nullptr);
      break;
    case ChunkEncoding::kXor2:
      status = DecodeXor2(chunk, columns);
      break;
    default:
      status = base::InvalidArgument("not a float chunk: encoding=", static_cast<int>(encoding));
  }
  if (!status.ok()) {
    columns->times_ms.clear();
    columns->values.clear();
  }
  return status;
}

}  // namespace narthex::codec
