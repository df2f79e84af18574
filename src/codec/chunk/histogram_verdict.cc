// What a sample needs of the chunk it would go to, and how layouts grow.
//
// Counter chunks hold no reset: a smaller count, zero count or bucket cuts. A bucket that the
// sample lacks is no reset if it was empty. Gauge chunks take any change of buckets.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "codec/chunk/histogram_layout.h"
#include "narthex/base/check.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

using model::BucketSpan;
using model::HistogramLayout;

// How the buckets of a sample lie to those of a chunk.
struct Overlap {
  bool reset = false;         // A populated bucket shrank or is missing.
  bool sample_lacks = false;  // The sample lacks a bucket of the chunk.
  bool chunk_lacks = false;   // The chunk lacks a bucket of the sample.
};

// Of one side, by indexes; counts are compared if there are any.
template <typename Bucket>
void CompareSide(std::span<const BucketSpan> chunk_spans, std::span<const Bucket> chunk_buckets,
                 std::span<const BucketSpan> sample_spans, std::span<const Bucket> sample_buckets,
                 Overlap* overlap) {
  SpanCursor chunk(chunk_spans);
  SpanCursor sample(sample_spans);
  while (!chunk.done() || !sample.done()) {
    if (sample.done() || (!chunk.done() && chunk.index() < sample.index())) {
      overlap->sample_lacks = true;
      if (!chunk_buckets.empty() && chunk_buckets[chunk.position()] != 0) overlap->reset = true;
      chunk.Next();
    } else if (chunk.done() || sample.index() < chunk.index()) {
      overlap->chunk_lacks = true;
      sample.Next();
    } else {
      if (!chunk_buckets.empty() &&
          chunk_buckets[chunk.position()] > sample_buckets[sample.position()]) {
        overlap->reset = true;
      }
      chunk.Next();
      sample.Next();
    }
  }
}

template <typename H>
Overlap Compare(const H& last, const H& sample) {
  using Bucket = typename decltype(H::buckets)::value_type;
  Overlap overlap;
  if (last.layout == sample.layout || *last.layout == *sample.layout) {
    // Fast path: bucket by bucket.
    bool reset = false;
    for (size_t i = 0; i < last.buckets.size(); ++i) {
      reset |= last.buckets[i] > sample.buckets[i];
    }
    overlap.reset = reset;
    return overlap;
  }
  const std::span<const Bucket> before(last.buckets);
  const std::span<const Bucket> now(sample.buckets);
  const size_t num_before = last.layout->num_positive();
  const size_t num_now = sample.layout->num_positive();
  CompareSide(std::span(last.layout->positive_spans), before.first(num_before),
              std::span(sample.layout->positive_spans), now.first(num_now), &overlap);
  CompareSide(std::span(last.layout->negative_spans), before.subspan(num_before),
              std::span(sample.layout->negative_spans), now.subspan(num_now), &overlap);
  return overlap;
}

// Fields that a chunk has once for all its samples, besides which buckets exist.
bool SameResolution(const HistogramLayout& a, const HistogramLayout& b) {
  return a.schema == b.schema && a.zero_threshold == b.zero_threshold;
}
bool SameBounds(const HistogramLayout& a, const HistogramLayout& b) {
  return !b.has_custom_buckets() || a.custom_bounds == b.custom_bounds;
}

Fit FitOf(const Overlap& overlap) { return overlap.chunk_lacks ? Fit::kWiden : Fit::kAppend; }

template <typename H>
Verdict GaugeVerdict(const H& last, const H& sample) {
  const Verdict cut{Fit::kCut, CounterReset::kGauge};
  if (last.hint != model::CounterResetHint::kGauge) return cut;
  if (model::IsStaleNan(sample.sum)) return {Fit::kAppend, CounterReset::kGauge};
  if (model::IsStaleNan(last.sum)) return cut;
  if (!SameResolution(*last.layout, *sample.layout)) return cut;
  if (!SameBounds(*last.layout, *sample.layout)) return cut;
  return {FitOf(Compare(last, sample)), CounterReset::kGauge};
}

template <typename H>
Verdict CounterVerdict(const H& last, const H& sample) {
  constexpr bool kIsInteger = std::is_same_v<H, model::Histogram>;
  const Verdict reset{Fit::kCut, CounterReset::kReset};
  const Verdict unknown{Fit::kCut, CounterReset::kUnknown};
  if (last.hint == model::CounterResetHint::kGauge) {
    // The header that Prometheus gives here differs by the kind of histogram.
    return {Fit::kCut, kIsInteger ? CounterReset::kNotReset : CounterReset::kUnknown};
  }
  if (sample.hint == model::CounterResetHint::kReset) return reset;
  if (model::IsStaleNan(sample.sum)) return {Fit::kAppend, CounterReset::kNotReset};
  if (model::IsStaleNan(last.sum)) return unknown;
  if (sample.count < last.count) return reset;
  if (!SameResolution(*last.layout, *sample.layout)) return unknown;
  if (!SameBounds(*last.layout, *sample.layout)) return reset;
  if (sample.zero_count < last.zero_count) return reset;
  const Overlap overlap = Compare(last, sample);
  if (overlap.reset) return reset;
  return {FitOf(overlap), CounterReset::kNotReset};
}

