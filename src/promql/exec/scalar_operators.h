// Operators whose result is a scalar, and those between scalars and vectors. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "promql/exec/arithmetic.h"
#include "promql/exec/operator.h"
#include "promql/functions/instant_functions.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// A number; also vector(number): both are one series without labels.
class ConstantOperator final : public Operator {
 public:
  ConstantOperator(QueryContext* context, const StepGrid& grid, double value)
      : Operator(context, grid), value_(value) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const double value_;
};

// time(); with a kernel, a date function of it.
class TimeOperator final : public Operator {
 public:
  // `kernel` may be null.
  TimeOperator(QueryContext* context, const StepGrid& grid, FloatKernel kernel, bool whole_seconds)
      : Operator(context, grid), kernel_(kernel), whole_seconds_(whole_seconds) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const FloatKernel kernel_;
  const bool whole_seconds_;
};

// A vector without series.
class EmptyOperator final : public Operator {
 public:
  using Operator::Operator;
  absl::Status Prepare() override { return absl::OkStatus(); }
  absl::Status Read(size_t, Column* out) override;
};

// Combines two scalars step by step.
class ScalarPairOperator final : public Operator {
 public:
  using Function = double (*)(BinaryOp op, double left, double right);
  ScalarPairOperator(QueryContext* context, OperatorPtr left, OperatorPtr right, Function function,
                     BinaryOp op)
      : Operator(context, left->grid()),
        left_(std::move(left)),
        right_(std::move(right)),
        function_(function),
        op_(op) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr left_, right_;
  const Function function_;
  const BinaryOp op_;
  Column right_values_;
};

// scalar(v): the only float at each step, else NaN.
class ScalarOfOperator final : public Operator {
 public:
  ScalarOfOperator(QueryContext* context, OperatorPtr input)
      : Operator(context, input->grid()), input_(std::move(input)) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
};

// -scalar.
class NegatedScalarOperator final : public Operator {
 public:
  NegatedScalarOperator(QueryContext* context, OperatorPtr input)
      : Operator(context, input->grid()), input_(std::move(input)) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
};

// vector op scalar, or scalar op vector.
class VectorScalarOperator final : public MapOperator {
 public:
  enum class Side : uint8_t { kScalarRight, kScalarLeft };
  VectorScalarOperator(QueryContext* context, OperatorPtr vector, OperatorPtr scalar, Side side,
                       const Binary& binary);

 private:
  absl::Status Begin() override { return ReadScalar(scalar_.get(), &scalar_values_); }
  absl::Status Transform(size_t index, Column* column) override;
  void TransformFloats(Column* column) const;
  void TransformStep(size_t step, Column* column);

  const OperatorPtr scalar_;
  const Side side_;
  const BinaryOp op_;
  const bool return_bool_;
  const uint32_t position_;
  Column scalar_values_;
};

}  // namespace narthex::promql
