#include "codec/chunk/histogram_layout.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace narthex::codec {
namespace {

// Powers of two from 2^-243 to 2^10 are one byte: the exponent of 0.5 * 2^e, plus 243.
constexpr int kThresholdBias = 243;
constexpr int kMinThresholdExponent = -242;
constexpr int kMaxThresholdExponent = 11;
constexpr uint8_t kThresholdInFull = 255;

void WriteThreshold(BitWriter* writer, double threshold) {
  if (threshold == 0) return writer->Write(0, 8);
  int exponent = 0;
  const double fraction = std::frexp(threshold, &exponent);
  if (fraction == 0.5 && exponent >= kMinThresholdExponent && exponent <= kMaxThresholdExponent) {
    return writer->Write(static_cast<uint64_t>(exponent + kThresholdBias), 8);
  }
  writer->Write(kThresholdInFull, 8);
  writer->Write(std::bit_cast<uint64_t>(threshold), 64);
}

double ReadThreshold(BitReader& reader) {
  const uint64_t byte = reader.Read(8);
  if (byte == 0) return 0;
  if (byte == kThresholdInFull) return std::bit_cast<double>(reader.Read(64));
  return std::ldexp(0.5, static_cast<int>(byte) - kThresholdBias);
}

void WriteSpans(BitWriter* writer, std::span<const model::BucketSpan> spans) {
  WriteVarbitUnsigned(writer, spans.size());
  for (const model::BucketSpan& span : spans) {
    WriteVarbitUnsigned(writer, span.length);
    WriteVarbitSigned(writer, span.offset);
  }
}

// Adds the spans' buckets to `*num_buckets`.
bool ReadSpans(BitReader& reader, std::vector<model::BucketSpan>* spans, uint64_t* num_buckets) {
  const uint64_t count = ReadVarbitUnsigned(reader);
  // A span takes two bits at least, which bounds the memory that `count` can ask for.
  if (reader.overrun() || count > reader.num_left() / 2) return false;
  spans->resize(count);
  for (model::BucketSpan& span : *spans) {
    span.length = static_cast<uint32_t>(ReadVarbitUnsigned(reader));
    span.offset = static_cast<int32_t>(ReadVarbitSigned(reader));
    *num_buckets += span.length;
  }
  return !reader.overrun();
}

// Bounds that are multiples of 0.001 up to 33554.430 are numbers of up to 25 bits, plus one: 0 says
// that the float follows in full.
constexpr double kMaxShortBound = 33554430;

void WriteBound(BitWriter* writer, double bound) {
  const double scaled = bound * 1000;
  if (scaled >= 0 && scaled <= kMaxShortBound) {
    const double whole = std::round(scaled);
    if (whole / 1000 == bound) {
      return WriteVarbitUnsigned(writer, static_cast<uint64_t>(whole) + 1);
    }
  }
  writer->Write(0, 1);
  writer->Write(std::bit_cast<uint64_t>(bound), 64);
}

bool ReadBounds(BitReader& reader, std::vector<double>* bounds) {
  const uint64_t count = ReadVarbitUnsigned(reader);
  if (reader.overrun() || count > reader.num_left() / 5) return false;
  bounds->resize(count);
  for (double& bound : *bounds) {
    const uint64_t number = ReadVarbitUnsigned(reader);
    bound = number == 0 ? std::bit_cast<double>(reader.Read(64))
                        : static_cast<double>(number - 1) / 1000;
  }
  return !reader.overrun();
}

bool IsKnownSchema(int64_t schema) {
  return schema == model::kCustomBucketsSchema ||
         (schema >= model::kMinReservedSchema && schema <= model::kMaxReservedSchema);
}

}  // namespace

void WriteLayout(BitWriter* writer, const model::HistogramLayout& layout) {
  WriteThreshold(writer, layout.zero_threshold);
  WriteVarbitSigned(writer, layout.schema);
  WriteSpans(writer, layout.positive_spans);
  WriteSpans(writer, layout.negative_spans);
  if (!layout.has_custom_buckets()) return;
  WriteVarbitUnsigned(writer, layout.custom_bounds.size());
  for (const double bound : layout.custom_bounds) WriteBound(writer, bound);
}

bool ReadLayout(BitReader& reader, model::HistogramLayout* layout) {
  layout->zero_threshold = ReadThreshold(reader);
  const int64_t schema = ReadVarbitSigned(reader);
  if (!IsKnownSchema(schema)) return false;
  layout->schema = static_cast<int32_t>(schema);
  uint64_t num_buckets = 0;
  if (!ReadSpans(reader, &layout->positive_spans, &num_buckets)) return false;
  if (!ReadSpans(reader, &layout->negative_spans, &num_buckets)) return false;
  layout->custom_bounds.clear();
  if (layout->has_custom_buckets() && !ReadBounds(reader, &layout->custom_bounds)) return false;
  return num_buckets <= reader.num_left();
}

}  // namespace narthex::codec
