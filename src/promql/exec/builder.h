// From a planned expression to its tree of operators. Thread-compatible; bound to one query.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "promql/exec/operator.h"
#include "promql/exec/range_source.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

class OperatorBuilder {
 public:
  explicit OperatorBuilder(QueryContext* context) : context_(context) {}

  // The operator of a scalar or an instant vector over `grid`. The tree must outlive the result.
  // kFailedPrecondition: arguments that only an evaluation can find wrong.
  absl::StatusOr<OperatorPtr> Build(const Expr& expr, const StepGrid& grid);

  // The windows of a range vector at the steps of `grid`.
  absl::StatusOr<std::unique_ptr<RangeSource>> BuildRange(const Expr& expr, const StepGrid& grid);

 private:
  absl::StatusOr<OperatorPtr> BuildNode(const Expr& expr, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildAggregation(const Aggregation& node, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildUnary(const Unary& node, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildBinary(const Binary& node, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildCall(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildRangeFunction(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildAbsentOverTime(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildVectorFunction(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildHistogramFunction(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildTimestamp(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildClamp(const Call& call, const StepGrid& grid);
  absl::StatusOr<OperatorPtr> BuildSort(const Call& call, const StepGrid& grid);
  // Argument `index`, null if the call has fewer.
  absl::StatusOr<OperatorPtr> BuildArgument(const Call& call, size_t index, const StepGrid& grid);
  // What absent() and its like know of a series that is not there.
  std::vector<model::SymbolLabel> AbsentLabels(const Expr& argument);

  QueryContext* const context_;
};

}  // namespace narthex::promql
