// What orders the elements of an instant query: sort(), sort_desc(), sort_by_label() and its
// reverse. In a range query they change nothing. Thread-compatible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/operator.h"

namespace narthex::promql {

enum class SortOrder : uint8_t { kAscending, kDescending };

// By value, NaN last; histograms are left out.
class SortOperator final : public Operator {
 public:
  SortOperator(QueryContext* context, OperatorPtr input, SortOrder order)
      : Operator(context, input->grid()), input_(std::move(input)), order_(order) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
  const SortOrder order_;
  std::vector<double> sorted_values_;  // Of the series, if this is an instant query.
};

// By the values of labels, numbers within them by their value; then by all labels.
class SortByLabelOperator final : public Operator {
 public:
  SortByLabelOperator(QueryContext* context, OperatorPtr input, std::vector<std::string> labels,
                      SortOrder order)
      : Operator(context, input->grid()),
        input_(std::move(input)),
        labels_(std::move(labels)),
        order_(order) {}
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  const OperatorPtr input_;
  const std::vector<std::string> labels_;
  const SortOrder order_;
  std::vector<uint32_t> places_;
};

// Whether `a` comes before `b` when digits within them are read as numbers.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace narthex::promql
