// Records of histograms. One histogram, integer or float:
//
//   u8 hint | varint schema | f64 zero threshold | zero count, count | f64 sum
//   | spans, positive and negative: count, then offset and length of each
//   | buckets, positive and negative: count, then each | bounds (schema -53): count, then f64 each
//
// Counts and buckets of integer histograms are varints, the latter as difference to the bucket
// before; those of float histograms are f64 and absolute, and the zero count comes first in both.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "disk/wal/record_codec.h"
#include "narthex/base/check.h"
#include "narthex/disk/wal_records.h"

namespace narthex::disk {
namespace {

using model::BucketSpan;
using model::HistogramLayout;

template <typename H>
constexpr bool kIsInteger = std::is_same_v<H, model::Histogram>;

// Record types of one kind of histogram.
template <typename H>
struct Types {
  static constexpr RecordType kExponential =
      kIsInteger<H> ? RecordType::kHistograms : RecordType::kFloatHistograms;
  static constexpr RecordType kCustom =
      kIsInteger<H> ? RecordType::kCustomHistograms : RecordType::kCustomFloatHistograms;
  static constexpr RecordType kV2 =
      kIsInteger<H> ? RecordType::kHistogramsV2 : RecordType::kFloatHistogramsV2;
};

void WriteSpans(NumberWriter* writer, std::span<const BucketSpan> spans) {
  writer->Uvarint(spans.size());
  for (const BucketSpan& span : spans) {
    writer->Varint(span.offset);
    writer->Uvarint(span.length);
  }
}

void WriteBuckets(NumberWriter* writer, std::span<const int64_t> buckets) {
  writer->Uvarint(buckets.size());
  int64_t before = 0;
  for (const int64_t bucket : buckets) {
    writer->Varint(Difference(bucket, before));
    before = bucket;
  }
}
void WriteBuckets(NumberWriter* writer, std::span<const double> buckets) {
  writer->Uvarint(buckets.size());
  for (const double bucket : buckets) writer->F64(bucket);
}

void WriteCount(NumberWriter* writer, uint64_t count) { writer->Uvarint(count); }
void WriteCount(NumberWriter* writer, double count) { writer->F64(count); }

// A staleness marker may have no layout.
const HistogramLayout& LayoutOf(const model::LayoutPtr& layout) {
  return layout != nullptr ? *layout : *model::EmptyLayout();
}

template <typename H>
void WriteHistogram(NumberWriter* writer, const H& histogram) {
  const HistogramLayout& layout = LayoutOf(histogram.layout);
  const std::span buckets(histogram.buckets);
  const size_t num_positive = layout.num_positive();
  NX_CHECK_EQ(buckets.size(), layout.num_buckets());
  writer->U8(static_cast<uint8_t>(histogram.hint));
  writer->Varint(layout.schema);
  writer->F64(layout.zero_threshold);
  WriteCount(writer, histogram.zero_count);
  WriteCount(writer, histogram.count);
  writer->F64(histogram.sum);
  WriteSpans(writer, layout.positive_spans);
  WriteSpans(writer, layout.negative_spans);
  WriteBuckets(writer, buckets.first(num_positive));
  WriteBuckets(writer, buckets.subspan(num_positive));
  if (!layout.has_custom_buckets()) return;
  writer->Uvarint(layout.custom_bounds.size());
  for (const double bound : layout.custom_bounds) writer->F64(bound);
}

template <typename H>
void EncodeSome(std::span<const HistogramToLog<H>> histograms, bool custom, std::string* record) {
  NumberWriter writer(record);
  const HistogramToLog<H>* first = nullptr;
  for (const HistogramToLog<H>& one : histograms) {
    if (LayoutOf(one.histogram->layout).has_custom_buckets() != custom) continue;
    if (first == nullptr) {
      first = &one;
      writer.U8(static_cast<uint8_t>(custom ? Types<H>::kCustom : Types<H>::kExponential));
      writer.U64(first->ref);
      writer.U64(static_cast<uint64_t>(first->time_ms));
    }
    writer.Varint(Difference(one.ref, first->ref));
    writer.Varint(Difference(one.time_ms, first->time_ms));
    WriteHistogram(&writer, *one.histogram);
  }
  writer.Flush();
}

void ReadSpans(base::Reader* reader, std::vector<BucketSpan>* spans, uint64_t* num_buckets) {
  spans->clear();
  const uint64_t count = reader->Uvarint();
  for (uint64_t i = 0; i < count && reader->ok(); ++i) {
    const auto offset = static_cast<int32_t>(reader->Varint());
    spans->push_back({offset, reader->Uvarint32()});
    *num_buckets += spans->back().length;
  }
}

// Reads as many buckets as the spans have, or fails.
template <typename Bucket>
void ReadBuckets(base::Reader* reader, uint64_t num_buckets, std::vector<Bucket>* buckets) {
  constexpr size_t kMinBytes = std::is_integral_v<Bucket> ? 1 : 8;
  if (reader->Uvarint() != num_buckets || num_buckets > reader->remaining() / kMinBytes) {
    return reader->Fail();
  }
  int64_t running = 0;
  for (uint64_t i = 0; i < num_buckets; ++i) {
    if constexpr (std::is_integral_v<Bucket>) {
      running = Sum(running, reader->Varint());
      buckets->push_back(running);
    } else {
      buckets->push_back(reader->F64());
    }
  }
}

// Shares layouts between the histograms of a record: most are like one of the last few.
class RecentLayouts {
 public:
  model::LayoutPtr Share(const HistogramLayout& layout) {
    for (const model::LayoutPtr& one : recent_) {
      if (one != nullptr && *one == layout) return one;
    }
    next_ = (next_ + 1) % std::size(recent_);
    return recent_[next_] = std::make_shared<const HistogramLayout>(layout);
  }

