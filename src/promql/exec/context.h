// What the operators of one query share: the querier and its symbols, limits, counters,
// annotations. Thread-compatible; one per query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/cancellation.h"
#include "narthex/model/queryable.h"
#include "narthex/model/symbols.h"
#include "narthex/promql/engine.h"
#include "promql/exec/series_list.h"
#include "promql/functions/annotations.h"

namespace narthex::promql {

// What a query holds in memory at once, in samples and in bytes, against its limits.
class Budget {
 public:
  Budget(uint64_t max_samples, uint64_t max_bytes)
      : max_samples_(max_samples), max_bytes_(max_bytes) {}

  // kResourceExhausted, with nothing taken, if a limit would be passed.
  absl::Status Take(uint64_t num_samples, uint64_t num_bytes);
  void Return(uint64_t num_samples, uint64_t num_bytes);
  // As Take() and Return() at once: for buffers that live for the length of a call.
  absl::Status Visit(uint64_t num_samples, uint64_t num_bytes);

  uint64_t peak_samples() const { return peak_samples_; }
  uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  const uint64_t max_samples_;
  const uint64_t max_bytes_;
  uint64_t samples_ = 0;
  uint64_t bytes_ = 0;
  uint64_t peak_samples_ = 0;
  uint64_t peak_bytes_ = 0;
};

struct QueryContext {
  QueryContext(const EngineOptions& engine_options, int64_t lookback,
               const model::Querier* the_querier, model::SymbolOverlay* overlay,
               const base::Cancellation* the_cancellation);

  // OK, or Prometheus's text for a cancelled or timed-out query. Cheap: it looks every 1,024 items
  // only. Call it for every item of a loop, or for a batch of `num_items` at once.
  absl::Status Tick(size_t num_items = 1);

  // kResourceExhausted if a column of so many steps is more than the query may take.
  absl::Status CheckGrid(size_t num_steps);

  // __name__, __type__ and __unit__.
  bool IsMetadata(model::Symbol name) const {
    return name == name_symbol || name == type_symbol || name == unit_symbol;
  }
  // "" if the labels have none.
  std::string_view MetricName(LabelSpan labels) const {
    return LabelText(*symbols, labels, name_symbol);
  }

  const EngineOptions& options;
  const int64_t lookback_ms;
  const model::Querier* const querier;
  model::SymbolOverlay* const symbols;
  const base::Cancellation* const cancellation;
  const model::Symbol name_symbol, type_symbol, unit_symbol;
  Budget budget;
  Annotations annotations;
  uint64_t total_queryable_samples = 0;  // As Prometheus counts them.
  uint64_t samples_read = 0;

 private:
  size_t items_until_check_ = 0;
};

// The status of a query stopped by `cancellation`, with Prometheus's text; OK if it may go on.
absl::Status CheckRunning(const base::Cancellation& cancellation);

}  // namespace narthex::promql
