// One float histogram by reference: what kernels read, whether the numbers lie in a FloatHistogram
// or in a row of a column batch. Free functions and plain values; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narthex/model/histogram.h"

namespace narthex::model {

// Views nothing it owns: `layout` and `buckets` must outlive it. Where the buckets were not read
// (HistogramDetail::kCountAndSum) the layout is WithoutBuckets() of the real one.
// REQUIRES: buckets.size() == (*layout)->num_buckets().
struct HistogramView {
  CounterResetHint hint = CounterResetHint::kUnknown;
  const LayoutPtr* layout = &EmptyLayout();
  double count = 0;
  double zero_count = 0;
  double sum = 0;
  std::span<const double> buckets;  // Positive ones first, each side by ascending index.

  HistogramView() = default;
  // Implicit, so that a FloatHistogram passes for a view, as a string does for a string_view. It
  // must outlive the view.
  HistogramView(const FloatHistogram& histogram)  // NOLINT(google-explicit-constructor)
      : hint(histogram.hint),
        layout(&histogram.layout),
        count(histogram.count),
        zero_count(histogram.zero_count),
        sum(histogram.sum),
        buckets(histogram.buckets) {}

  const HistogramLayout& shape() const { return **layout; }
  bool has_custom_buckets() const { return shape().has_custom_buckets(); }
  std::span<const double> positive() const { return buckets.first(shape().num_positive()); }
  std::span<const double> negative() const { return buckets.subspan(shape().num_positive()); }
};

// A layout that has no buckets but the kind (exponential or custom) of `layout`. Lives for the
// process.
const LayoutPtr& WithoutBuckets(const HistogramLayout& layout);

// A copy that owns its buckets and shares the layout.
FloatHistogram Materialize(const HistogramView& view);
// The same into `*out`, reusing its memory.
void MaterializeTo(const HistogramView& view, FloatHistogram* out);

// Equal as PromQL's `==` and changes() see it: bits of the floats, same bucket layout (empty spans
// ignored), hints ignored.
bool Equals(const HistogramView& a, const HistogramView& b);

}  // namespace narthex::model
