// Functions over range vectors: a kernel slides over each series. Thread-compatible.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/operator.h"
#include "promql/exec/range_source.h"
#include "promql/functions/range_functions.h"

namespace narthex::promql {

// One of the functions of range_functions.h.
class RangeFunctionOperator final : public Operator {
 public:
  // `scalars` in the order they are written; `position` is where the range argument begins,
  // `scalar_position` where the first scalar does.
  RangeFunctionOperator(QueryContext* context, const StepGrid& grid, const RangeFunction* function,
                        std::unique_ptr<RangeSource> source, std::vector<OperatorPtr> scalars,
                        uint32_t position, uint32_t scalar_position);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  absl::Status ReadInput(size_t index, Column* out);
  absl::Status Evaluate(const Window& window, size_t step, NoteSet* notes, Column* out);
  void Annotate(size_t index, NoteSet notes, const Column& out);

  const RangeFunction& function_;
  const std::unique_ptr<RangeSource> source_;
  const std::vector<OperatorPtr> scalars_;
  const uint32_t position_, scalar_position_;
  const bool takes_quantile_;
  std::unique_ptr<SlidingKernel> sliding_;
  std::vector<Column> scalar_values_;
  MergePlan merge_;
  RangeResult result_;
  Column scratch_;
};

// absent_over_time(): 1 at the steps at which no series has a sample in its window.
class AbsentOverTimeOperator final : public Operator {
 public:
  AbsentOverTimeOperator(QueryContext* context, const StepGrid& grid,
                         std::unique_ptr<RangeSource> source,
                         std::vector<model::SymbolLabel> labels);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const std::unique_ptr<RangeSource> source_;
  const std::vector<model::SymbolLabel> labels_;
};

}  // namespace narthex::promql
