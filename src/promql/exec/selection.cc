#include "promql/exec/selection.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_text.h"
#include "narthex/model/labels.h"
#include "promql/exec/label_functions.h"

namespace narthex::promql {

using model::Symbol;
using model::SymbolLabel;

SelectKOperator::SelectKOperator(QueryContext* context, OperatorPtr input, OperatorPtr parameter,
                                 const Aggregation* aggregation)
    : Operator(context, input->grid()),
      input_(std::move(input)),
      parameter_(std::move(parameter)),
      aggregation_(*aggregation) {}

SelectKOperator::~SelectKOperator() {
  context().budget.Return(held_samples_, held_samples_ * sizeof(Point) + held_bytes_);
}

absl::Status SelectKOperator::CheckParameter(bool* nothing) const {
  const ParameterBounds bounds = BoundsOf(counts_);
  *nothing = !bounds.any_nan && bounds.max < 1;
  if (*nothing) return absl::OkStatus();
  if (bounds.any_nan) return base::FailedPrecondition("Parameter value is NaN");
  constexpr double kLimit = 9223372036854774784.0;  // The largest double an int64_t can hold.
  std::string text;
  if (bounds.min <= -9223372036854775808.0) {
    base::AppendFloatG(&text, bounds.min);
    return base::FailedPrecondition("Scalar value ", text, " underflows int64");
  }
  if (bounds.max > kLimit) {
    base::AppendFloatG(&text, bounds.max);
    return base::FailedPrecondition("Scalar value ", text, " overflows int64");
  }
  return absl::OkStatus();
}

absl::Status SelectKOperator::Prepare() {
  NX_RETURN_IF_ERROR(ReadScalar(parameter_.get(), &counts_));
  NX_RETURN_IF_ERROR(input_->Prepare());
  bool nothing = false;
  NX_RETURN_IF_ERROR(CheckParameter(&nothing));
  if (nothing) return absl::OkStatus();
  const Grouping grouping(&context(), aggregation_.grouping, aggregation_.without);
  Groups groups = GroupSeries(grouping, input_->series());
  num_groups_ = groups.series.size();
  group_of_ = std::move(groups.group_of);
  held_bytes_ = num_groups_ * grid().count * sizeof(heaps_[0]);
  NX_RETURN_IF_ERROR(context().budget.Take(0, held_bytes_));
  heaps_.resize(num_groups_ * grid().count);
  NX_RETURN_IF_ERROR(Consume());
  Arrange();
  return absl::OkStatus();
}

// NaN is worse than any number; among equals the one that came later is.
bool SelectKOperator::Worse(const Point& a, const Point& b) const {
  const bool a_nan = std::isnan(a.value);
  const bool b_nan = std::isnan(b.value);
  if (a_nan != b_nan) return a_nan;
  if (a_nan || a.value == b.value) return a.series > b.series;
  return aggregation_.op == AggregateOp::kTopk ? a.value < b.value : a.value > b.value;
}

absl::Status SelectKOperator::Consume() {
  Column column;
  for (uint32_t i = 0; i < group_of_.size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    NX_RETURN_IF_ERROR(context().Tick(1 + column.num_points() / 4));
    if (column.empty()) continue;
    if (aggregation_.op != AggregateOp::kLimitk && column.num_histograms() != 0) {
      context().annotations.AddIgnoredInAggregation(
          AggregateOpName(aggregation_.op), static_cast<uint32_t>(aggregation_.position.begin));
    }
    NX_RETURN_IF_ERROR(Offer(column, i, group_of_[i]));
  }
  return absl::OkStatus();
}

absl::Status SelectKOperator::Offer(const Column& column, uint32_t series, uint32_t group) {
  const auto better = [this](const Point& a, const Point& b) { return Worse(b, a); };
  const bool limit = aggregation_.op == AggregateOp::kLimitk;
  for (uint32_t step = 0; step < column.size(); ++step) {
    if (!column.has(step) || counts_.value(step) < 1) continue;
    if (!limit && column.kind(step) != PointKind::kFloat) continue;
    const double wanted = std::min(counts_.value(step), static_cast<double>(group_of_.size()));
    std::vector<Point>& heap = heaps_[step * num_groups_ + group];
    const bool full = heap.size() >= static_cast<size_t>(wanted);
    if (full && limit) continue;
    Point point{series, step, 0, nullptr};
    if (column.kind(step) == PointKind::kFloat) {
      point.value = column.value(step);
    } else {
      point.histogram = column.histogram(step);
    }
    if (limit) {
      heap.push_back(std::move(point));
    } else if (!full) {
      heap.push_back(std::move(point));
      std::ranges::push_heap(heap, better);
    } else if (Worse(heap.front(), point)) {
      std::ranges::pop_heap(heap, better);
      heap.back() = std::move(point);
      std::ranges::push_heap(heap, better);
    }
    if (full) continue;
    NX_RETURN_IF_ERROR(context().budget.Take(1, sizeof(Point)));
    ++held_samples_;
  }
  return absl::OkStatus();
}

// From heaps to result series.
void SelectKOperator::Arrange() {
  const SeriesList& input = input_->series();
  const bool instant = grid().count == 1;
  for (std::vector<Point>& heap : heaps_) {
    if (instant && aggregation_.op != AggregateOp::kLimitk) {
      std::ranges::sort(heap, [this](const Point& a, const Point& b) { return Worse(b, a); });
    }
    points_.insert(points_.end(), std::make_move_iterator(heap.begin()),
                   std::make_move_iterator(heap.end()));
    heap = {};
  }
  if (!instant) std::ranges::stable_sort(points_, {}, &Point::series);
  for (uint32_t i = 0; i < points_.size(); ++i) {
    const uint32_t series = points_[i].series;
    if (i != 0 && points_[i - 1].series == series) continue;
    point_begins_.push_back(i);
    OwnSeries()->Add(input.labels(series), input.drop_name(series));
  }
  point_begins_.push_back(static_cast<uint32_t>(points_.size()));
}

absl::Status SelectKOperator::Read(size_t index, Column* out) {
  out->Reset(grid().count);
  for (uint32_t i = point_begins_[index]; i < point_begins_[index + 1]; ++i) {
    const Point& point = points_[i];
    if (point.histogram != nullptr) {
      out->SetHistogram(point.step, point.histogram);
    } else {
      out->SetFloat(point.step, point.value);
    }
  }
  return absl::OkStatus();
}

absl::Status LimitRatioOperator::Begin() {
  NX_RETURN_IF_ERROR(ReadScalar(parameter_.get(), &ratios_));
  const ParameterBounds bounds = BoundsOf(ratios_);
  if (bounds.any_nan) return base::FailedPrecondition("Ratio value is NaN");
  const auto position = static_cast<uint32_t>(aggregation_.parameter->position.begin);
  if (bounds.max > 1) context().annotations.AddInvalidRatio(bounds.max, 1, position);
  if (bounds.min < -1) context().annotations.AddInvalidRatio(bounds.min, -1, position);
  return absl::OkStatus();
}

namespace {

// Sizes below 255 take one byte, others a marker and three.
void AppendSized(std::string_view text, std::string* out) {
  if (text.size() < 255) {
    *out += static_cast<char>(text.size());
  } else {
    *out += '\xff';
    for (int shift = 0; shift < 24; shift += 8) *out += static_cast<char>(text.size() >> shift);
  }
  *out += text;
}

}  // namespace

// A series' place is the hash that Prometheus gives its labels, so that both keep the same ones.
absl::Status LimitRatioOperator::Transform(size_t index, Column* column) {
  std::string packed;
  for (const SymbolLabel& label : input().series().labels(index)) {
    AppendSized(context().symbols->Text(label.name), &packed);
    AppendSized(context().symbols->Text(label.value), &packed);
  }
  const uint64_t hash = XXH64(packed.data(), packed.size(), 0);
  const double place =
      static_cast<double>(hash) / static_cast<double>(std::numeric_limits<uint64_t>::max());
  for (size_t step = 0; step < column->size(); ++step) {
    const double ratio = std::clamp(ratios_.value(step), -1.0, 1.0);
    const bool kept = ratio >= 0 ? place < ratio : place >= 1 + ratio;
    if (!kept) column->Clear(step);
  }
  return absl::OkStatus();
}

absl::Status CountValuesOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  return Consume();
}

