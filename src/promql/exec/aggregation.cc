#include "promql/exec/aggregation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/stale.h"
#include "promql/functions/quantile.h"

namespace narthex::promql {

ParameterBounds BoundsOf(const Column& parameter) {
  ParameterBounds bounds;
  bool first = true;
  for (const double value : parameter.values()) {
    if (std::isnan(value)) {
      bounds.any_nan = true;
      continue;
    }
    bounds.min = first ? value : std::min(bounds.min, value);
    bounds.max = first ? value : std::max(bounds.max, value);
    first = false;
  }
  return bounds;
}

AggregationOperator::AggregationOperator(QueryContext* context, OperatorPtr input,
                                         const Aggregation* aggregation)
    : Operator(context, input->grid()),
      input_(std::move(input)),
      aggregation_(*aggregation),
      notes_(context, aggregation->op, static_cast<uint32_t>(aggregation->expr->position.begin)) {}

AggregationOperator::~AggregationOperator() { context().budget.Return(held_samples_, held_bytes_); }

absl::Status AggregationOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  const Grouping grouping(&context(), aggregation_.grouping, aggregation_.without);
  Groups groups = GroupSeries(grouping, input_->series());
  *OwnSeries() = std::move(groups.series);
  group_of_ = std::move(groups.group_of);
  rows_.resize(series().size());
  return context().Tick(group_of_.size());
}

absl::Status AggregationOperator::Consume() {
  consumed_ = true;
  Column column;
  for (size_t i = 0; i < group_of_.size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    NX_RETURN_IF_ERROR(context().Tick());
    if (column.empty()) continue;
    std::unique_ptr<GroupRow>& row = rows_[group_of_[i]];
    if (row == nullptr) {
      row = NewGroupRow(aggregation_.op, grid().count);
      const size_t bytes = row->num_bytes();
      NX_RETURN_IF_ERROR(context().budget.Take(grid().count, bytes));
      held_samples_ += grid().count;
      held_bytes_ += bytes;
    }
    row->Add(column, input_->series().labels(i), &notes_);
  }
  return absl::OkStatus();
}

absl::Status AggregationOperator::Read(size_t index, Column* out) {
  if (!consumed_) NX_RETURN_IF_ERROR(Consume());
  if (rows_[index] == nullptr) {
    out->Reset(grid().count);
    return absl::OkStatus();
  }
  const size_t bytes = rows_[index]->num_bytes();
  rows_[index]->Finish(&notes_, out);
  rows_[index].reset();
  context().budget.Return(grid().count, bytes);
  held_samples_ -= grid().count;
  held_bytes_ -= bytes;
  return absl::OkStatus();
}

QuantileOperator::QuantileOperator(QueryContext* context, OperatorPtr input, OperatorPtr parameter,
                                   const Aggregation* aggregation)
    : Operator(context, input->grid()),
      input_(std::move(input)),
      parameter_(std::move(parameter)),
      aggregation_(*aggregation),
      notes_(context, aggregation->op, static_cast<uint32_t>(aggregation->expr->position.begin)) {}

QuantileOperator::~QuantileOperator() {
  context().budget.Return(held_samples_, held_samples_ * sizeof(double) + held_bytes_);
}

// The extremes of the parameter are what a user is told about, once.
void QuantileOperator::CheckQuantiles() {
  const ParameterBounds bounds = BoundsOf(quantiles_);
  const auto position = static_cast<uint32_t>(aggregation_.parameter->position.begin);
  if (bounds.any_nan) {
    context().annotations.AddInvalidQuantile(model::NormalNan(), position);
    return;
  }
  if (bounds.max > 1) context().annotations.AddInvalidQuantile(bounds.max, position);
  if (bounds.min < 0) context().annotations.AddInvalidQuantile(bounds.min, position);
}

absl::Status QuantileOperator::Prepare() {
  NX_RETURN_IF_ERROR(ReadScalar(parameter_.get(), &quantiles_));
  NX_RETURN_IF_ERROR(input_->Prepare());
  CheckQuantiles();
  const Grouping grouping(&context(), aggregation_.grouping, aggregation_.without);
  Groups groups = GroupSeries(grouping, input_->series());
  *OwnSeries() = std::move(groups.series);
  group_of_ = std::move(groups.group_of);
  return context().Tick(group_of_.size());
}

absl::Status QuantileOperator::Consume() {
  consumed_ = true;
  const size_t num_steps = grid().count;
  held_bytes_ = series().size() * num_steps * sizeof(values_[0]);
  NX_RETURN_IF_ERROR(context().budget.Take(0, held_bytes_));
  values_.resize(series().size() * num_steps);
  Column column;
  for (size_t i = 0; i < group_of_.size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    NX_RETURN_IF_ERROR(context().Tick());
    if (column.num_histograms() != 0) notes_.AddIgnored();
    NX_RETURN_IF_ERROR(
        context().budget.Take(column.num_floats(), column.num_floats() * sizeof(double)));
    held_samples_ += column.num_floats();
    for (size_t step = 0; step < num_steps; ++step) {
      if (column.kind(step) != PointKind::kFloat) continue;
      values_[group_of_[i] * num_steps + step].push_back(column.value(step));
    }
  }
  return absl::OkStatus();
}

absl::Status QuantileOperator::Read(size_t index, Column* out) {
  if (!consumed_) NX_RETURN_IF_ERROR(Consume());
  out->Reset(grid().count);
  for (size_t step = 0; step < grid().count; ++step) {
    std::vector<double>& values = values_[index * grid().count + step];
    if (!values.empty()) out->SetFloat(step, Quantile(quantiles_.value(step), values));
  }
  return absl::OkStatus();
}

}  // namespace narthex::promql
