// Float histograms for tests, from maps of bucket index to count.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "narthex/model/histogram.h"
#include "narthex/model/histogram_math.h"

namespace narthex::test {

using Buckets = std::map<int32_t, double>;

// What a histogram is made from. Count and sum are those of the buckets unless set.
struct HistogramSpec {
  int32_t schema = 0;
  double zero_threshold = 0;
  double zero_count = 0;
  double sum = 0;
  Buckets positive = {};
  Buckets negative = {};
  std::vector<double> custom_bounds = {};
  model::CounterResetHint hint = model::CounterResetHint::kUnknown;
};

inline void AppendSide(const Buckets& buckets, std::vector<model::BucketSpan>* spans,
                       std::vector<double>* counts) {
  int64_t end = 0;
  for (const auto& [index, count] : buckets) {
    if (!spans->empty() && index == end) {
      ++spans->back().length;
    } else {
      spans->push_back({static_cast<int32_t>(index - end), 1});
    }
    counts->push_back(count);
    end = int64_t{index} + 1;
  }
}

inline model::FloatHistogram MakeHistogram(const HistogramSpec& spec) {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = spec.custom_bounds.empty() ? spec.schema : model::kCustomBucketsSchema;
  layout->zero_threshold = spec.zero_threshold;
  layout->custom_bounds = spec.custom_bounds;
  model::FloatHistogram histogram;
  AppendSide(spec.positive, &layout->positive_spans, &histogram.buckets);
  AppendSide(spec.negative, &layout->negative_spans, &histogram.buckets);
  histogram.layout = std::move(layout);
  histogram.hint = spec.hint;
  histogram.zero_count = spec.zero_count;
  histogram.sum = spec.sum;
  histogram.count = spec.zero_count;
  for (const double count : histogram.buckets) histogram.count += count;
  return histogram;
}

// Whole counts, so that sums are exact in any order. No buckets within the zero bucket.
inline model::FloatHistogram RandomHistogram(std::mt19937* random) {
  const auto below = [random](int limit) {
    return static_cast<int32_t>((*random)() % static_cast<uint32_t>(limit));
  };
  HistogramSpec spec;
  spec.schema = below(6) - 2;
  spec.zero_threshold = below(2) == 0 ? 0 : 0x1p-128;
  spec.zero_count = below(10);
  spec.sum = below(1000);
  for (int i = below(20); i > 0; --i) spec.positive[below(40) - 20] = below(100);
  for (int i = below(6); i > 0; --i) spec.negative[below(20) - 10] = below(100);
  return MakeHistogram(spec);
}

inline model::FloatHistogram Compacted(model::FloatHistogram histogram) {
  model::Compact(&histogram);
  return histogram;
}

}  // namespace narthex::test
