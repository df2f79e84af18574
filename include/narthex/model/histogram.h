// Native histograms. What rarely changes (schema, zero threshold, which buckets exist, custom
// bounds) is an immutable, shared HistogramLayout, so that equal layouts are told by their pointer;
// what changes per sample is a plain value. Rules of bounds, schemas and spans: docs/histograms.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace narthex::model {

inline constexpr int32_t kMinExponentialSchema = -4;
inline constexpr int32_t kMaxExponentialSchema = 8;
inline constexpr int32_t kCustomBucketsSchema = -53;
// Schemas that may arrive; those above kMaxExponentialSchema are reduced to it on every path.
inline constexpr int32_t kMinReservedSchema = -9;
inline constexpr int32_t kMaxReservedSchema = 52;

// On disk and on the wire: never renumber.
enum class CounterResetHint : uint8_t { kUnknown = 0, kReset = 1, kNotReset = 2, kGauge = 3 };

// `length` buckets in a row, `offset` after the end of the span before (the first: the index of its
// first bucket, which may be negative).
struct BucketSpan {
  int32_t offset = 0;
  uint32_t length = 0;
  bool operator==(const BucketSpan&) const = default;
};

// Immutable once shared; thread-safe.
struct HistogramLayout {
  int32_t schema = 0;
  double zero_threshold = 0;
  std::vector<BucketSpan> positive_spans = {};
  std::vector<BucketSpan> negative_spans = {};
  std::vector<double> custom_bounds =
      {};  // Only for kCustomBucketsSchema: ascending finite bounds.

  bool has_custom_buckets() const { return schema == kCustomBucketsSchema; }
  size_t num_positive() const;
  size_t num_negative() const;
  size_t num_buckets() const { return num_positive() + num_negative(); }
  // Compares floats by value, spans literally.
  bool operator==(const HistogramLayout&) const = default;
};
using LayoutPtr = std::shared_ptr<const HistogramLayout>;

// Count is uint64_t (as ingested) or double (as PromQL works on); Bucket is int64_t or double.
// Buckets hold absolute counts, positive ones first (ascending index), then negative ones
// (ascending index), layout->num_buckets() in all. `layout` is never null except in a stale marker.
template <typename Count, typename Bucket>
struct BasicHistogram {
  CounterResetHint hint = CounterResetHint::kUnknown;
  LayoutPtr layout;
  Count count = 0;
  Count zero_count = 0;
  double sum = 0;  // kStaleNanBits: a staleness marker, everything else is ignored.
  std::vector<Bucket> buckets;
};
using Histogram = BasicHistogram<uint64_t, int64_t>;
using FloatHistogram = BasicHistogram<double, double>;

// A layout without buckets; what stale markers and empty histograms use. Lives for the process.
const LayoutPtr& EmptyLayout();

FloatHistogram ToFloat(const Histogram& histogram);

// The rules of docs/histograms.md for stored histograms; kInvalidArgument with Prometheus's texts.
absl::Status Validate(const Histogram& histogram);
absl::Status Validate(const FloatHistogram& histogram);

// Reduces an exponential histogram to `schema`, merging buckets; the layout is replaced.
// REQUIRES: schema <= histogram->layout->schema, no custom buckets.
void ReduceResolution(Histogram* histogram, int32_t schema);
void ReduceResolution(FloatHistogram* histogram, int32_t schema);

// Bits of floats and the same layout (empty spans ignored).
bool Equals(const Histogram& a, const Histogram& b);
bool Equals(const FloatHistogram& a, const FloatHistogram& b);

// Upper bound of bucket `index` of an exponential schema on the positive side, exact. Indexes are
// 32 bits wide; one more or less than that has a bound as well.
double ExponentialUpperBound(int64_t index, int32_t schema);

}  // namespace narthex::model
