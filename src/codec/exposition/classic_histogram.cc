#include "codec/exposition/classic_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace narthex::codec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Runs of up to so many empty buckets stay in the layout of integer histograms.
constexpr size_t kMaxEmptyRun = 2;

bool IsWhole(double count) {
  // Above 2^63 there are whole doubles too, but no counts.
  return std::abs(count) < 9223372036854775808.0 && count == std::round(count);
}

// Appends the buckets that are kept: none that is empty at either end of a span, and no run of more
// than `max_empty_run` empty ones.
template <typename Bucket>
void AppendCompact(const std::vector<Bucket>& counts, size_t max_empty_run,
                   std::vector<model::BucketSpan>* spans, std::vector<Bucket>* out) {
  size_t end = 0;  // After the last bucket kept.
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const size_t gap = i - end;
    if (spans->empty() || gap > max_empty_run) {
      spans->push_back({static_cast<int32_t>(gap), 0});
    } else {
      out->insert(out->end(), gap, Bucket{0});
      spans->back().length += static_cast<uint32_t>(gap);
    }
    ++spans->back().length;
    out->push_back(counts[i]);
    end = i + 1;
  }
}

template <typename Count, typename Bucket>
void SetBuckets(const std::vector<Bucket>& counts, size_t max_empty_run,
                model::HistogramLayout layout, model::BasicHistogram<Count, Bucket>* out) {
  out->buckets.clear();
  AppendCompact(counts, max_empty_run, &layout.positive_spans, &out->buckets);
  out->layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
}

}  // namespace

void ClassicHistogram::Reset() {
  buckets_.clear();
  has_count_ = false;
  count_ = 0;
  sum_ = 0;
  is_valid_ = true;
}

void ClassicHistogram::SetBucket(double upper_bound, double cumulative_count) {
  if (!is_valid_) return;
  const auto next = std::lower_bound(
      buckets_.begin(), buckets_.end(), upper_bound,
      [](const Bucket& bucket, double bound) { return bucket.upper_bound < bound; });
  is_valid_ = !(cumulative_count < 0);
  if (next != buckets_.end() && next->upper_bound == upper_bound) return;
  if (next != buckets_.begin() && cumulative_count < std::prev(next)->cumulative_count) {
    is_valid_ = false;
  }
  if (next != buckets_.end() && cumulative_count > next->cumulative_count) is_valid_ = false;
  buckets_.insert(next, {upper_bound, cumulative_count});
}

void ClassicHistogram::SetCount(double count) {
  if (count < 0) is_valid_ = false;
  has_count_ = true;
  count_ = count;
}

bool ClassicHistogram::AllWhole() const {
  return IsWhole(count_) && std::all_of(buckets_.begin(), buckets_.end(), [](const Bucket& bucket) {
           return IsWhole(bucket.cumulative_count);
         });
}

ClassicHistogram::Result ClassicHistogram::Convert(model::CounterResetHint hint,
                                                   model::Histogram* integer,
                                                   model::FloatHistogram* floating) {
  if (!is_valid_) return Result::kInvalid;
  if (!has_count_ && !buckets_.empty()) count_ = buckets_.back().cumulative_count;
  if (buckets_.empty() || buckets_.back().upper_bound != kInfinity) {
    buckets_.push_back({kInfinity, count_});
  }
  if (buckets_.back().cumulative_count != count_) return Result::kInvalid;
  model::HistogramLayout layout;
  layout.schema = model::kCustomBucketsSchema;
  std::vector<double> counts;
  double below = 0;
  for (const Bucket& bucket : buckets_) {
    if (bucket.upper_bound != kInfinity) layout.custom_bounds.push_back(bucket.upper_bound);
    counts.push_back(bucket.cumulative_count - below);
    below = bucket.cumulative_count;
  }
  if (!AllWhole()) {
    floating->hint = hint;
    floating->count = count_;
    floating->zero_count = 0;
    floating->sum = sum_;
    SetBuckets(counts, 0, std::move(layout), floating);
    return model::Validate(*floating).ok() ? Result::kFloat : Result::kInvalid;
  }
  integer->hint = hint;
  integer->count = static_cast<uint64_t>(count_);
  integer->zero_count = 0;
  integer->sum = sum_;
  std::vector<int64_t> whole_counts;
  int64_t whole_below = 0;
  for (const Bucket& bucket : buckets_) {
    const int64_t cumulative = static_cast<int64_t>(bucket.cumulative_count);
    whole_counts.push_back(cumulative - whole_below);
    whole_below = cumulative;
  }
  SetBuckets(whole_counts, kMaxEmptyRun, std::move(layout), integer);
  return model::Validate(*integer).ok() ? Result::kInteger : Result::kInvalid;
}

}  // namespace narthex::codec
