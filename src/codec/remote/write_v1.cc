// prometheus.WriteRequest on the wire:
//
//   WriteRequest { 1 timeseries*, 3 metadata* }
//   TimeSeries   { 1 labels*, 2 samples*, 3 exemplars*, 4 histograms* }
//
// Senders write a series' labels first and in one piece; that piece names the series to whoever has
// seen it before.
#include "narthex/codec/remote/write_v1.h"

#include "codec/remote/write_histogram.h"
#include "codec/wire/field_reader.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr WireType kVarint = WireType::kVarint;
constexpr WireType kFixed64 = WireType::kFixed64;
constexpr WireType kBytes = WireType::kBytes;

absl::Status DecodeLabel(std::string_view bytes, model::Label* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.tag() == Tag(1, kBytes)) {
      out->name = fields.bytes();
    } else if (fields.tag() == Tag(2, kBytes)) {
      out->value = fields.bytes();
    } else if (fields.number() <= 2) {
      return WrongWireType("Label", fields);
    }
  }
  return fields.status();
}

absl::Status DecodeSample(std::string_view bytes, WriteSample* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.tag() == Tag(1, kFixed64)) {
      out->value = fields.float64();
    } else if (fields.tag() == Tag(2, kVarint)) {
      out->time_ms = fields.int64();
    } else if (fields.number() <= 2) {
      return WrongWireType("Sample", fields);
    }
  }
  return fields.status();
}

absl::Status DecodeExemplar(std::string_view bytes, model::Exemplar* out) {
  std::vector<model::Label> labels;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kBytes):
        NX_RETURN_IF_ERROR(DecodeLabel(fields.bytes(), &labels.emplace_back()));
        break;
      case Tag(2, kFixed64):
        out->value = fields.float64();
        break;
      case Tag(3, kVarint):
        out->time_ms = fields.int64();
        break;
      default:
        if (fields.number() <= 3) return WrongWireType("Exemplar", fields);
        break;
    }
  }
  out->labels = model::Labels::FromPairs(std::move(labels));
  out->has_time = out->time_ms != 0;
  return fields.status();
}

absl::Status DecodeMetadata(std::string_view bytes, WriteMetadata* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->type = fields.varint() <= static_cast<uint64_t>(model::MetricType::kStateset)
                        ? static_cast<model::MetricType>(fields.varint())
                        : model::MetricType::kUnknown;
        break;
      case Tag(2, kBytes):
        out->family = fields.bytes();
        break;
      case Tag(4, kBytes):
        out->help = fields.bytes();
        break;
      case Tag(5, kBytes):
        out->unit = fields.bytes();
        break;
      default:
        if (fields.number() <= 5 && fields.number() != 3) {
          return WrongWireType("MetricMetadata", fields);
        }
        break;
    }
  }
  return fields.status();
}

// Where the encoded labels lie. They are in one piece as long as no other field is among them.
class LabelsExtent {
 public:
  // Call for each field in turn with the place after it.
  void AddField(bool is_label, std::string_view series, const char* end) {
    if (is_label) {
      if (begin_ == nullptr) begin_ = last_end_ == nullptr ? series.data() : last_end_;
      if (ended_) in_pieces_ = true;
      end_ = end;
    } else if (begin_ != nullptr) {
      ended_ = true;
    }
    last_end_ = end;
  }
  std::string_view bytes() const {
    if (in_pieces_ || begin_ == nullptr) return {};
    return {begin_, static_cast<size_t>(end_ - begin_)};
  }

 private:
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  const char* last_end_ = nullptr;
  bool ended_ = false;
  bool in_pieces_ = false;
};

absl::Status DecodeSeries(std::string_view bytes, WriteSeries* out) {
  out->bytes = bytes;
  out->samples.clear();
  out->exemplars.clear();
  out->histograms.clear();
  LabelsExtent extent;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const bool is_bytes = fields.tag() == Tag(fields.number(), kBytes);
    if (fields.number() <= 4 && !is_bytes) return WrongWireType("TimeSeries", fields);
    extent.AddField(fields.number() == 1, bytes, fields.position());
    switch (fields.number()) {
      case 2:
        NX_RETURN_IF_ERROR(DecodeSample(fields.bytes(), &out->samples.emplace_back()));
        break;
      case 3:
        NX_RETURN_IF_ERROR(DecodeExemplar(fields.bytes(), &out->exemplars.emplace_back()));
        break;
      case 4:
        NX_RETURN_IF_ERROR(DecodeWriteHistogram(fields.bytes(), &out->histograms.emplace_back()));
        break;
      default:
        break;
    }
  }
  out->labels_bytes = extent.bytes();
  return fields.status();
}

}  // namespace

absl::Status DecodeWriteLabels(const WriteSeries& series, std::vector<model::Label>* labels) {
  labels->clear();
  FieldReader fields(series.labels_bytes.empty() ? series.bytes : series.labels_bytes);
  while (fields.Next()) {
    if (fields.tag() != Tag(1, kBytes)) continue;
    NX_RETURN_IF_ERROR(DecodeLabel(fields.bytes(), &labels->emplace_back()));
  }
  return fields.status();
}

// Finds the next field `number` of the message. `*left` becomes what is behind it.
bool WriteRequestReader::NextField(uint32_t number, std::string_view* left,
                                   std::string_view* bytes) {
  if (!status_.ok()) return false;
  FieldReader fields(*left);
  while (fields.Next()) {
    if (fields.number() != number) continue;
    if (fields.tag() != Tag(number, kBytes)) {
      status_ = WrongWireType("WriteRequest", fields);
      return false;
    }
    *bytes = fields.bytes();
    left->remove_prefix(static_cast<size_t>(fields.position() - left->data()));
    return true;
  }
  status_ = fields.status();
  *left = {};
  return false;
}

bool WriteRequestReader::NextSeries(WriteSeries* series) {
  std::string_view bytes;
  if (!NextField(1, &series_left_, &bytes)) return false;
  status_ = DecodeSeries(bytes, series);
  return status_.ok();
}

bool WriteRequestReader::NextMetadata(WriteMetadata* metadata) {
  std::string_view bytes;
  if (!NextField(3, &metadata_left_, &bytes)) return false;
  *metadata = {};
  status_ = DecodeMetadata(bytes, metadata);
  return status_.ok();
}

}  // namespace narthex::codec
