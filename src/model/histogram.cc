#include "narthex/model/histogram.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "narthex/base/check.h"
#include "narthex/model/histogram_view.h"

namespace narthex::model {
namespace {

size_t NumBuckets(const std::vector<BucketSpan>& spans) {
  size_t num_buckets = 0;
  for (const BucketSpan& span : spans) num_buckets += span.length;
  return num_buckets;
}

bool SpansAreEqual(const std::vector<BucketSpan>& a, const std::vector<BucketSpan>& b) {
  // Steps over empty spans, adding their offsets to the span that follows.
  const auto next = [](const std::vector<BucketSpan>& spans, size_t* position, int64_t* offset) {
    *offset = 0;
    while (*position < spans.size()) {
      *offset += spans[*position].offset;
      if (spans[(*position)++].length > 0) return spans[*position - 1].length;
    }
    return uint32_t{0};
  };
  size_t position_a = 0, position_b = 0;
  while (true) {
    int64_t offset_a, offset_b;
    const uint32_t length_a = next(a, &position_a, &offset_a);
    const uint32_t length_b = next(b, &position_b, &offset_b);
    if (length_a != length_b) return false;
    if (length_a == 0) return true;
    if (offset_a != offset_b) return false;
  }
}

bool LayoutsAreEqual(const LayoutPtr& a_or_null, const LayoutPtr& b_or_null) {
  const LayoutPtr& a = a_or_null == nullptr ? EmptyLayout() : a_or_null;
  const LayoutPtr& b = b_or_null == nullptr ? EmptyLayout() : b_or_null;
  if (a == b) return true;
  return a->schema == b->schema && a->zero_threshold == b->zero_threshold &&
         a->custom_bounds == b->custom_bounds &&
         SpansAreEqual(a->positive_spans, b->positive_spans) &&
         SpansAreEqual(a->negative_spans, b->negative_spans);
}

// Of two histograms of one kind, or two views.
template <typename Any>
bool CountsAreEqual(const Any& a, const Any& b) {
  const auto same = []<typename Value>(Value x, Value y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  };
  return same(a.count, b.count) && same(a.sum, b.sum) && same(a.zero_count, b.zero_count) &&
         std::equal(a.buckets.begin(), a.buckets.end(), b.buckets.begin(), b.buckets.end(), same);
}

// Merges buckets of one side, `buckets[0, count)` as `spans` place them, into `*out_buckets`;
// returns the spans of the merged ones.
template <typename Bucket>
std::vector<BucketSpan> MergeSide(const std::vector<BucketSpan>& spans, const Bucket* buckets,
                                  int shift, std::vector<Bucket>* out_buckets) {
  std::vector<BucketSpan> merged;
  int64_t index = 0;
  int64_t newest = 0;  // Index of the newest merged bucket.
  for (const BucketSpan& span : spans) {
    index += span.offset;
    for (uint32_t i = 0; i < span.length; ++i, ++index, ++buckets) {
      const int64_t target = ((index - 1) >> shift) + 1;
      if (!merged.empty() && target == newest) {
        out_buckets->back() += *buckets;
        continue;
      }
      if (!merged.empty() && target == newest + 1) {
        ++merged.back().length;
      } else {
        const int64_t offset = merged.empty() ? target : target - newest - 1;
        merged.push_back({static_cast<int32_t>(offset), 1});
      }
      newest = target;
      out_buckets->push_back(*buckets);
    }
  }
  return merged;
}

template <typename Count, typename Bucket>
void Reduce(BasicHistogram<Count, Bucket>* histogram, int32_t schema) {
  const HistogramLayout& layout = *histogram->layout;
  NX_CHECK(!layout.has_custom_buckets());
  NX_CHECK_LE(schema, layout.schema);
  if (schema == layout.schema) return;
  const auto starts_below_end = [](const std::vector<BucketSpan>& spans) {
    return spans.size() > 1 && std::any_of(spans.begin() + 1, spans.end(),
                                           [](const BucketSpan& span) { return span.offset < 0; });
  };
  auto reduced = std::make_shared<HistogramLayout>();
  reduced->schema = schema;
  reduced->zero_threshold = layout.zero_threshold;
  reduced->custom_bounds = layout.custom_bounds;
  if (layout.num_buckets() != histogram->buckets.size() ||
      starts_below_end(layout.positive_spans) || starts_below_end(layout.negative_spans)) {
    // Not a valid histogram: left as it is, for Validate() to name what is wrong.
    reduced->positive_spans = layout.positive_spans;
    reduced->negative_spans = layout.negative_spans;
    histogram->layout = std::move(reduced);
    return;
  }
  const int shift = std::min(layout.schema - schema, 32);
  std::vector<Bucket> buckets;
  buckets.reserve(histogram->buckets.size());
  const Bucket* const from = histogram->buckets.data();
  reduced->positive_spans = MergeSide(layout.positive_spans, from, shift, &buckets);
  reduced->negative_spans =
      MergeSide(layout.negative_spans, from + layout.num_positive(), shift, &buckets);
  histogram->buckets = std::move(buckets);
  histogram->layout = std::move(reduced);
}

}  // namespace

size_t HistogramLayout::num_positive() const { return NumBuckets(positive_spans); }

size_t HistogramLayout::num_negative() const { return NumBuckets(negative_spans); }

const LayoutPtr& EmptyLayout() {
  static const LayoutPtr& layout =
      *std::make_unique<LayoutPtr>(std::make_shared<const HistogramLayout>()).release();
  return layout;
}

FloatHistogram ToFloat(const Histogram& histogram) {
  FloatHistogram result;
  result.hint = histogram.hint;
  result.layout = histogram.layout;
  result.count = static_cast<double>(histogram.count);
  result.zero_count = static_cast<double>(histogram.zero_count);
  result.sum = histogram.sum;
  result.buckets.assign(histogram.buckets.begin(), histogram.buckets.end());
  return result;
}

void ReduceResolution(Histogram* histogram, int32_t schema) { Reduce(histogram, schema); }
void ReduceResolution(FloatHistogram* histogram, int32_t schema) { Reduce(histogram, schema); }

bool Equals(const Histogram& a, const Histogram& b) {
  return CountsAreEqual(a, b) && LayoutsAreEqual(a.layout, b.layout);
}
bool Equals(const FloatHistogram& a, const FloatHistogram& b) {
  return CountsAreEqual(a, b) && LayoutsAreEqual(a.layout, b.layout);
}
bool Equals(const HistogramView& a, const HistogramView& b) {
  return CountsAreEqual(a, b) && LayoutsAreEqual(*a.layout, *b.layout);
}

}  // namespace narthex::model