template <typename H>
Verdict OfferAfterImpl(const H& last, const H& sample) {
  return sample.hint == model::CounterResetHint::kGauge ? GaugeVerdict(last, sample)
                                                        : CounterVerdict(last, sample);
}

std::vector<BucketSpan> Union(std::span<const BucketSpan> a, std::span<const BucketSpan> b) {
  SpanCursor left(a);
  SpanCursor right(b);
  SpanBuilder both;
  while (!left.done() || !right.done()) {
    const bool take_left = right.done() || (!left.done() && left.index() <= right.index());
    const bool take_right = left.done() || (!right.done() && right.index() <= left.index());
    both.Add(take_left ? left.index() : right.index());
    if (take_left) left.Next();
    if (take_right) right.Next();
  }
  return both.Take();
}

bool SampleLacks(std::span<const BucketSpan> chunk, std::span<const BucketSpan> sample) {
  Overlap overlap;
  CompareSide<int64_t>(chunk, {}, sample, {}, &overlap);
  return overlap.sample_lacks;
}

template <typename Bucket>
void SpreadSide(std::span<const BucketSpan> from, std::span<const Bucket> buckets,
                std::span<const BucketSpan> to, std::span<Bucket> out) {
  SpanCursor source(from);
  for (SpanCursor target(to); !target.done(); target.Next()) {
    while (!source.done() && source.index() < target.index()) source.Next();
    const bool both = !source.done() && source.index() == target.index();
    out[target.position()] = both ? buckets[source.position()] : Bucket{0};
  }
}

template <typename Bucket>
void SpreadImpl(const HistogramLayout& from, std::span<const Bucket> buckets,
                const HistogramLayout& to, std::span<Bucket> out) {
  NX_CHECK_EQ(buckets.size(), from.num_buckets());
  NX_CHECK_EQ(out.size(), to.num_buckets());
  const size_t num_from = from.num_positive();
  const size_t num_to = to.num_positive();
  SpreadSide(std::span(from.positive_spans), buckets.first(num_from), std::span(to.positive_spans),
             out.first(num_to));
  SpreadSide(std::span(from.negative_spans), buckets.subspan(num_from),
             std::span(to.negative_spans), out.subspan(num_to));
}

}  // namespace

Verdict OfferAfter(const model::Histogram& last, const model::Histogram& sample) {
  return OfferAfterImpl(last, sample);
}
Verdict OfferAfter(const model::FloatHistogram& last, const model::FloatHistogram& sample) {
  return OfferAfterImpl(last, sample);
}

CounterReset FirstHeader(model::CounterResetHint hint) {
  switch (hint) {
    case model::CounterResetHint::kGauge:
      return CounterReset::kGauge;
    case model::CounterResetHint::kReset:
      return CounterReset::kReset;
    default:
      return CounterReset::kUnknown;
  }
}

// Spans are written literally, so this follows Prometheus in when it takes the sample's own spans
// and when it makes new ones.
model::LayoutPtr WidenedLayout(const model::LayoutPtr& chunk, const model::LayoutPtr& sample,
                               model::CounterResetHint hint) {
  const bool lacks_positive = SampleLacks(chunk->positive_spans, sample->positive_spans);
  const bool lacks_negative = SampleLacks(chunk->negative_spans, sample->negative_spans);
  if (!lacks_positive && !lacks_negative) return sample;
  const bool is_gauge = hint == model::CounterResetHint::kGauge;
  auto widened = std::make_shared<HistogramLayout>(*sample);
  if (lacks_positive || is_gauge) {
    widened->positive_spans = Union(chunk->positive_spans, sample->positive_spans);
  }
  if (lacks_negative || is_gauge) {
    widened->negative_spans = Union(chunk->negative_spans, sample->negative_spans);
  }
  return widened;
}

void SpreadBuckets(const HistogramLayout& from, std::span<const int64_t> buckets,
                   const HistogramLayout& to, std::span<int64_t> out) {
  SpreadImpl(from, buckets, to, out);
}
void SpreadBuckets(const HistogramLayout& from, std::span<const double> buckets,
                   const HistogramLayout& to, std::span<double> out) {
  SpreadImpl(from, buckets, to, out);
}

}  // namespace narthex::codec
