#include "narthex/model/histogram_text.h"

#include <limits>
#include <string_view>

#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/histogram_buckets.h"
#include "narthex/model/histogram_math.h"

namespace narthex::model {
namespace {

void AppendNumber(std::string* out, double value) { base::AppendFloatG(out, value); }

// " key:value", or nothing for the default 0.
void AppendKey(std::string* out, std::string_view key, double value) {
  if (value == 0) return;
  base::StrAppend(out, " ", key, ":");
  AppendNumber(out, value);
}

void AppendList(std::string* out, std::string_view key, std::span<const double> values) {
  base::StrAppend(out, " ", key, ":[");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->push_back(' ');
    AppendNumber(out, values[i]);
  }
  out->push_back(']');
}

void AppendSide(std::string* out, std::string_view prefix, const std::vector<BucketSpan>& spans,
                std::span<const double> counts) {
  if (counts.empty()) return;
  if (spans[0].offset != 0) base::StrAppend(out, " ", prefix, "offset:", spans[0].offset);
  AppendList(out, base::StrCat(prefix, "buckets"), counts);
}

std::string_view HintName(CounterResetHint hint) {
  switch (hint) {
    case CounterResetHint::kUnknown:
      return "";
    case CounterResetHint::kReset:
      return "reset";
    case CounterResetHint::kNotReset:
      return "not_reset";
    case CounterResetHint::kGauge:
      return "gauge";
  }
  return "";
}

}  // namespace

std::string ToString(const HistogramView& histogram) {
  std::string out = "{count:";
  AppendNumber(&out, histogram.count);
  out += ", sum:";
  AppendNumber(&out, histogram.sum);
  const auto append = [&out](const HistogramBucket& bucket) {
    out += bucket.lower_inclusive ? ", [" : ", (";
    AppendNumber(&out, bucket.lower);
    out.push_back(',');
    AppendNumber(&out, bucket.upper);
    out += bucket.upper_inclusive ? "]:" : "):";
    AppendNumber(&out, bucket.count);
  };
  SideCursor negative(histogram, BucketSide::kNegative, /*outward=*/false);
  while (negative.Next()) {
    if (negative.count() != 0) append(negative.bucket());
  }
  if (histogram.zero_count != 0) {
    const double threshold = histogram.shape().zero_threshold;
    append({-threshold, threshold, true, true, histogram.zero_count, 0});
  }
  SideCursor positive(histogram, BucketSide::kPositive);
  while (positive.Next()) {
    if (positive.count() != 0) append(positive.bucket());
  }
  out.push_back('}');
  return out;
}

std::string ToTestNotation(const HistogramView& histogram) {
  // One run of buckets per side: gaps of any length are filled.
  FloatHistogram compacted = Materialize(histogram);
  Compact(&compacted, std::numeric_limits<int>::max());
  const HistogramView view = compacted;
  const HistogramLayout& layout = *compacted.layout;
  std::string out;
  AppendKey(&out, "schema", layout.schema);
  AppendKey(&out, "count", compacted.count);
  AppendKey(&out, "sum", compacted.sum);
  AppendKey(&out, "z_bucket", compacted.zero_count);
  AppendKey(&out, "z_bucket_w", layout.zero_threshold);
  if (layout.has_custom_buckets()) AppendList(&out, "custom_values", layout.custom_bounds);
  if (const std::string_view hint = HintName(compacted.hint); !hint.empty()) {
    base::StrAppend(&out, " counter_reset_hint:", hint);
  }
  AppendSide(&out, "", layout.positive_spans, view.positive());
  AppendSide(&out, "n_", layout.negative_spans, view.negative());
  if (!out.empty()) out.erase(0, 1);
  return base::StrCat("{{", out, "}}");
}

}  // namespace narthex::model
