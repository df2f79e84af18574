// histogram_quantile(), histogram_quantiles() and histogram_fraction(), over classic and native
// histograms alike. Buckets of a classic histogram are put together on labels before any sample is
// read; then one histogram after the other is computed. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/operator.h"
#include "promql/functions/quantile.h"

namespace narthex::promql {

class HistogramOperator final : public Operator {
 public:
  struct Spec {
    enum class Kind : uint8_t { kQuantile, kQuantiles, kFraction };
    Kind kind = Kind::kQuantile;
    // The quantiles; or the lower and the upper bound.
    std::vector<OperatorPtr> scalars;
    std::vector<uint32_t> scalar_positions;
    std::string label;      // kQuantiles: the label that gets the quantile.
    uint32_t position = 0;  // Where the vector argument begins.
  };
  HistogramOperator(QueryContext* context, OperatorPtr input, Spec spec);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  struct Bucket {
    uint32_t series;
    double upper_bound;
  };
  // What has one label set, le left out: buckets, and series that may hold native histograms. A
  // float in one of the latter is a bucket without a usable le.
  struct Family {
    std::vector<Bucket> buckets;
    std::vector<uint32_t> others;
    uint32_t first_series = 0;
  };
  absl::Status ReadScalars();
  void PlanTargets();
  absl::Status GroupFamilies();
  void NameResults();

  absl::Status ComputeFamily(size_t index);
  absl::Status ReadOthers(const Family& family);
  absl::Status ComputeStep(const Family& family, size_t step, std::vector<Column>* results);
  absl::Status Yield(size_t scalar, size_t step, double value, std::vector<Column>* results) const;
  double OfNative(size_t scalar, size_t step, const model::FloatHistogram& histogram,
                  std::string_view name);
  double OfClassic(size_t scalar, size_t step, std::string_view name);
  // Metric name for notes: "" unless names are removed late.
  std::string_view NoteName(const Family& family) const;
  size_t num_values() const { return spec_.kind == Spec::Kind::kFraction ? 1 : scalars_.size(); }

  const OperatorPtr input_;
  const Spec spec_;
  std::vector<Column> scalars_;
  // kQuantiles: the texts of all quantiles there are, and which one a scalar has at a step.
  std::vector<std::string> texts_;
  std::vector<std::vector<uint32_t>> targets_;
  size_t num_targets_ = 1;  // Results of a family.

  LabelSetIndex family_labels_;
  std::vector<Family> families_;
  MergePlan merge_;
  std::vector<std::vector<Column>> results_;  // Of each family computed, until they are taken.
  std::vector<Column> bucket_columns_;
  Column natives_;
  std::vector<ClassicBucket> buckets_, work_;
};

}  // namespace narthex::promql
