// How a chunk's bytes are coded. Formats: docs/format/chunks.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace narthex::codec {

// On disk: never renumber.
enum class ChunkEncoding : uint8_t {
  kXor = 1,               // Floats.
  kHistogram = 2,         // Integer native histograms.
  kFloatHistogram = 3,    // Float native histograms.
  kXor2 = 4,              // Floats with start times; read only.
  kHistogramSt = 5,       // As kHistogram, with start times; read only.
  kFloatHistogramSt = 6,  // As kFloatHistogram, with start times; read only.
};

// nullopt if no encoding has the number.
inline std::optional<ChunkEncoding> ChunkEncodingOf(uint8_t number) {
  if (number < 1 || number > 6) return std::nullopt;
  return static_cast<ChunkEncoding>(number);
}
inline bool IsFloatEncoding(ChunkEncoding encoding) {
  return encoding == ChunkEncoding::kXor || encoding == ChunkEncoding::kXor2;
}

// Samples in a chunk by its header; 0 if the chunk is too short to have one. Untrusted: a decoder
// checks it against the bytes.
size_t NumChunkSamples(ChunkEncoding encoding, std::string_view chunk);

// The most samples a chunk written here may have (the header's count has 16 bits).
inline constexpr size_t kMaxChunkSamples = 65535;

}  // namespace narthex::codec
