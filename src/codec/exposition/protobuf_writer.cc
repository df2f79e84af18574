// The delimited protobuf format, with native histograms as spans and deltas. Field numbers are
// those of metric_message.h.
#include "codec/exposition/metric_message.h"
#include "codec/exposition/writers.h"
#include "codec/wire/field_writer.h"

namespace narthex::codec {
namespace {

// Gaps of so few empty buckets are written as buckets: a span costs more.
constexpr int32_t kMaxFilledGap = 2;

FamilyType TypeOf(base::MetricType type) {
  switch (type) {
    case base::MetricType::kCounter:
      return FamilyType::kCounter;
    case base::MetricType::kGauge:
      return FamilyType::kGauge;
    case base::MetricType::kSummary:
      return FamilyType::kSummary;
    case base::MetricType::kHistogram:
      break;
  }
  return FamilyType::kHistogram;
}

void AppendSpan(std::string* out, uint32_t field_number, int32_t offset, uint32_t length) {
  std::string span;
  AppendSintField(&span, 1, offset);
  AppendVarintField(&span, 2, length);
  AppendBytesField(out, field_number, span);
}

// One side of a native histogram. The deltas' field comes after the spans'.
void AppendSide(std::string* out, uint32_t span_field, const std::map<int32_t, uint64_t>& buckets) {
  std::string deltas;
  int32_t offset = 0;      // Of the open span.
  uint32_t length = 0;     // Of the open span.
  int32_t next_index = 0;  // After the last bucket written.
  uint64_t last_count = 0;
  const auto add = [&](uint64_t count) {
    AppendVarint(&deltas, EncodeZigZag(static_cast<int64_t>(count - last_count)));
    last_count = count;
    ++length;
    ++next_index;
  };
  for (const auto& [index, count] : buckets) {
    if (length > 0 && index - next_index <= kMaxFilledGap) {
      while (next_index < index) add(0);
    } else {
      if (length > 0) AppendSpan(out, span_field, offset, length);
      offset = index - next_index;
      length = 0;
      next_index = index;
    }
    add(count);
  }
  if (length == 0) return;
  AppendSpan(out, span_field, offset, length);
  AppendBytesField(out, span_field + 1, deltas);
}

void AppendNative(std::string* out, const base::NativeHistogramData& native) {
  constexpr uint32_t kNegativeSpan = 9;
  constexpr uint32_t kPositiveSpan = 12;
  AppendSintField(out, 5, native.schema);
  AppendDoubleField(out, 6, native.zero_threshold);
  AppendVarintField(out, 7, native.zero_count);
  AppendSide(out, kNegativeSpan, native.negative);
  AppendSide(out, kPositiveSpan, native.positive);
  const bool looks_classic = native.positive.empty() && native.negative.empty() &&
                             native.zero_threshold == 0 && native.zero_count == 0;
  if (looks_classic) AppendSpan(out, kPositiveSpan, 0, 0);
}

std::string HistogramBytes(const base::HistogramData& histogram) {
  std::string out;
  AppendVarintField(&out, 1, histogram.count);
  AppendDoubleField(&out, 2, histogram.sum);
  for (size_t i = 0; i < histogram.upper_bounds.size(); ++i) {
    std::string bucket;
    AppendVarintField(&bucket, 1, histogram.cumulative_counts[i]);
    AppendDoubleField(&bucket, 2, histogram.upper_bounds[i]);
    AppendBytesField(&out, 3, bucket);
  }
  if (histogram.has_native) AppendNative(&out, histogram.native);
  return out;
}

std::string SummaryBytes(const base::SummaryData& summary) {
  std::string out;
  AppendVarintField(&out, 1, summary.count);
  AppendDoubleField(&out, 2, summary.sum);
  for (const auto& [quantile, value] : summary.quantiles) {
    std::string bytes;
    AppendDoubleField(&bytes, 1, quantile);
    AppendDoubleField(&bytes, 2, value);
    AppendBytesField(&out, 3, bytes);
  }
  return out;
}

std::string MetricBytes(const base::MetricPoint& point, base::MetricType type) {
  std::string out;
  for (const auto& [name, value] : point.labels) {
    std::string label;
    AppendBytesField(&label, 1, name);
    AppendBytesField(&label, 2, value);
    AppendBytesField(&out, 1, label);
  }
  std::string value;
  switch (type) {
    case base::MetricType::kGauge:
      AppendDoubleField(&value, 1, point.value);
      AppendBytesField(&out, 2, value);
      break;
    case base::MetricType::kCounter:
      AppendDoubleField(&value, 1, point.value);
      AppendBytesField(&out, 3, value);
      break;
    case base::MetricType::kSummary:
      AppendBytesField(&out, 4, SummaryBytes(point.summary));
      break;
    case base::MetricType::kHistogram:
      AppendBytesField(&out, 7, HistogramBytes(point.histogram));
      break;
  }
  return out;
}

}  // namespace

void AppendFamilyProtobuf(const base::FamilySnapshot& family, std::string* out) {
  std::string bytes;
  AppendBytesField(&bytes, 1, family.name);
  AppendBytesField(&bytes, 2, family.help);
  AppendVarintField(&bytes, 3, static_cast<uint64_t>(TypeOf(family.type)));
  for (const base::MetricPoint& point : family.points) {
    AppendBytesField(&bytes, 4, MetricBytes(point, family.type));
  }
  AppendVarint(out, bytes.size());
  *out += bytes;
}

}  // namespace narthex::codec