 private:
  model::LayoutPtr recent_[8];
  size_t next_ = 0;
};

template <typename H>
class HistogramReader {
 public:
  explicit HistogramReader(base::Reader* reader) : reader_(reader) {}

  // False: the schema is not known, or the record is malformed.
  bool Read(H* histogram) {
    const uint8_t hint = reader_->U8();
    histogram->hint = hint <= static_cast<uint8_t>(model::CounterResetHint::kGauge)
                          ? static_cast<model::CounterResetHint>(hint)
                          : model::CounterResetHint::kUnknown;
    layout_.schema = static_cast<int32_t>(reader_->Varint());
    layout_.zero_threshold = reader_->F64();
    ReadCount(&histogram->zero_count);
    ReadCount(&histogram->count);
    histogram->sum = reader_->F64();
    uint64_t num_positive = 0;
    uint64_t num_negative = 0;
    ReadSpans(reader_, &layout_.positive_spans, &num_positive);
    ReadSpans(reader_, &layout_.negative_spans, &num_negative);
    histogram->buckets.clear();
    ReadBuckets(reader_, num_positive, &histogram->buckets);
    ReadBuckets(reader_, num_negative, &histogram->buckets);
    ReadBounds();
    if (!reader_->ok() || !IsKnownSchema(layout_.schema)) return false;
    histogram->layout = layouts_.Share(layout_);
    if (layout_.schema > model::kMaxExponentialSchema) {
      // Slow path: from a newer version.
      model::ReduceResolution(histogram, model::kMaxExponentialSchema);
    }
    return true;
  }

 private:
  void ReadCount(uint64_t* count) { *count = reader_->Uvarint(); }
  void ReadCount(double* count) { *count = reader_->F64(); }
  void ReadBounds() {
    layout_.custom_bounds.clear();
    if (!layout_.has_custom_buckets()) return;
    const uint64_t count = reader_->Uvarint();
    if (count > reader_->remaining() / sizeof(double)) return reader_->Fail();
    for (uint64_t i = 0; i < count; ++i) layout_.custom_bounds.push_back(reader_->F64());
  }
  static bool IsKnownSchema(int32_t schema) {
    return schema == model::kCustomBucketsSchema ||
           (schema >= model::kMinReservedSchema && schema <= model::kMaxReservedSchema);
  }

  base::Reader* const reader_;
  HistogramLayout layout_;  // Scratch.
  RecentLayouts layouts_;
};

template <typename H>
void DecodeSome(base::Reader* reader, bool with_start_times, HistogramBatch<H>* batch) {
  if (reader->empty()) return;
  HistogramReader<H> histograms(reader);
  StartTimeFields fields;
  const uint64_t base_ref = with_start_times ? 0 : reader->U64();
  const int64_t base_time_ms = with_start_times ? 0 : reader->I64();
  size_t count = 0;  // Samples are reused from record to record, with their memory.
  while (!reader->empty()) {
    if (count == batch->samples.size()) batch->samples.emplace_back();
    typename HistogramBatch<H>::Sample& sample = batch->samples[count];
    if (with_start_times) {
      const StartTimeFields::Fields& next = fields.Next(reader);
      sample.ref = next.ref;
      sample.time_ms = next.time_ms;
      sample.start_time_ms = next.start_time_ms;
    } else {
      sample.ref = Sum(base_ref, reader->Varint());
      sample.time_ms = Sum(base_time_ms, reader->Varint());
      sample.start_time_ms = 0;
    }
    if (histograms.Read(&sample.histogram)) {
      ++count;
    } else if (reader->ok()) {
      ++batch->num_unknown_schemas;
    }
  }
  batch->samples.resize(count);
}

template <typename H>
absl::Status DecodeImpl(std::string_view record, HistogramBatch<H>* batch) {
  batch->num_unknown_schemas = 0;
  base::Reader reader(record);
  const RecordType type = TypeOfRecord(record);
  reader.U8();
  if (type == Types<H>::kExponential || type == Types<H>::kCustom || type == Types<H>::kV2) {
    if (reader.empty()) batch->samples.clear();
    DecodeSome(&reader, type == Types<H>::kV2, batch);
  } else {
    reader.Fail();
    batch->samples.clear();
  }
  return Done(reader, "histograms", record);
}

}  // namespace

void EncodeHistograms(std::span<const HistogramToLog<model::Histogram>> histograms,
                      std::string* exponential, std::string* custom) {
  EncodeSome(histograms, false, exponential);
  EncodeSome(histograms, true, custom);
}
void EncodeHistograms(std::span<const HistogramToLog<model::FloatHistogram>> histograms,
                      std::string* exponential, std::string* custom) {
  EncodeSome(histograms, false, exponential);
  EncodeSome(histograms, true, custom);
}

absl::Status DecodeHistograms(std::string_view record, HistogramBatch<model::Histogram>* batch) {
  return DecodeImpl(record, batch);
}
absl::Status DecodeHistograms(std::string_view record,
                              HistogramBatch<model::FloatHistogram>* batch) {
  return DecodeImpl(record, batch);
}

}  // namespace narthex::disk
