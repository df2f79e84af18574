// Aggregations that keep some elements of each group as they are: topk, bottomk, limitk and
// limit_ratio; and count_values, whose result labels depend on values. Except for limit_ratio they
// look at all samples before their series are known. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/aggregation.h"
#include "promql/exec/grouping.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// topk, bottomk, limitk. Holds at most k points per group and step. In an instant query the result
// is ordered: group by group, best first.
class SelectKOperator final : public Operator {
 public:
  SelectKOperator(QueryContext* context, OperatorPtr input, OperatorPtr parameter,
                  const Aggregation* aggregation);
  ~SelectKOperator() override;
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  struct Point {
    uint32_t series;
    uint32_t step;
    double value;
    HistogramPtr histogram;
  };
  absl::Status CheckParameter(bool* nothing) const;
  absl::Status Consume();
  absl::Status Offer(const Column& column, uint32_t series, uint32_t group);
  bool Worse(const Point& a, const Point& b) const;
  void Arrange();

  const OperatorPtr input_, parameter_;
  const Aggregation& aggregation_;
  Column counts_;
  std::vector<uint32_t> group_of_;
  size_t num_groups_ = 0;
  std::vector<std::vector<Point>> heaps_;  // Step-major, one per group; the worst is on top.
  std::vector<Point> points_;              // What was selected, by result series.
  std::vector<uint32_t> point_begins_;
  uint64_t held_samples_ = 0, held_bytes_ = 0;
};

// limit_ratio: keeps a series by the hash of its labels.
class LimitRatioOperator final : public MapOperator {
 public:
  LimitRatioOperator(QueryContext* context, OperatorPtr input, OperatorPtr parameter,
                     const Aggregation* aggregation)
      : MapOperator(context, std::move(input), LabelChange::kNone),
        parameter_(std::move(parameter)),
        aggregation_(*aggregation) {}

 private:
  absl::Status Begin() override;
  absl::Status Transform(size_t index, Column* column) override;

  const OperatorPtr parameter_;
  const Aggregation& aggregation_;
  Column ratios_;
};

// count_values("label", v).
class CountValuesOperator final : public Operator {
 public:
  CountValuesOperator(QueryContext* context, OperatorPtr input, const Aggregation* aggregation)
      : Operator(context, input->grid()), input_(std::move(input)), aggregation_(*aggregation) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  absl::Status Consume();

  const OperatorPtr input_;
  const Aggregation& aggregation_;
  std::vector<Column> counts_;  // Per result series.
};

}  // namespace narthex::promql
