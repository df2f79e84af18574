#include "codec/exposition/native_histogram.h"

#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

absl::Status CheckCounts(std::string_view side, const std::vector<model::BucketSpan>& spans,
                         size_t num_counts) {
  uint64_t total = 0;
  for (const model::BucketSpan& span : spans) total += span.length;
  if (total == num_counts) return absl::OkStatus();
  return base::InvalidArgument(side, " side: spans require ", total, " buckets, have ", num_counts);
}

// Appends the buckets of one side that are not empty. `next_count()` gives the absolute count of
// each bucket in turn. REQUIRES: CheckCounts() is OK.
template <typename Bucket, typename NextCount>
void AppendSide(const std::vector<model::BucketSpan>& spans, NextCount next_count,
                std::vector<model::BucketSpan>* out_spans, std::vector<Bucket>* out_buckets) {
  int64_t index = 0;      // Of the bucket at hand.
  int64_t out_index = 0;  // After the last bucket kept.
  for (const model::BucketSpan& span : spans) {
    index += span.offset;
    for (uint32_t i = 0; i < span.length; ++i, ++index) {
      const Bucket count = next_count();
      if (count == 0) continue;
      if (out_spans->empty() || index != out_index) {
        out_spans->push_back({static_cast<int32_t>(index - out_index), 0});
      }
      ++out_spans->back().length;
      out_index = index + 1;
      out_buckets->push_back(count);
    }
  }
}

// The running sum of deltas; wraps around where it does not fit.
class DeltaSum {
 public:
  explicit DeltaSum(const std::vector<int64_t>& deltas) : deltas_(deltas) {}
  int64_t operator()() {
    sum_ += static_cast<uint64_t>(deltas_[next_++]);
    return static_cast<int64_t>(sum_);
  }

 private:
  const std::vector<int64_t>& deltas_;
  size_t next_ = 0;
  uint64_t sum_ = 0;
};

model::HistogramLayout LayoutOf(const HistogramMessage& message) {
  model::HistogramLayout layout;
  layout.schema = message.schema;
  layout.zero_threshold = message.zero_threshold;
  return layout;
}

}  // namespace

absl::Status MakeHistogram(const HistogramMessage& message, model::CounterResetHint hint,
                           model::Histogram* out) {
  NX_RETURN_IF_ERROR(
      CheckCounts("positive", message.positive_spans, message.positive_deltas.size()));
  NX_RETURN_IF_ERROR(
      CheckCounts("negative", message.negative_spans, message.negative_deltas.size()));
  model::HistogramLayout layout = LayoutOf(message);
  out->hint = hint;
  out->count = message.count;
  out->zero_count = message.zero_count;
  out->sum = message.sum;
  out->buckets.clear();
  AppendSide(message.positive_spans, DeltaSum(message.positive_deltas), &layout.positive_spans,
             &out->buckets);
  AppendSide(message.negative_spans, DeltaSum(message.negative_deltas), &layout.negative_spans,
             &out->buckets);
  out->layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
  return absl::OkStatus();
}

absl::Status MakeHistogram(const HistogramMessage& message, model::CounterResetHint hint,
                           model::FloatHistogram* out) {
  NX_RETURN_IF_ERROR(
      CheckCounts("positive", message.positive_spans, message.positive_counts.size()));
  NX_RETURN_IF_ERROR(
      CheckCounts("negative", message.negative_spans, message.negative_counts.size()));
  model::HistogramLayout layout = LayoutOf(message);
  out->hint = hint;
  out->count = message.count_float;
  out->zero_count = message.zero_count_float;
  out->sum = message.sum;
  out->buckets.clear();
  auto positive = message.positive_counts.begin();
  AppendSide(
      message.positive_spans, [&positive] { return *positive++; }, &layout.positive_spans,
      &out->buckets);
  auto negative = message.negative_counts.begin();
  AppendSide(
      message.negative_spans, [&negative] { return *negative++; }, &layout.negative_spans,
      &out->buckets);
  out->layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
  return absl::OkStatus();
}

}  // namespace narthex::codec
