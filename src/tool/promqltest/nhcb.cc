#include "tool/promqltest/nhcb.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"

namespace narthex::tool {
namespace {

// One classic histogram at one time.
struct ClassicHistogram {
  std::map<double, double> buckets;  // Upper bound -> cumulative count; the first one given stays.
  std::optional<double> count;
  double sum = 0;
};

// A value index -> the histogram there.
using ClassicSeries = std::map<size_t, ClassicHistogram>;

enum class Part : uint8_t { kNone, kBucket, kCount, kSum };

Part PartOf(std::string_view* name) {
  const auto cut = [&](std::string_view suffix) {
    if (!name->ends_with(suffix)) return false;
    name->remove_suffix(suffix.size());
    return true;
  };
  if (cut("_bucket")) return Part::kBucket;
  if (cut("_sum")) return Part::kSum;
  return cut("_count") ? Part::kCount : Part::kNone;
}

void Collect(const SeriesDescription& series, std::map<model::Labels, ClassicSeries>* out) {
  std::string_view name = series.labels.Get(model::kMetricName);
  const Part part = PartOf(&name);
  if (part == Part::kNone) return;
  std::optional<double> bound;
  if (part == Part::kBucket) {
    bound = base::ParseFloat(series.labels.Get(model::kBucketLabel));
    if (!bound.has_value() || std::isnan(*bound)) return;
  }
  model::LabelsBuilder builder(series.labels);
  builder.Set(model::kMetricName, std::string(name)).Delete(model::kBucketLabel);
  ClassicSeries& classic = (*out)[builder.Build()];
  for (size_t i = 0; i < series.values.size(); ++i) {
    const SequenceValue& value = series.values[i];
    if (value.omitted || value.histogram != nullptr) continue;
    ClassicHistogram& histogram = classic[i];
    if (part == Part::kBucket) histogram.buckets.emplace(*bound, value.value);
    if (part == Part::kCount) histogram.count = value.value;
    if (part == Part::kSum) histogram.sum = value.value;
  }
}

bool IsWhole(double value) { return value == std::round(value); }

absl::StatusOr<model::FloatHistogram> Convert(ClassicHistogram classic) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!classic.count.has_value()) {
    classic.count = classic.buckets.empty() ? 0 : classic.buckets.rbegin()->second;
  }
  classic.buckets.emplace(kInfinity, *classic.count);
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = model::kCustomBucketsSchema;
  layout->positive_spans.push_back({0, static_cast<uint32_t>(classic.buckets.size())});
  model::FloatHistogram histogram;
  double before = 0;
  bool all_whole = IsWhole(*classic.count);
  for (const auto& [bound, cumulative] : classic.buckets) {
    if (cumulative < before || cumulative < 0) {
      return base::InvalidArgument("count is not cumulative: ", cumulative, " < ", before);
    }
    all_whole = all_whole && IsWhole(cumulative);
    histogram.buckets.push_back(cumulative - before);
    before = cumulative;
    if (bound != kInfinity) layout->custom_bounds.push_back(bound);
  }
  if (before != *classic.count) {
    return base::InvalidArgument("count mismatch: count=", *classic.count, " != ", before);
  }
  histogram.layout = std::move(layout);
  histogram.count = *classic.count;
  histogram.sum = classic.sum;
  model::Compact(&histogram, all_whole ? 2 : 0);
  return histogram;
}

}  // namespace

absl::StatusOr<std::vector<SeriesDescription>> ConvertClassicHistograms(
    const std::vector<const SeriesDescription*>& series) {
  std::map<model::Labels, ClassicSeries> collected;
  for (const SeriesDescription* one : series) Collect(*one, &collected);
  std::vector<SeriesDescription> out;
  for (auto& [labels, classic] : collected) {
    SeriesDescription converted;
    converted.labels = labels;
    if (!classic.empty()) converted.values.resize(classic.rbegin()->first + 1);
    for (SequenceValue& value : converted.values) value.omitted = true;
    for (auto& [index, histogram] : classic) {
      NX_ASSIGN_OR_RETURN(model::FloatHistogram native, Convert(std::move(histogram)));
      SequenceValue& value = converted.values[index];
      value.omitted = false;
      value.histogram = std::make_shared<const model::FloatHistogram>(std::move(native));
    }
    out.push_back(std::move(converted));
  }
  return out;
}

}  // namespace narthex::tool
