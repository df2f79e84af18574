// The messages of the protobuf exposition format (io.prometheus.client), decoded into structs that
// are reused from metric to metric. Views are into the body. Thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/model/histogram.h"
#include "narthex/model/labels.h"

namespace narthex::codec {

// On the wire: never renumber.
enum class FamilyType : int32_t {
  kCounter = 0,
  kGauge = 1,
  kSummary = 2,
  kUntyped = 3,
  kHistogram = 4,
  kGaugeHistogram = 5,
};

struct TimestampMessage {
  bool is_set = false;
  int64_t seconds = 0;
  int32_t nanos = 0;
  int64_t ms() const;  // Wraps around where it does not fit.
};

struct ExemplarMessage {
  std::vector<model::Label> labels;
  double value = 0;
  TimestampMessage time;
};
absl::Status DecodeExemplar(std::string_view bytes, ExemplarMessage* out);

struct BucketMessage {
  uint64_t count = 0;
  double count_float = 0;
  double upper_bound = 0;
  std::string_view exemplar;  // Encoded; empty if there is none.

  double cumulative() const { return count_float != 0 ? count_float : static_cast<double>(count); }
};

struct HistogramMessage {
  uint64_t count = 0;
  double count_float = 0;
  double sum = 0;
  std::vector<BucketMessage> buckets;
  int32_t schema = 0;
  double zero_threshold = 0;
  uint64_t zero_count = 0;
  double zero_count_float = 0;
  std::vector<model::BucketSpan> positive_spans, negative_spans;
  std::vector<int64_t> positive_deltas, negative_deltas;
  std::vector<double> positive_counts, negative_counts;
  std::vector<std::string_view> exemplars;  // Encoded.

  // A native histogram without observations says so by a span of no buckets.
  bool is_native() const {
    return !positive_spans.empty() || !negative_spans.empty() || zero_threshold > 0 ||
           zero_count > 0;
  }
  bool is_float() const { return count_float > 0 || zero_count_float > 0; }
  double observations() const {
    return count_float != 0 ? count_float : static_cast<double>(count);
  }
};

struct QuantileMessage {
  double quantile = 0;
  double value = 0;
};

struct MetricMessage {
  std::vector<model::Label> labels;
  int64_t time_ms = 0;        // 0: not set.
  double value = 0;           // Of the counter, gauge or untyped metric the family's type names.
  std::string_view exemplar;  // Of the counter, encoded.
  TimestampMessage start_time;
  uint64_t summary_count = 0;
  double summary_sum = 0;
  std::vector<QuantileMessage> quantiles;
  HistogramMessage histogram;
};
// Decodes a Metric as one of a family of `type`; what other types have is checked, not kept.
absl::Status DecodeMetric(std::string_view bytes, FamilyType type, MetricMessage* out);

// A MetricFamily without its metrics.
struct FamilyMessage {
  std::string_view name, help, unit;
  int32_t type = 0;
  bool has_metrics = false;
};
absl::Status DecodeFamily(std::string_view bytes, FamilyMessage* out);

}  // namespace narthex::codec
