// Storage in memory for tests of what reads through model::Queryable and writes through
// model::Appendable: samples come back in batches of a chosen size, in the order of their times
// whatever the order of their coming. A querier sees what was there when it was made.
// Thread-compatible; its queriers are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "narthex/model/appendable.h"
#include "narthex/model/histogram.h"
#include "narthex/model/queryable.h"

namespace narthex::testing {

// A float, or a histogram if there is one.
struct FakeSample {
  int64_t time_ms = 0;
  double value = 0;
  std::shared_ptr<const model::FloatHistogram> histogram;
};

struct FakeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // Sorted by name.
  std::vector<FakeSample> samples;                          // Times ascending.
};

class FakeQueryable final : public model::Queryable, public model::Appendable {
 public:
  // At most `batch_rows` samples come in one ColumnBatch.
  explicit FakeQueryable(size_t batch_rows = 120) : batch_rows_(batch_rows) {}

  // Adds samples of the series of `labels` (any order, {"__name__", "up"} for its name).
  void AddFloats(std::vector<std::pair<std::string, std::string>> labels,
                 const std::vector<std::pair<int64_t, double>>& samples);
  void AddHistogram(std::vector<std::pair<std::string, std::string>> labels, int64_t time_ms,
                    model::FloatHistogram histogram);
  void Clear();

  // Takes every sample, also late ones; exemplars and metadata are dropped. Counter reset hints
  // become those that a database reads back from its chunks.
  std::unique_ptr<model::Appender> NewAppender() override;

  absl::StatusOr<std::unique_ptr<model::Querier>> NewQuerier(model::TimeRange range) const override;

  // Of the histograms of a series; see NewAppender().
  void SetHints(std::vector<std::pair<std::string, std::string>> labels);

 private:
  FakeSeries* Series(std::vector<std::pair<std::string, std::string>> labels);

  const size_t batch_rows_;
  std::shared_ptr<std::vector<FakeSeries>> series_ = std::make_shared<std::vector<FakeSeries>>();
};

}  // namespace narthex::testing
