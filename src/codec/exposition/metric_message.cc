#include "codec/exposition/metric_message.h"

#include "codec/wire/field_reader.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr WireType kVarint = WireType::kVarint;
constexpr WireType kFixed64 = WireType::kFixed64;
constexpr WireType kBytes = WireType::kBytes;

absl::Status BadPacked() { return base::InvalidArgument("proto: malformed packed field"); }

absl::Status DecodeTimestamp(std::string_view bytes, TimestampMessage* out) {
  out->is_set = true;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->seconds = fields.int64();
        break;
      case Tag(2, kVarint):
        out->nanos = fields.int32();
        break;
      default:
        if (fields.number() <= 2) return WrongWireType("Timestamp", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status DecodeLabel(std::string_view bytes, model::Label* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kBytes):
        out->name = fields.bytes();
        break;
      case Tag(2, kBytes):
        out->value = fields.bytes();
        break;
      default:
        if (fields.number() <= 2) return WrongWireType("LabelPair", fields);
        break;
    }
  }
  return fields.status();
}

// Decodes a label of a metric, whose texts must be good.
absl::Status DecodeMetricLabel(std::string_view bytes, model::Label* out) {
  NX_RETURN_IF_ERROR(DecodeLabel(bytes, out));
  if (out->name.data() != nullptr &&
      !model::IsValidLabelName(out->name, model::NameValidation::kUtf8)) {
    return base::InvalidArgument("invalid label name: ", out->name);
  }
  if (!model::IsValidUtf8(out->value)) {
    return base::InvalidArgument("invalid label value: ", out->value);
  }
  return absl::OkStatus();
}

absl::Status DecodeSpan(std::string_view bytes, model::BucketSpan* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->offset = fields.sint32();
        break;
      case Tag(2, kVarint):
        out->length = static_cast<uint32_t>(fields.varint());
        break;
      default:
        if (fields.number() <= 2) return WrongWireType("BucketSpan", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status DecodeBucket(std::string_view bytes, BucketMessage* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->count = fields.varint();
        break;
      case Tag(2, kFixed64):
        out->upper_bound = fields.float64();
        break;
      case Tag(3, kBytes):
        out->exemplar = fields.bytes();
        break;
      case Tag(4, kFixed64):
        out->count_float = fields.float64();
        break;
      default:
        if (fields.number() <= 4) return WrongWireType("Bucket", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status DecodeQuantile(std::string_view bytes, QuantileMessage* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kFixed64):
        out->quantile = fields.float64();
        break;
      case Tag(2, kFixed64):
        out->value = fields.float64();
        break;
      default:
        if (fields.number() <= 2) return WrongWireType("Quantile", fields);
        break;
    }
  }
  return fields.status();
}

// Counter, Gauge and Untyped: the last two have the value only.
absl::Status DecodeValue(std::string_view bytes, FamilyType type, MetricMessage* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (type != FamilyType::kCounter && fields.number() != 1) continue;
    switch (fields.tag()) {
      case Tag(1, kFixed64):
        out->value = fields.float64();
        break;
      case Tag(2, kBytes):
        out->exemplar = fields.bytes();
        break;
      case Tag(3, kBytes):
        NX_RETURN_IF_ERROR(DecodeTimestamp(fields.bytes(), &out->start_time));
        break;
      default:
        if (fields.number() <= 3) return WrongWireType("Counter", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status DecodeSummary(std::string_view bytes, MetricMessage* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->summary_count = fields.varint();
        break;
      case Tag(2, kFixed64):
        out->summary_sum = fields.float64();
        break;
      case Tag(3, kBytes):
        NX_RETURN_IF_ERROR(DecodeQuantile(fields.bytes(), &out->quantiles.emplace_back()));
        break;
      case Tag(4, kBytes):
        NX_RETURN_IF_ERROR(DecodeTimestamp(fields.bytes(), &out->start_time));
        break;
      default:
        if (fields.number() <= 4) return WrongWireType("Summary", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status AddDeltas(std::string_view packed, std::vector<int64_t>* out) {
  return ForEachPackedVarint(packed, [out](uint64_t v) { out->push_back(ZigZag(v)); })
             ? absl::OkStatus()
             : BadPacked();
}

absl::Status AddCounts(std::string_view packed, std::vector<double>* out) {
  return ForEachPackedDouble(packed, [out](double v) { out->push_back(v); }) ? absl::OkStatus()
                                                                             : BadPacked();
}

// The fields of native histograms (8 to 14), packed or not.
absl::Status DecodeNativeField(const FieldReader& fields, HistogramMessage* out) {
  switch (fields.tag()) {
    case Tag(8, kFixed64):
      out->zero_count_float = fields.float64();
      return absl::OkStatus();
    case Tag(9, kBytes):
      return DecodeSpan(fields.bytes(), &out->negative_spans.emplace_back());
    case Tag(10, kBytes):
      return AddDeltas(fields.bytes(), &out->negative_deltas);
    case Tag(10, kVarint):
      out->negative_deltas.push_back(fields.sint64());
      return absl::OkStatus();
    case Tag(11, kBytes):
      return AddCounts(fields.bytes(), &out->negative_counts);
    case Tag(11, kFixed64):
      out->negative_counts.push_back(fields.float64());
      return absl::OkStatus();
    case Tag(12, kBytes):
      return DecodeSpan(fields.bytes(), &out->positive_spans.emplace_back());
    case Tag(13, kBytes):
      return AddDeltas(fields.bytes(), &out->positive_deltas);
    case Tag(13, kVarint):
      out->positive_deltas.push_back(fields.sint64());
      return absl::OkStatus();
    case Tag(14, kBytes):
      return AddCounts(fields.bytes(), &out->positive_counts);
    case Tag(14, kFixed64):
      out->positive_counts.push_back(fields.float64());
      return absl::OkStatus();
    default:
      return WrongWireType("Histogram", fields);
  }
}

absl::Status DecodeHistogram(std::string_view bytes, MetricMessage* metric) {
  HistogramMessage* const out = &metric->histogram;
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->count = fields.varint();
        break;
      case Tag(2, kFixed64):
        out->sum = fields.float64();
        break;
      case Tag(3, kBytes):
        NX_RETURN_IF_ERROR(DecodeBucket(fields.bytes(), &out->buckets.emplace_back()));
        break;
      case Tag(4, kFixed64):
        out->count_float = fields.float64();
        break;
      case Tag(5, kVarint):
        out->schema = fields.sint32();
        break;
      case Tag(6, kFixed64):
        out->zero_threshold = fields.float64();
        break;
      case Tag(7, kVarint):
        out->zero_count = fields.varint();
        break;
      case Tag(15, kBytes):
        NX_RETURN_IF_ERROR(DecodeTimestamp(fields.bytes(), &metric->start_time));
        break;
      case Tag(16, kBytes):
        out->exemplars.push_back(fields.bytes());
        break;
      default:
        if (fields.number() > 16) break;
        NX_RETURN_IF_ERROR(DecodeNativeField(fields, out));
        break;
    }
  }
  return fields.status();
}

void Clear(MetricMessage* metric) {
  metric->labels.clear();
  metric->quantiles.clear();
  metric->time_ms = 0;
  metric->value = 0;
  metric->exemplar = {};
  metric->start_time = {};
  metric->summary_count = 0;
  metric->summary_sum = 0;
  HistogramMessage& histogram = metric->histogram;
  histogram.buckets.clear();
  histogram.positive_spans.clear();
  histogram.negative_spans.clear();
  histogram.positive_deltas.clear();
  histogram.negative_deltas.clear();
  histogram.positive_counts.clear();
  histogram.negative_counts.clear();
  histogram.exemplars.clear();
  histogram.count = 0;
  histogram.count_float = 0;
  histogram.sum = 0;
  histogram.schema = 0;
  histogram.zero_threshold = 0;
  histogram.zero_count = 0;
  histogram.zero_count_float = 0;
}

// The Metric field that a family of `type` reads.
uint32_t ValueField(FamilyType type) {
  switch (type) {
    case FamilyType::kGauge:
      return 2;
    case FamilyType::kCounter:
      return 3;
    case FamilyType::kSummary:
      return 4;
    case FamilyType::kUntyped:
      return 5;
    default:
      return 7;
  }
}

}  // namespace

int64_t TimestampMessage::ms() const {
  return static_cast<int64_t>(static_cast<uint64_t>(seconds) * 1000 +
                              static_cast<uint64_t>(int64_t{nanos / 1'000'000}));
}

absl::Status DecodeExemplar(std::string_view bytes, ExemplarMessage* out) {
  out->labels.clear();
  out->value = 0;
  out->time = {};
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kBytes):
        NX_RETURN_IF_ERROR(DecodeLabel(fields.bytes(), &out->labels.emplace_back()));
        break;
      case Tag(2, kFixed64):
        out->value = fields.float64();
        break;
      case Tag(3, kBytes):
        NX_RETURN_IF_ERROR(DecodeTimestamp(fields.bytes(), &out->time));
        break;
      default:
        if (fields.number() <= 3) return WrongWireType("Exemplar", fields);
        break;
    }
  }
  return fields.status();
}

