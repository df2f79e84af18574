#include "codec/remote/write_histogram.h"

#include "codec/wire/field_reader.h"
#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

constexpr WireType kVarint = WireType::kVarint;
constexpr WireType kFixed64 = WireType::kFixed64;
constexpr WireType kBytes = WireType::kBytes;

// The message as it is sent, before it is known whether its counts are integers.
struct Message {
  bool is_float = false;
  uint64_t count = 0;
  double count_float = 0;
  uint64_t zero_count = 0;
  double zero_count_float = 0;
  double sum = 0;
  model::HistogramLayout layout;
  std::vector<int64_t> positive_deltas, negative_deltas;
  std::vector<double> positive_counts, negative_counts;
  uint32_t hint = 0;
  int64_t time_ms = 0;
};

absl::Status DecodeSpan(std::string_view bytes, model::BucketSpan* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.tag() == Tag(1, kVarint)) {
      out->offset = fields.sint32();
    } else if (fields.tag() == Tag(2, kVarint)) {
      out->length = static_cast<uint32_t>(fields.varint());
    } else if (fields.number() <= 2) {
      return WrongWireType("BucketSpan", fields);
    }
  }
  return fields.status();
}

// Repeated numbers come packed or one by one.
absl::Status AddDeltas(const FieldReader& fields, std::vector<int64_t>* out) {
  if (fields.tag() == Tag(fields.number(), kVarint)) {
    out->push_back(fields.sint64());
    return absl::OkStatus();
  }
  const bool is_good =
      fields.tag() == Tag(fields.number(), kBytes) &&
      ForEachPackedVarint(fields.bytes(), [out](uint64_t v) { out->push_back(ZigZag(v)); });
  return is_good ? absl::OkStatus() : WrongWireType("Histogram", fields);
}

absl::Status AddDoubles(const FieldReader& fields, std::vector<double>* out) {
  if (fields.tag() == Tag(fields.number(), kFixed64)) {
    out->push_back(fields.float64());
    return absl::OkStatus();
  }
  const bool is_good = fields.tag() == Tag(fields.number(), kBytes) &&
                       ForEachPackedDouble(fields.bytes(), [out](double v) { out->push_back(v); });
  return is_good ? absl::OkStatus() : WrongWireType("Histogram", fields);
}

absl::Status DecodeRepeated(const FieldReader& fields, Message* out) {
  switch (fields.number()) {
    case 8:
    case 11: {
      if (fields.tag() != Tag(fields.number(), kBytes)) return WrongWireType("Histogram", fields);
      auto& spans = fields.number() == 8 ? out->layout.negative_spans : out->layout.positive_spans;
      return DecodeSpan(fields.bytes(), &spans.emplace_back());
    }
    case 9:
      return AddDeltas(fields, &out->negative_deltas);
    case 10:
      return AddDoubles(fields, &out->negative_counts);
    case 12:
      return AddDeltas(fields, &out->positive_deltas);
    case 13:
      return AddDoubles(fields, &out->positive_counts);
    case 16:
      return AddDoubles(fields, &out->layout.custom_bounds);
    default:
      return fields.number() <= 16 ? WrongWireType("Histogram", fields) : absl::OkStatus();
  }
}

absl::Status DecodeMessage(std::string_view bytes, Message* out) {
  FieldReader fields(bytes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case Tag(1, kVarint):
        out->count = fields.varint();
        out->is_float = false;  // Of the two, the last one counts.
        break;
      case Tag(2, kFixed64):
        out->count_float = fields.float64();
        out->is_float = true;
        break;
      case Tag(3, kFixed64):
        out->sum = fields.float64();
        break;
      case Tag(4, kVarint):
        out->layout.schema = fields.sint32();
        break;
      case Tag(5, kFixed64):
        out->layout.zero_threshold = fields.float64();
        break;
      case Tag(6, kVarint):
        out->zero_count = fields.varint();
        out->zero_count_float = 0;
        break;
      case Tag(7, kFixed64):
        out->zero_count_float = fields.float64();
        out->zero_count = 0;
        break;
      case Tag(14, kVarint):
        out->hint = static_cast<uint32_t>(fields.varint());
        break;
      case Tag(15, kVarint):
        out->time_ms = fields.int64();
        break;
      default:
        NX_RETURN_IF_ERROR(DecodeRepeated(fields, out));
        break;
    }
  }
  return fields.status();
}

absl::Status CheckCounts(std::string_view side, const std::vector<model::BucketSpan>& spans,
                         size_t num_counts) {
  uint64_t num_needed = 0;
  for (const model::BucketSpan& span : spans) num_needed += span.length;
  if (num_needed == num_counts) return absl::OkStatus();
  return base::InvalidArgument(
      side, " side: spans need ", num_needed, " buckets, have ", num_counts,
      " buckets: histogram spans specify different number of buckets than provided");
}

// Appends the running sums of `deltas`; they wrap around where they do not fit.
void AppendSums(const std::vector<int64_t>& deltas, std::vector<int64_t>* out) {
  uint64_t sum = 0;
  for (const int64_t delta : deltas) {
    sum += static_cast<uint64_t>(delta);
    out->push_back(static_cast<int64_t>(sum));
  }
}

model::CounterResetHint HintOf(uint32_t hint) {
  return hint <= static_cast<uint32_t>(model::CounterResetHint::kGauge)
             ? static_cast<model::CounterResetHint>(hint)
             : model::CounterResetHint::kUnknown;
}

}  // namespace

absl::Status DecodeWriteHistogram(std::string_view bytes, WriteHistogram* out) {
  Message message;
  NX_RETURN_IF_ERROR(DecodeMessage(bytes, &message));
  *out = {};
  out->time_ms = message.time_ms;
  out->is_float = message.is_float;
  const model::HistogramLayout& layout = message.layout;
  const size_t num_positive =
      message.is_float ? message.positive_counts.size() : message.positive_deltas.size();
  const size_t num_negative =
      message.is_float ? message.negative_counts.size() : message.negative_deltas.size();
  out->status = CheckCounts("positive", layout.positive_spans, num_positive);
  if (out->status.ok()) out->status = CheckCounts("negative", layout.negative_spans, num_negative);
  if (!out->status.ok()) return absl::OkStatus();
  auto shared = std::make_shared<const model::HistogramLayout>(std::move(message.layout));
  if (message.is_float) {
    model::FloatHistogram& histogram = out->float_histogram;
    histogram.hint = HintOf(message.hint);
    histogram.layout = std::move(shared);
    histogram.count = message.count_float;
    histogram.zero_count = message.zero_count_float;
    histogram.sum = message.sum;
    histogram.buckets = std::move(message.positive_counts);
    histogram.buckets.insert(histogram.buckets.end(), message.negative_counts.begin(),
                             message.negative_counts.end());
    return absl::OkStatus();
  }
  model::Histogram& histogram = out->histogram;
  histogram.hint = HintOf(message.hint);
  histogram.layout = std::move(shared);
  histogram.count = message.count;
  histogram.zero_count = message.zero_count;
  histogram.sum = message.sum;
  histogram.buckets.reserve(num_positive + num_negative);
  AppendSums(message.positive_deltas, &histogram.buckets);
  AppendSums(message.negative_deltas, &histogram.buckets);
  return absl::OkStatus();
}

}  // namespace narthex::codec
