// Counter resets between two histograms, as queries see them. A later histogram of the same counter
// may have a lower resolution, a wider zero bucket and more buckets; then the earlier one is
// brought to its shape before counts are compared.
#include <limits>
#include <vector>

#include "model/histogram_kernels.h"
#include "model/histogram_parts.h"
#include "narthex/model/histogram_buckets.h"
#include "narthex/model/histogram_math.h"

namespace narthex::model {
namespace {

// Walks the buckets of one side in the resolution of `schema`, without those that end within the
// zero bucket.
class MergedCursor {
 public:
  MergedCursor(const HistogramView& histogram, BucketSide side, int32_t schema,
               double zero_threshold)
      : cursor_(histogram, side),
        shift_(histogram.shape().schema - schema),
        schema_(schema),
        zero_threshold_(zero_threshold),
        more_(cursor_.Next()),
        within_zero_bucket_(zero_threshold != 0) {}

  bool Next() {
    while (more_) {
      index_ = Target(cursor_.index());
      count_ = 0;
      do {
        count_ += cursor_.count();
        more_ = cursor_.Next();
      } while (more_ && Target(cursor_.index()) == index_);
      within_zero_bucket_ =
          within_zero_bucket_ && ExponentialUpperBound(index_, schema_) <= zero_threshold_;
      if (!within_zero_bucket_) return true;
    }
    return false;
  }
  int64_t index() const { return index_; }
  double count() const { return count_; }

 private:
  int64_t Target(int64_t index) const { return ((index - 1) >> shift_) + 1; }

  SideCursor cursor_;
  int shift_;
  int32_t schema_;
  double zero_threshold_;
  bool more_;
  bool within_zero_bucket_;
  int64_t index_ = 0;
  double count_ = 0;
};

// Whether a bucket of `previous` is populated and gone, or larger than in `current`.
bool SideWasReset(MergedCursor current, MergedCursor previous) {
  bool more = current.Next();
  while (previous.Next()) {
    while (more && current.index() < previous.index()) more = current.Next();
    if (!more || current.index() > previous.index()) {
      if (previous.count() != 0) return true;
    } else if (current.count() < previous.count()) {
      return true;
    }
  }
  return false;
}

// Compares what lies between the bounds that both have.
bool WasResetOverSharedBounds(const HistogramView& current, const HistogramView& previous) {
  std::vector<double> bounds =
      SharedBounds(current.shape().custom_bounds, previous.shape().custom_bounds);
  bounds.push_back(std::numeric_limits<double>::infinity());
  SideCursor now(current, BucketSide::kPositive);
  SideCursor before(previous, BucketSide::kPositive);
  bool more_now = now.Next();
  bool more_before = before.Next();
  const auto roll_up = [](SideCursor* cursor, bool* more, const HistogramLayout& layout,
                          double bound) {
    double sum = 0;
    while (*more && BucketBound(layout, cursor->index()) <= bound) {
      sum += cursor->count();
      *more = cursor->Next();
    }
    return sum;
  };
  for (const double bound : bounds) {
    const double sum_now = roll_up(&now, &more_now, current.shape(), bound);
    const double sum_before = roll_up(&before, &more_before, previous.shape(), bound);
    if (sum_now < sum_before) return true;
  }
  return false;
}

}  // namespace

bool DetectReset(const HistogramView& current, const HistogramView& previous) {
  if (current.hint == CounterResetHint::kReset) return true;
  if (current.hint == CounterResetHint::kNotReset) return false;
  if (current.count < previous.count) return true;

  const HistogramLayout& now = current.shape();
  const HistogramLayout& before = previous.shape();
  if (&now == &before || now == before) {
    // Fast path: the same buckets. Those within the zero bucket, which no sane histogram has, do
    // not count, so a decrease has to be looked at again.
    if (current.zero_count < previous.zero_count) return true;
    if (!AnyLess(current.buckets, previous.buckets)) return false;
    if (now.zero_threshold == 0) return true;
  }
  const bool custom = now.has_custom_buckets();
  if (custom) {
    if (!before.has_custom_buckets()) return true;
    if (now.custom_bounds != before.custom_bounds) {
      return WasResetOverSharedBounds(current, previous);
    }
  }
  if (now.schema > before.schema) return true;
  if (now.zero_threshold < before.zero_threshold) return true;
  double zero_count_before = previous.zero_count;
  if (now.zero_threshold > before.zero_threshold) {
    double threshold = now.zero_threshold;
    zero_count_before = WidenedZero(TakeApart(previous, {}), &threshold).sum;
    // The new threshold cuts a populated bucket: that takes a reset.
    if (threshold != now.zero_threshold) return true;
  }
  if (current.zero_count < zero_count_before) return true;
  for (const BucketSide side : {BucketSide::kPositive, BucketSide::kNegative}) {
    if (SideWasReset(MergedCursor(current, side, now.schema, now.zero_threshold),
                     MergedCursor(previous, side, now.schema, now.zero_threshold))) {
      return true;
    }
  }
  return false;
}

}  // namespace narthex::model
