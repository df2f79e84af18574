#include "promql/exec/scalar_operators.h"

#include <cmath>
#include <limits>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::promql {
namespace {

// A filter leaves elements what they are; anything else makes new values.
bool DropsMetadata(const Binary& binary) { return IsArithmetic(binary.op) || binary.return_bool; }

}  // namespace

absl::Status ConstantOperator::Prepare() {
  OwnSeries()->Add({});
  return absl::OkStatus();
}

absl::Status ConstantOperator::Read(size_t, Column* out) {
  out->Reset(grid().count);
  out->FillFloats(0, grid().count, value_);
  return absl::OkStatus();
}

absl::Status TimeOperator::Prepare() {
  OwnSeries()->Add({});
  return absl::OkStatus();
}

absl::Status TimeOperator::Read(size_t, Column* out) {
  out->Reset(grid().count);
  for (size_t step = 0; step < grid().count; ++step) {
    const int64_t time_ms = grid().TimeAt(step);
    out->SetFloat(step, whole_seconds_ ? static_cast<double>(time_ms / 1000)
                                       : static_cast<double>(time_ms) / 1000);
  }
  if (kernel_ != nullptr) kernel_(out->mutable_values());
  return absl::OkStatus();
}

absl::Status EmptyOperator::Read(size_t, Column* out) {
  out->Reset(grid().count);
  return absl::OkStatus();
}

absl::Status ScalarPairOperator::Prepare() {
  NX_RETURN_IF_ERROR(left_->Prepare());
  NX_RETURN_IF_ERROR(right_->Prepare());
  OwnSeries()->Add({});
  return absl::OkStatus();
}

absl::Status ScalarPairOperator::Read(size_t, Column* out) {
  NX_RETURN_IF_ERROR(left_->Read(0, out));
  NX_RETURN_IF_ERROR(right_->Read(0, &right_values_));
  const std::span<double> values = out->mutable_values();
  for (size_t step = 0; step < values.size(); ++step) {
    values[step] = function_(op_, values[step], right_values_.value(step));
  }
  return absl::OkStatus();
}

absl::Status ScalarOfOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  OwnSeries()->Add({});
  return absl::OkStatus();
}

absl::Status ScalarOfOperator::Read(size_t, Column* out) {
  out->Reset(grid().count);
  Column column;
  std::vector<bool> several(grid().count, false);
  for (size_t i = 0; i < input_->series().size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(i, &column));
    for (size_t step = 0; step < grid().count; ++step) {
      if (column.kind(step) != PointKind::kFloat) continue;
      if (out->has(step)) several[step] = true;
      out->SetFloat(step, column.value(step));
    }
  }
  for (size_t step = 0; step < grid().count; ++step) {
    if (several[step] || !out->has(step)) out->SetFloat(step, model::NormalNan());
  }
  return absl::OkStatus();
}

absl::Status NegatedScalarOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  ShareSeries(input_->series());
  return absl::OkStatus();
}

absl::Status NegatedScalarOperator::Read(size_t index, Column* out) {
  NX_RETURN_IF_ERROR(input_->Read(index, out));
  for (double& value : out->mutable_values()) value = -value;
  return absl::OkStatus();
}

VectorScalarOperator::VectorScalarOperator(QueryContext* context, OperatorPtr vector,
                                           OperatorPtr scalar, Side side, const Binary& binary)
    : MapOperator(context, std::move(vector),
                  DropsMetadata(binary) ? LabelChange::kDropMetadata : LabelChange::kNone),
      scalar_(std::move(scalar)),
      side_(side),
      op_(binary.op),
      return_bool_(binary.return_bool),
      position_(static_cast<uint32_t>(binary.position.begin)) {}

absl::Status VectorScalarOperator::Transform(size_t, Column* column) {
  const bool trims = op_ == BinaryOp::kTrimLower || op_ == BinaryOp::kTrimUpper;
  if (column->num_histograms() == 0 && !trims) {
    TransformFloats(column);
    return absl::OkStatus();
  }
  for (size_t step = 0; step < column->size(); ++step) {
    if (column->has(step)) TransformStep(step, column);
  }
  return absl::OkStatus();
}

// Fast path: floats only. Steps without a point are computed with the rest; nobody looks at them.
void VectorScalarOperator::TransformFloats(Column* column) const {
  const std::span<double> values = column->mutable_values();
  const std::span<const double> scalars = scalar_values_.values();
  const bool swapped = side_ == Side::kScalarLeft;
  if (IsArithmetic(op_)) {
    if (swapped) {
      ArithmeticKernel(op_, scalars, values, values);
    } else {
      ArithmeticKernel(op_, values, scalars, values);
    }
    return;
  }
  for (size_t step = 0; step < values.size(); ++step) {
    const bool holds = swapped ? Compare(op_, scalars[step], values[step])
                               : Compare(op_, values[step], scalars[step]);
    if (return_bool_) {
      values[step] = holds ? 1 : 0;
    } else if (!holds) {
      column->Clear(step);
    }
  }
}

// Slow path: a point that may be a histogram. Of a comparison the vector's element remains.
void VectorScalarOperator::TransformStep(size_t step, Column* column) {
  const HistogramPtr histogram =
      column->kind(step) == PointKind::kHistogram ? column->histogram(step) : nullptr;
  const Operand element{histogram == nullptr ? column->value(step) : 0, histogram.get()};
  const Operand scalar{scalar_values_.value(step), nullptr};
  const bool swapped = side_ == Side::kScalarLeft;
  ElementResult result =
      swapped ? BinaryElement(op_, scalar, nullptr, element, position_, &context().annotations)
              : BinaryElement(op_, element, &histogram, scalar, position_, &context().annotations);
  using State = ElementResult::State;
  if (result.state == State::kIncompatible) {
    column->Clear(step);
  } else if (return_bool_) {
    column->SetFloat(step, result.state == State::kKeep ? 1 : 0);
  } else if (result.state == State::kFiltered) {
    column->Clear(step);
  } else if (IsComparison(op_)) {
    return;
  } else if (result.histogram != nullptr) {
    column->SetHistogram(step, std::move(result.histogram));
  } else {
    column->SetFloat(step, result.value);
  }
}

}  // namespace narthex::promql
