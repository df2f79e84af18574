#include "promql/exec/elementwise.h"

#include <cmath>
#include <limits>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/histogram_math.h"

namespace narthex::promql {

absl::Status FloatFunctionOperator::Transform(size_t, Column* column) {
  column->DropHistograms();
  if (!column->empty()) kernel_(column->mutable_values());
  return absl::OkStatus();
}

absl::Status ClampOperator::Begin() {
  if (min_ != nullptr) NX_RETURN_IF_ERROR(ReadScalar(min_.get(), &min_values_));
  if (max_ != nullptr) NX_RETURN_IF_ERROR(ReadScalar(max_.get(), &max_values_));
  return absl::OkStatus();
}

absl::Status ClampOperator::Transform(size_t, Column* column) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  column->DropHistograms();
  for (size_t step = 0; step < column->size(); ++step) {
    if (!column->has(step)) continue;
    const double min = min_ == nullptr ? -kInfinity : min_values_.value(step);
    const double max = max_ == nullptr ? kInfinity : max_values_.value(step);
    if (max < min) {
      column->Clear(step);
    } else {
      Clamp(column->mutable_values().subspan(step, 1), min, max);
    }
  }
  return absl::OkStatus();
}

absl::Status RoundOperator::Begin() {
  if (to_nearest_ == nullptr) return absl::OkStatus();
  return ReadScalar(to_nearest_.get(), &to_nearest_values_);
}

absl::Status RoundOperator::Transform(size_t, Column* column) {
  column->DropHistograms();
  if (to_nearest_ == nullptr) {
    Round(column->mutable_values(), 1);
    return absl::OkStatus();
  }
  for (size_t step = 0; step < column->size(); ++step) {
    Round(column->mutable_values().subspan(step, 1), to_nearest_values_.value(step));
  }
  return absl::OkStatus();
}

absl::Status HistogramFunctionOperator::Transform(size_t, Column* column) {
  for (size_t step = 0; step < column->size(); ++step) {
    if (column->kind(step) == PointKind::kHistogram) {
      column->SetFloat(step, kernel_(*column->histogram(step)));
    } else {
      column->Clear(step);
    }
  }
  return absl::OkStatus();
}

absl::Status NegateOperator::Transform(size_t, Column* column) {
  for (double& value : column->mutable_values()) value = -value;
  if (column->num_histograms() == 0) return absl::OkStatus();
  for (size_t step = 0; step < column->size(); ++step) {
    if (column->kind(step) != PointKind::kHistogram) continue;
    model::FloatHistogram negated = *column->histogram(step);
    model::Multiply(&negated, -1);
    column->SetHistogram(step, std::make_shared<const model::FloatHistogram>(std::move(negated)));
  }
  return absl::OkStatus();
}

absl::Status EvaluationTimeOperator::Transform(size_t, Column* column) {
  for (size_t step = 0; step < column->size(); ++step) {
    if (!column->has(step)) continue;
    column->SetFloat(step, static_cast<double>(grid().TimeAt(step)) / 1000);
  }
  return absl::OkStatus();
}

absl::Status AbsentOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  OwnSeries()->Add(labels_);
  return absl::OkStatus();
}

absl::Status AbsentOperator::Read(size_t, Column* out) {
  out->Reset(grid().count);
  out->FillFloats(0, grid().count, 1);
  Column column;
  for (size_t i = 0; i < input_->series().size() && !out->empty(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    for (size_t step = 0; step < grid().count; ++step) {
      if (column.has(step)) out->Clear(step);
    }
  }
  return absl::OkStatus();
}

}  // namespace narthex::promql
