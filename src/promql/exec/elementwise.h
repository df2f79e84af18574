// Functions that look at one point of one series at a time. Thread-compatible.
#pragma once

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "promql/exec/operator.h"
#include "promql/functions/instant_functions.h"

namespace narthex::promql {

// abs(), ceil(), ... and the date functions of an argument. Histograms are left out.
class FloatFunctionOperator final : public MapOperator {
 public:
  FloatFunctionOperator(QueryContext* context, OperatorPtr input, FloatKernel kernel)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata), kernel_(kernel) {}

 private:
  absl::Status Transform(size_t index, Column* column) override;

  const FloatKernel kernel_;
};

// clamp(), clamp_min(), clamp_max(); a missing bound is null. Nothing where max < min.
class ClampOperator final : public MapOperator {
 public:
  ClampOperator(QueryContext* context, OperatorPtr input, OperatorPtr min, OperatorPtr max)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata),
        min_(std::move(min)),
        max_(std::move(max)) {}

 private:
  absl::Status Begin() override;
  absl::Status Transform(size_t index, Column* column) override;

  const OperatorPtr min_, max_;
  Column min_values_, max_values_;
};

// round(); without a second argument (null) to integers.
class RoundOperator final : public MapOperator {
 public:
  RoundOperator(QueryContext* context, OperatorPtr input, OperatorPtr to_nearest)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata),
        to_nearest_(std::move(to_nearest)) {}

 private:
  absl::Status Begin() override;
  absl::Status Transform(size_t index, Column* column) override;

  const OperatorPtr to_nearest_;
  Column to_nearest_values_;
};

// histogram_count() and its like. Floats are left out.
class HistogramFunctionOperator final : public MapOperator {
 public:
  HistogramFunctionOperator(QueryContext* context, OperatorPtr input, HistogramKernel kernel)
      : MapOperator(context, std::move(input), LabelChange::kDropName), kernel_(kernel) {}

 private:
  absl::Status Transform(size_t index, Column* column) override;

  const HistogramKernel kernel_;
};

// -v.
class NegateOperator final : public MapOperator {
 public:
  NegateOperator(QueryContext* context, OperatorPtr input)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata) {}

 private:
  absl::Status Transform(size_t index, Column* column) override;
};

// Points as they are, names dropped.
class DropMetadataOperator final : public MapOperator {
 public:
  DropMetadataOperator(QueryContext* context, OperatorPtr input)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata) {}

 private:
  absl::Status Transform(size_t, Column*) override { return absl::OkStatus(); }
};

// timestamp() of anything but a selector: the time of evaluation.
class EvaluationTimeOperator final : public MapOperator {
 public:
  EvaluationTimeOperator(QueryContext* context, OperatorPtr input)
      : MapOperator(context, std::move(input), LabelChange::kDropMetadata) {}

 private:
  absl::Status Transform(size_t index, Column* column) override;
};

// absent(): 1 at the steps without any point.
class AbsentOperator final : public Operator {
 public:
  AbsentOperator(QueryContext* context, OperatorPtr input, std::vector<model::SymbolLabel> labels)
      : Operator(context, input->grid()), input_(std::move(input)), labels_(std::move(labels)) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
  const std::vector<model::SymbolLabel> labels_;
};

}  // namespace narthex::promql
