// Storage whose samples are computed as they are read: it costs next to nothing, so that a
// benchmark over it measures the evaluator. Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "narthex/model/queryable.h"

namespace narthex::bench {

struct FormulaSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // Sorted by name.
  bool is_histogram = false;
  double slope = 1;  // Value of sample i, or count of each bucket: slope * i.
};

class FormulaStorage final : public model::Queryable {
 public:
  static constexpr int64_t kStepMs = 15'000;
  static constexpr size_t kBuckets = 60;

  // Every series has `num_samples` samples, at 0, 15 s, 30 s...
  FormulaStorage(std::vector<FormulaSeries> series, size_t num_samples);
  ~FormulaStorage() override;

  absl::StatusOr<std::unique_ptr<model::Querier>> NewQuerier(model::TimeRange range) const override;

  struct Data;

 private:
  const std::shared_ptr<const Data> data_;
};

}  // namespace narthex::bench
