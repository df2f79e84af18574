// The rules that a stored histogram keeps. Clients see the texts.
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram.h"

namespace narthex::model {
namespace {

using base::InvalidArgument;

constexpr std::string_view kPositiveSide = "positive side: ";
constexpr std::string_view kNegativeSide = "negative side: ";

std::string FixedText(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%f", value);
  return buffer;
}

std::string CountText(int64_t value) { return base::StrCat(value); }
std::string CountText(double value) {
  std::string text;
  base::AppendFloatG(&text, value);
  return text;
}

absl::Status CheckSpans(const std::vector<BucketSpan>& spans, size_t num_buckets,
                        std::string_view side, bool first_may_be_negative) {
  size_t num_needed = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].offset < 0 && !(i == 0 && first_may_be_negative)) {
      return InvalidArgument(side, "span number ", i + 1, " with offset ", spans[i].offset,
                             ": histogram has a span whose offset is negative");
    }
    num_needed += spans[i].length;
  }
  if (num_needed == num_buckets) return absl::OkStatus();
  return InvalidArgument(side, "spans need ", num_needed, " buckets, have ", num_buckets,
                         " buckets: histogram spans specify different number of buckets than "
                         "provided");
}

template <typename Count, typename Bucket>
absl::Status AddBuckets(const Bucket* buckets, size_t num_buckets, std::string_view side,
                        Count* total) {
  for (size_t i = 0; i < num_buckets; ++i) {
    if (buckets[i] < 0) {
      return InvalidArgument(side, "bucket number ", i + 1, " has observation count of ",
                             CountText(buckets[i]),
                             ": histogram has a bucket whose observation count is negative");
    }
    *total += static_cast<Count>(buckets[i]);
  }
  return absl::OkStatus();
}

absl::Status CheckCustomBounds(const std::vector<double>& bounds) {
  double previous = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (std::isnan(bounds[i])) {
      return InvalidArgument("custom buckets: histogram custom bounds must not be NaN");
    }
    if (i > 0 && bounds[i] <= previous) {
      return InvalidArgument("custom buckets: previous bound is ", FixedText(previous),
                             " and current is ", FixedText(bounds[i]),
                             ": histogram custom bounds must be in strictly increasing order");
    }
    previous = bounds[i];
  }
  if (previous != std::numeric_limits<double>::infinity()) return absl::OkStatus();
  return InvalidArgument(
      "custom buckets: last +Inf bound must not be explicitly defined: histogram custom bounds "
      "must "
      "be finite");
}

template <typename Count, typename Bucket>
absl::Status CheckCustomBuckets(const BasicHistogram<Count, Bucket>& histogram) {
  const HistogramLayout& layout = *histogram.layout;
  NX_RETURN_IF_ERROR(CheckCustomBounds(layout.custom_bounds));
  // Which of the buckets belong to the positive side is known only when there is no other.
  if (layout.num_negative() == 0) {
    NX_RETURN_IF_ERROR(CheckSpans(layout.positive_spans, histogram.buckets.size(),
                                  "custom buckets: ", /*first_may_be_negative=*/false));
  }
  int64_t total_length = 0;
  for (const BucketSpan& span : layout.positive_spans) {
    total_length += int64_t{span.offset} + span.length;
  }
  if (total_length > static_cast<int64_t>(layout.custom_bounds.size()) + 1) {
    return InvalidArgument(
        "custom buckets: only ", layout.custom_bounds.size(),
        " custom bounds defined which is insufficient to cover total span length "
        "of ",
        total_length, ": histogram custom bounds are too few");
  }
  if (histogram.zero_count != 0) {
    return InvalidArgument("custom buckets: must have zero count of 0");
  }
  if (layout.zero_threshold != 0) {
    return InvalidArgument("custom buckets: must have zero threshold of 0");
  }
  if (!layout.negative_spans.empty()) {
    return InvalidArgument("custom buckets: must not have negative spans");
  }
  return absl::OkStatus();
}

// Checks layout and negative side; what the negative buckets hold is added to `*total`.
template <typename Count, typename Bucket>
absl::Status CheckExponential(const BasicHistogram<Count, Bucket>& histogram, Count* total) {
  const HistogramLayout& layout = *histogram.layout;
  const size_t num_positive = layout.num_positive();
  const size_t num_buckets = histogram.buckets.size();
  // All buckets lie in one list; a surplus or a lack shows on the last side that has spans.
  const size_t num_negative = num_buckets > num_positive ? num_buckets - num_positive : 0;
  const bool only_positive = layout.negative_spans.empty();
  NX_RETURN_IF_ERROR(
      CheckSpans(layout.positive_spans,
                 only_positive || num_buckets < num_positive ? num_buckets : num_positive,
                 kPositiveSide, /*first_may_be_negative=*/true));
  NX_RETURN_IF_ERROR(CheckSpans(layout.negative_spans, num_negative, kNegativeSide,
                                /*first_may_be_negative=*/true));
  NX_RETURN_IF_ERROR(
      AddBuckets(histogram.buckets.data() + num_positive, num_negative, kNegativeSide, total));
  if constexpr (std::is_floating_point_v<Count>) {
    if (histogram.zero_count < 0) {
      return InvalidArgument("zero bucket has observation count of ",
                             CountText(histogram.zero_count),
                             ": histogram has a bucket whose observation count is negative");
    }
  }
  if (layout.custom_bounds.empty()) return absl::OkStatus();
  return InvalidArgument("histogram with exponential schema must not have custom bounds");
}

template <typename Count, typename Bucket>
absl::Status CheckAll(const BasicHistogram<Count, Bucket>& histogram, Count* total) {
  if (histogram.layout == nullptr) return InvalidArgument("histogram has no bucket layout");
  const int32_t schema = histogram.layout->schema;
  if (schema == kCustomBucketsSchema) {
    NX_RETURN_IF_ERROR(CheckCustomBuckets(histogram));
  } else if (schema >= kMinExponentialSchema && schema <= kMaxExponentialSchema) {
    NX_RETURN_IF_ERROR(CheckExponential(histogram, total));
  } else {
    return InvalidArgument(
        "histogram has an invalid schema, which must be between -4 and 8 for exponential buckets, "
        "or -53 for custom buckets, got schema ",
        schema);
  }
  if constexpr (std::is_floating_point_v<Count>) {
    if (histogram.count < 0) {
      return InvalidArgument("observation count is  ", CountText(histogram.count),
                             ": histogram's observation count is negative");
    }
  }
  return AddBuckets(histogram.buckets.data(), histogram.layout->num_positive(), kPositiveSide,
                    total);
}

}  // namespace

absl::Status Validate(const Histogram& histogram) {
  uint64_t total = histogram.zero_count;
  NX_RETURN_IF_ERROR(CheckAll(histogram, &total));
  const auto mismatch = [&](std::string_view rule) {
    return InvalidArgument(total, " observations found in buckets, but the Count field is ",
                           histogram.count, ": ", rule);
  };
  if (std::isnan(histogram.sum)) {
    if (total <= histogram.count) return absl::OkStatus();
    return mismatch(
        "histogram's observation count should be at least the number of observations found in the "
        "buckets");
  }
  if (total == histogram.count) return absl::OkStatus();
  return mismatch(
      "histogram's observation count should equal the number of observations found in the buckets "
      "(in absence of NaN)");
}

// Counts are not compared with their buckets: sums of floats are not exact.
absl::Status Validate(const FloatHistogram& histogram) {
  double total = 0;
  return CheckAll(histogram, &total);
}

}  // namespace narthex::model
