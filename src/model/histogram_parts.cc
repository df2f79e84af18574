#include "model/histogram_parts.h"

#include <algorithm>
#include <utility>

#include "narthex/model/histogram_buckets.h"

namespace narthex::model {
namespace {

// Calls `visit(index, position)` for every bucket in order until it answers false.
template <typename Visit>
void ForEachBucket(const std::vector<BucketSpan>& spans, size_t num_buckets, Visit visit) {
  int64_t index = 0;
  size_t position = 0;
  for (const BucketSpan& span : spans) {
    index += span.offset;
    for (uint32_t i = 0; i < span.length && position < num_buckets; ++i, ++index, ++position) {
      if (!visit(index, position)) return;
    }
  }
}

double Bound(int64_t index, int32_t schema) { return ExponentialUpperBound(index, schema); }

int64_t IndexInSchema(int64_t index, int shift) { return ((index - 1) >> shift) + 1; }

void AddCell(KahanSum* target, KahanSum cell, Summation summation) {
  if (summation == Summation::kPlain) {
    target->sum += cell.sum;
    return;
  }
  target->Add(cell.sum);
  if (cell.compensation != 0) target->Add(cell.compensation);
}

BucketSideParts ReduceSide(const BucketSideParts& side, int shift, Summation summation) {
  BucketSideParts reduced;
  ForEachBucket(side.spans, side.cells.size(), [&](int64_t index, size_t position) {
    const int64_t target = IndexInSchema(index, shift);
    if (!reduced.cells.empty() && reduced.end_index == target + 1) {
      AddCell(&reduced.cells.back(), side.cells[position], summation);
    } else {
      reduced.Append(target, side.cells[position]);
    }
    return true;
  });
  return reduced;
}

BucketSideParts SideOf(const std::vector<BucketSpan>& spans, std::span<const double> counts,
                       std::span<const double> compensation) {
  BucketSideParts side;
  side.spans = spans;
  side.cells.resize(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    side.cells[i] = {counts[i], compensation.empty() ? 0 : compensation[i]};
  }
  return side;
}

// Adds the buckets of a side that the widened zero bucket swallows. True if the threshold had to be
// raised, into `*threshold`.
bool SwallowSide(const BucketSideParts& side, int32_t schema, double* threshold, KahanSum* zero) {
  bool raised = false;
  ForEachBucket(side.spans, side.cells.size(), [&](int64_t index, size_t position) {
    if (Bound(index - 1, schema) >= *threshold) return false;
    const KahanSum& cell = side.cells[position];
    zero->Add(cell.sum);
    zero->Add(cell.compensation);
    const double upper = Bound(index, schema);
    if (upper <= *threshold) return true;
    if (cell.sum != 0) {
      *threshold = upper;
      raised = true;
    }
    return false;
  });
  return raised;
}

void ClearSwallowed(BucketSideParts* side, int32_t schema, double threshold) {
  ForEachBucket(side->spans, side->cells.size(), [&](int64_t index, size_t position) {
    if (Bound(index - 1, schema) >= threshold) return false;
    side->cells[position] = {};
    return true;
  });
  CompactSide(side, 0);
}

}  // namespace

void BucketSideParts::Append(int64_t index, KahanSum cell) {
  if (!cells.empty() && index == end_index) {
    ++spans.back().length;
  } else {
    const int64_t offset = cells.empty() ? index : index - end_index;
    spans.push_back({static_cast<int32_t>(offset), 1});
  }
  cells.push_back(cell);
  end_index = index + 1;
}

HistogramParts TakeApart(const HistogramView& histogram, std::span<const double> compensation) {
  const HistogramLayout& layout = histogram.shape();
  const size_t num_positive = layout.num_positive();
  HistogramParts parts;
  parts.schema = layout.schema;
  parts.zero_threshold = layout.zero_threshold;
  parts.zero.sum = histogram.zero_count;
  const bool compensated = !compensation.empty();
  parts.positive =
      SideOf(layout.positive_spans, histogram.buckets.first(num_positive),
             compensated ? compensation.first(num_positive) : std::span<const double>());
  parts.negative =
      SideOf(layout.negative_spans, histogram.buckets.subspan(num_positive),
             compensated ? compensation.subspan(num_positive) : std::span<const double>());
  parts.custom_bounds = layout.custom_bounds;
  return parts;
}

void PutTogether(HistogramParts parts, const LayoutPtr& candidate, FloatHistogram* histogram,
                 std::vector<double>* compensation) {
  histogram->buckets.clear();
  if (compensation != nullptr) compensation->clear();
  for (const BucketSideParts* side : {&parts.positive, &parts.negative}) {
    for (const KahanSum& cell : side->cells) {
      histogram->buckets.push_back(cell.sum);
      if (compensation != nullptr) compensation->push_back(cell.compensation);
    }
  }
  HistogramLayout layout;
  layout.schema = parts.schema;
  layout.zero_threshold = parts.zero_threshold;
  layout.positive_spans = std::move(parts.positive.spans);
  layout.negative_spans = std::move(parts.negative.spans);
  layout.custom_bounds = std::move(parts.custom_bounds);
  if (*histogram->layout == layout) return;
  if (*candidate == layout) {
    histogram->layout = candidate;
  } else {
    histogram->layout = std::make_shared<const HistogramLayout>(std::move(layout));
  }
}

void ReduceParts(HistogramParts* parts, int32_t schema, Summation summation) {
  const int shift = std::min(parts->schema - schema, 62);
  parts->positive = ReduceSide(parts->positive, shift, summation);
  parts->negative = ReduceSide(parts->negative, shift, summation);
  parts->schema = schema;
}

void CompactSide(BucketSideParts* side, int64_t max_empty_buckets) {
  BucketSideParts compacted;
  compacted.cells.reserve(side->cells.size());
  ForEachBucket(side->spans, side->cells.size(), [&](int64_t index, size_t position) {
    const KahanSum& cell = side->cells[position];
    if (cell.sum == 0 && cell.compensation == 0) return true;
    if (!compacted.cells.empty() && index - compacted.end_index <= max_empty_buckets) {
      while (compacted.end_index < index) compacted.Append(compacted.end_index, {});
    }
    compacted.Append(index, cell);
    return true;
  });
  *side = std::move(compacted);
}

KahanSum WidenedZero(const HistogramParts& parts, double* threshold) {
  KahanSum zero = parts.zero;
  while (true) {
    // Only the count starts again after the threshold was raised, not its compensation.
    zero.sum = parts.zero.sum;
    SwallowSide(parts.positive, parts.schema, threshold, &zero);
    if (!SwallowSide(parts.negative, parts.schema, threshold, &zero)) return zero;
  }
}

void SwallowBuckets(HistogramParts* parts, double threshold) {
  parts->zero_threshold = threshold;
  ClearSwallowed(&parts->positive, parts->schema, threshold);
  ClearSwallowed(&parts->negative, parts->schema, threshold);
}

BucketSideParts MergeSides(const BucketSideParts& target, const BucketSideParts& other, Sign sign,
                           int32_t schema, double zero_threshold, Summation summation) {
  // The buckets of `other` with their indices, signed, without those of the zero bucket.
  std::vector<std::pair<int64_t, KahanSum>> incoming;
  incoming.reserve(other.cells.size());
  bool within_zero_bucket = schema != kCustomBucketsSchema;
  ForEachBucket(other.spans, other.cells.size(), [&](int64_t index, size_t position) {
    within_zero_bucket = within_zero_bucket && Bound(index, schema) <= zero_threshold;
    if (within_zero_bucket) return true;
    KahanSum cell = other.cells[position];
    if (sign == Sign::kMinus) cell = {-cell.sum, -cell.compensation};
    incoming.emplace_back(index, cell);
    return true;
  });

  BucketSideParts merged;
  merged.cells.reserve(target.cells.size() + incoming.size());
  auto next = incoming.begin();
  ForEachBucket(target.spans, target.cells.size(), [&](int64_t index, size_t position) {
    for (; next != incoming.end() && next->first < index; ++next) {
      merged.Append(next->first, next->second);
    }
    KahanSum cell = target.cells[position];
    if (next != incoming.end() && next->first == index) AddCell(&cell, (next++)->second, summation);
    merged.Append(index, cell);
    return true;
  });
  for (; next != incoming.end(); ++next) merged.Append(next->first, next->second);
  return merged;
}

BucketSideParts MergeOverBounds(const HistogramParts& target, const HistogramParts& other,
                                Sign sign, const std::vector<double>& bounds) {
  std::vector<KahanSum> sums(bounds.size() + 1);
  const auto add_all = [&](const HistogramParts& parts, Sign with_sign) {
    const BucketSideParts& side = parts.positive;
    ForEachBucket(side.spans, side.cells.size(), [&](int64_t index, size_t position) {
      // A bucket goes to the first shared bound that is not below its own.
      size_t bucket = bounds.size();
      if (index >= 0 && index < static_cast<int64_t>(parts.custom_bounds.size())) {
        const double bound = parts.custom_bounds[static_cast<size_t>(index)];
        bucket = static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), bound) -
                                     bounds.begin());
      }
      const KahanSum& cell = side.cells[position];
      sums[bucket].Add(with_sign == Sign::kMinus ? -cell.sum : cell.sum);
      if (cell.compensation != 0) sums[bucket].Add(cell.compensation);
      return true;
    });
  };
  add_all(target, Sign::kPlus);
  add_all(other, sign);

  BucketSideParts merged;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].sum == 0 && sums[i].compensation == 0) continue;
    merged.Append(static_cast<int64_t>(i), sums[i]);
  }
  return merged;
}

std::vector<double> SharedBounds(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return shared;
}

}  // namespace narthex::model