absl::Status DecodeMetric(std::string_view bytes, FamilyType type, MetricMessage* out) {
  Clear(out);
  const uint32_t value_field = ValueField(type);
  FieldReader fields(bytes);
  while (fields.Next()) {
    const bool is_bytes = fields.tag() == Tag(fields.number(), kBytes);
    if (fields.number() == 6 && !is_bytes) {
      if (fields.tag() != Tag(6, kVarint)) return WrongWireType("Metric", fields);
      out->time_ms = fields.int64();
      continue;
    }
    if (fields.number() > 7) continue;
    if (!is_bytes || fields.number() == 6) return WrongWireType("Metric", fields);
    if (fields.number() == 1) {
      NX_RETURN_IF_ERROR(DecodeMetricLabel(fields.bytes(), &out->labels.emplace_back()));
    } else if (fields.number() != value_field) {
      continue;
    } else if (type == FamilyType::kSummary) {
      NX_RETURN_IF_ERROR(DecodeSummary(fields.bytes(), out));
    } else if (value_field == 7) {
      NX_RETURN_IF_ERROR(DecodeHistogram(fields.bytes(), out));
    } else {
      NX_RETURN_IF_ERROR(DecodeValue(fields.bytes(), type, out));
    }
  }
  return fields.status();
}

absl::Status DecodeFamily(std::string_view bytes, FamilyMessage* out) {
  *out = {};
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kBytes):
        out->name = fields.bytes();
        break;
      case Tag(2, kBytes):
        out->help = fields.bytes();
        break;
      case Tag(3, kVarint):
        out->type = fields.int32();
        break;
      case Tag(4, kBytes):
        out->has_metrics = true;
        break;
      case Tag(5, kBytes):
        out->unit = fields.bytes();
        break;
      default:
        if (fields.number() <= 5) return WrongWireType("MetricFamily", fields);
        break;
    }
  }
  return fields.status();
}

}  // namespace narthex::codec
