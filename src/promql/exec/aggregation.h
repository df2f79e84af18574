// sum, avg, count, min, max, group, stddev and stdvar: series stream through one row of cells per
// group. And quantile, which has to keep the values of each step. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/group_row.h"
#include "promql/exec/grouping.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// The extremes of an aggregation's parameter over all steps, NaN left out.
struct ParameterBounds {
  double min = 0;
  double max = 0;
  bool any_nan = false;
};
ParameterBounds BoundsOf(const Column& parameter);

class AggregationOperator final : public Operator {
 public:
  // `aggregation` must outlive this.
  AggregationOperator(QueryContext* context, OperatorPtr input, const Aggregation* aggregation);
  ~AggregationOperator() override;
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  absl::Status Consume();

  const OperatorPtr input_;
  const Aggregation& aggregation_;
  RowNotes notes_;
  std::vector<uint32_t> group_of_;
  std::vector<std::unique_ptr<GroupRow>> rows_;
  bool consumed_ = false;
  uint64_t held_samples_ = 0, held_bytes_ = 0;
};

class QuantileOperator final : public Operator {
 public:
  QuantileOperator(QueryContext* context, OperatorPtr input, OperatorPtr parameter,
                   const Aggregation* aggregation);
  ~QuantileOperator() override;
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  absl::Status Consume();
  void CheckQuantiles();

  const OperatorPtr input_, parameter_;
  const Aggregation& aggregation_;
  RowNotes notes_;
  Column quantiles_;
  std::vector<uint32_t> group_of_;
  std::vector<std::vector<double>> values_;  // Group-major, a list per step.
  bool consumed_ = false;
  uint64_t held_samples_ = 0, held_bytes_ = 0;
};

}  // namespace narthex::promql
