// Records of all types but histograms.
//
//   u8 type | entries of that type back to back; numbers as docs/format/wal.md lists them
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "disk/wal/record_codec.h"
#include "narthex/base/bytes.h"
#include "narthex/base/check.h"
#include "narthex/disk/wal_records.h"

namespace narthex::disk {
namespace {

constexpr std::string_view kUnitField = "UNIT";
constexpr std::string_view kHelpField = "HELP";
// The least a float sample takes: two varints of a byte and the value.
constexpr size_t kMinSampleBytes = 10;

uint8_t TypeByte(RecordType type) { return static_cast<uint8_t>(type); }

bool HasType(base::Reader* reader, RecordType type) { return reader->U8() == TypeByte(type); }

void DecodeSamplesV1(base::Reader* reader, SampleBatch* batch) {
  if (reader->empty()) return;
  const uint64_t base_ref = reader->U64();
  const int64_t base_time_ms = reader->I64();
  batch->samples.resize(reader->remaining() / kMinSampleBytes);
  size_t count = 0;
  while (!reader->empty() && count < batch->samples.size()) {
    model::FloatSample& sample = batch->samples[count++];
    sample.ref = Sum(base_ref, reader->Varint());
    sample.time_ms = Sum(base_time_ms, reader->Varint());
    sample.value = reader->F64();
  }
  if (!reader->empty()) reader->Fail();
  batch->samples.resize(count);
}

void DecodeSamplesV2(base::Reader* reader, SampleBatch* batch) {
  StartTimeFields fields;
  while (!reader->empty()) {
    const StartTimeFields::Fields& next = fields.Next(reader);
    batch->samples.push_back({next.ref, next.time_ms, reader->F64()});
    batch->start_times_ms.push_back(next.start_time_ms);
  }
}

}  // namespace

absl::Status BadRecord(std::string_view what, std::string_view record) {
  const int type = record.empty() ? 0 : static_cast<uint8_t>(record[0]);
  return base::DataLoss("wal: malformed ", what, " record: type=", type, " bytes=", record.size());
}

void AppendLabels(std::string* record, std::span<const model::Label> labels) {
  base::AppendUvarint(record, labels.size());
  for (const model::Label& label : labels) {
    base::AppendLengthPrefixed(record, label.name);
    base::AppendLengthPrefixed(record, label.value);
  }
}

void ReadLabels(base::Reader* reader, std::vector<model::Label>* labels) {
  const uint64_t count = reader->Uvarint();
  for (uint64_t i = 0; i < count && reader->ok(); ++i) {
    const std::string_view name = reader->LengthPrefixed();
    const std::string_view value = reader->LengthPrefixed();
    if (reader->ok()) labels->push_back({name, value});
  }
}

const StartTimeFields::Fields& StartTimeFields::Next(base::Reader* reader) {
  constexpr uint8_t kNone = 0;
  constexpr uint8_t kSame = 1;
  if (!has_first_) {
    has_first_ = true;
    first_.ref = static_cast<uint64_t>(reader->Varint());
    first_.time_ms = reader->Varint();
    first_.start_time_ms = reader->Varint();
    last_ = first_;
    return last_;
  }
  last_.ref = Sum(last_.ref, reader->Varint());
  last_.time_ms = Sum(first_.time_ms, reader->Varint());
  const uint8_t marker = reader->U8();
  if (marker == kNone) {
    last_.start_time_ms = 0;
  } else if (marker != kSame) {
    last_.start_time_ms = Sum(first_.start_time_ms, reader->Varint());
  }
  return last_;
}

RecordType TypeOfRecord(std::string_view record) {
  if (record.empty()) return RecordType::kUnknown;
  const auto type = static_cast<uint8_t>(record[0]);
  return type <= TypeByte(RecordType::kFloatHistogramsV2) ? static_cast<RecordType>(type)
                                                          : RecordType::kUnknown;
}

void EncodeSeries(std::span<const SeriesToLog> series, std::string* record) {
  base::AppendU8(record, TypeByte(RecordType::kSeries));
  for (const SeriesToLog& one : series) {
    base::AppendU64(record, one.ref);
    AppendLabels(record, one.labels);
  }
}

absl::Status DecodeSeries(std::string_view record, SeriesBatch* batch) {
  batch->series.clear();
  batch->labels.clear();
  base::Reader reader(record);
  if (!HasType(&reader, RecordType::kSeries)) return BadRecord("series", record);
  while (!reader.empty()) {
    const auto first_label = static_cast<uint32_t>(batch->labels.size());
    const uint64_t ref = reader.U64();
    ReadLabels(&reader, &batch->labels);
    const auto num_labels = static_cast<uint32_t>(batch->labels.size() - first_label);
    if (reader.ok()) batch->series.push_back({ref, first_label, num_labels});
  }
  return Done(reader, "series", record);
}

void EncodeSamples(std::span<const model::FloatSample> samples, std::string* record) {
  NumberWriter writer(record);
  writer.U8(TypeByte(RecordType::kSamples));
  if (!samples.empty()) {
    const model::FloatSample& first = samples.front();
    writer.U64(first.ref);
    writer.U64(static_cast<uint64_t>(first.time_ms));
    for (const model::FloatSample& sample : samples) {
      writer.Varint(Difference(sample.ref, first.ref));
      writer.Varint(Difference(sample.time_ms, first.time_ms));
      writer.F64(sample.value);
    }
  }
  writer.Flush();
}

absl::Status DecodeSamples(std::string_view record, SampleBatch* batch) {
  batch->samples.clear();
  batch->start_times_ms.clear();
  base::Reader reader(record);
  const uint8_t type = reader.U8();
  if (type == TypeByte(RecordType::kSamples)) {
    DecodeSamplesV1(&reader, batch);
  } else if (type == TypeByte(RecordType::kSamplesV2)) {
    DecodeSamplesV2(&reader, batch);
  } else {
    reader.Fail();
  }
  return Done(reader, "samples", record);
}

void EncodeTombstones(std::span<const Tombstone> tombstones, std::string* record) {
  NumberWriter writer(record);
  writer.U8(TypeByte(RecordType::kTombstones));
  for (const Tombstone& tombstone : tombstones) {
    writer.U64(tombstone.ref);
    writer.Varint(tombstone.min_time_ms);
    writer.Varint(tombstone.max_time_ms);
  }
  writer.Flush();
}

absl::Status DecodeTombstones(std::string_view record, std::vector<Tombstone>* tombstones) {
  tombstones->clear();
  base::Reader reader(record);
  if (!HasType(&reader, RecordType::kTombstones)) return BadRecord("tombstones", record);
  while (!reader.empty()) {
    const uint64_t ref = reader.U64();
    const int64_t min_time_ms = reader.Varint();
    tombstones->push_back({ref, min_time_ms, reader.Varint()});
  }
  return Done(reader, "tombstones", record);
}

void EncodeExemplars(std::span<const RefExemplar> exemplars, std::string* record) {
  base::AppendU8(record, TypeByte(RecordType::kExemplars));
  if (exemplars.empty()) return;
  const RefExemplar& first = exemplars.front();
  base::AppendU64(record, first.ref);
  base::AppendI64(record, first.exemplar.time_ms);
  for (const RefExemplar& one : exemplars) {
    base::AppendVarint(record, Difference(one.ref, first.ref));
    base::AppendVarint(record, Difference(one.exemplar.time_ms, first.exemplar.time_ms));
    base::AppendF64(record, one.exemplar.value);
    AppendLabels(record, one.exemplar.labels.Views());
  }
}

absl::Status DecodeExemplars(std::string_view record, std::vector<RefExemplar>* exemplars) {
  exemplars->clear();
  base::Reader reader(record);
  if (!HasType(&reader, RecordType::kExemplars)) return BadRecord("exemplars", record);
  if (reader.empty()) return absl::OkStatus();
  const uint64_t base_ref = reader.U64();
  const int64_t base_time_ms = reader.I64();
  std::vector<model::Label> labels;
  while (!reader.empty()) {
    RefExemplar& one = exemplars->emplace_back();
    one.ref = Sum(base_ref, reader.Varint());
    one.exemplar.has_time = true;
    one.exemplar.time_ms = Sum(base_time_ms, reader.Varint());
    one.exemplar.value = reader.F64();
    labels.clear();
    ReadLabels(&reader, &labels);
    one.exemplar.labels = model::Labels::FromPairs(labels);
  }
  return Done(reader, "exemplars", record);
}

void EncodeMetadata(std::span<const RefMetadata> metadata, std::string* record) {
  base::AppendU8(record, TypeByte(RecordType::kMetadata));
  for (const RefMetadata& one : metadata) {
    base::AppendUvarint(record, one.ref);
    base::AppendU8(record, static_cast<uint8_t>(one.type));
    base::AppendUvarint(record, 2);  // Fields.
    base::AppendLengthPrefixed(record, kUnitField);
    base::AppendLengthPrefixed(record, one.unit);
    base::AppendLengthPrefixed(record, kHelpField);
    base::AppendLengthPrefixed(record, one.help);
  }
}

absl::Status DecodeMetadata(std::string_view record, std::vector<RefMetadata>* metadata) {
  metadata->clear();
  base::Reader reader(record);
  if (!HasType(&reader, RecordType::kMetadata)) return BadRecord("metadata", record);
  while (!reader.empty()) {
    RefMetadata& one = metadata->emplace_back();
    one.ref = reader.Uvarint();
    const uint8_t type = reader.U8();
    if (type <= static_cast<uint8_t>(model::MetricType::kStateset)) {
      one.type = static_cast<model::MetricType>(type);
    }
    const uint64_t num_fields = reader.Uvarint();
    for (uint64_t i = 0; i < num_fields && reader.ok(); ++i) {
      const std::string_view name = reader.LengthPrefixed();
      const std::string_view text = reader.LengthPrefixed();
      if (name == kUnitField) one.unit = text;
      if (name == kHelpField) one.help = text;
    }
  }
  return Done(reader, "metadata", record);
}

void EncodeMmapMarkers(std::span<const MmapMarker> markers, std::string* record) {
  base::AppendU8(record, TypeByte(RecordType::kMmapMarkers));
  for (const MmapMarker& marker : markers) {
    base::AppendU64(record, marker.ref);
    base::AppendU64(record, marker.chunk.packed());
  }
}

absl::Status DecodeMmapMarkers(std::string_view record, std::vector<MmapMarker>* markers) {
  markers->clear();
  base::Reader reader(record);
  if (!HasType(&reader, RecordType::kMmapMarkers)) return BadRecord("m-map markers", record);
  while (!reader.empty()) {
    const uint64_t ref = reader.U64();
    markers->push_back({ref, HeadChunkRef::FromPacked(reader.U64())});
  }
  return Done(reader, "m-map markers", record);
}

}  // namespace narthex::disk