absl::Status CountValuesOperator::Consume() {
  const std::string& label = StringArgument(*aggregation_.parameter);
  if (!model::IsValidLabelName(label, model::NameValidation::kUtf8)) {
    std::string quoted;
    model::AppendQuoted(&quoted, label);
    return base::FailedPrecondition("invalid label name ", quoted);
  }
  std::vector<std::string> names = aggregation_.grouping;
  if (!aggregation_.without) names.push_back(label);
  const Grouping grouping(&context(), names, aggregation_.without);
  const Symbol label_symbol = context().symbols->Intern(label);
  LabelSetIndex results;
  std::vector<SymbolLabel> all, kept;
  std::unordered_map<Symbol, uint32_t> result_of;  // Of one series' values.
  Column column;
  for (size_t i = 0; i < input_->series().size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    NX_RETURN_IF_ERROR(context().Tick(1 + column.num_points()));
    result_of.clear();
    const LabelSpan labels = input_->series().labels(i);
    for (size_t step = 0; step < grid().count; ++step) {
      if (!column.has(step)) continue;
      std::string text;
      if (column.kind(step) == PointKind::kFloat) {
        base::AppendFloatFixed(&text, column.value(step));
      } else {
        text = model::ToString(*column.histogram(step));
      }
      const Symbol value = context().symbols->Intern(text);
      const auto [place, is_new] = result_of.try_emplace(value, 0);
      if (is_new) {
        all.assign(labels.begin(), labels.end());
        SetLabel(*context().symbols, label_symbol, value, &all);
        kept.clear();
        grouping.AppendGroupLabels(all, &kept);
        place->second = results.Insert(kept).id;
        if (place->second == counts_.size()) {
          counts_.emplace_back().Reset(grid().count);
          NX_RETURN_IF_ERROR(context().budget.Take(1, counts_.back().num_bytes()));
        }
      }
      Column& counts = counts_[place->second];
      counts.SetFloat(step, counts.has(step) ? counts.value(step) + 1 : 1);
    }
  }
  *OwnSeries() = std::move(results).TakeSets();
  return absl::OkStatus();
}

absl::Status CountValuesOperator::Read(size_t index, Column* out) {
  *out = std::move(counts_[index]);
  return absl::OkStatus();
}

}  // namespace narthex::promql
