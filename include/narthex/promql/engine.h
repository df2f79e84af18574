// PromQL: text in, result out. The engine knows storage only as model::Queryable. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/cancellation.h"
#include "narthex/model/histogram.h"
#include "narthex/model/queryable.h"

namespace narthex::promql {

struct EngineOptions {
  int64_t lookback_ms = 300'000;
  int64_t default_subquery_step_ms = 60'000;   // global.evaluation_interval.
  uint64_t max_samples = 50'000'000;           // In memory at once, per query.
  uint64_t max_bytes = 2ull << 30;             // Of memory, per query.
  bool enable_experimental_functions = false;  // promql-experimental-functions
  bool enable_extended_ranges = false;         // promql-extended-range-selectors
  bool enable_fill_modifiers = false;          // promql-binop-fill-modifiers
  bool delayed_name_removal = false;           // promql-delayed-name-removal
  bool use_start_timestamps = false;           // use-start-timestamps
  bool type_and_unit_labels = false;           // type-and-unit-labels
};

struct QuerySpec {
  std::string text;
  // Closed; an instant query has start == end and step 0.
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
  int64_t lookback_ms = 0;  // 0: the engine's.
};

// Points of one result series: floats and histograms, each ascending in time.
struct FloatPoint {
  int64_t time_ms;
  double value;
};
struct HistogramPoint {
  int64_t time_ms;
  std::shared_ptr<const model::FloatHistogram> histogram;
};
struct ResultSeries {
  std::vector<model::SymbolLabel> labels;  // Sorted by the text of names.
  std::vector<FloatPoint> floats;
  std::vector<HistogramPoint> histograms;
};

enum class ValueType : uint8_t { kScalar, kString, kVector, kMatrix };

struct QueryStats {
  double eval_total_s = 0, result_sort_s = 0, preparation_s = 0, inner_eval_s = 0, queue_s = 0,
         exec_total_s = 0;
  uint64_t total_queryable_samples = 0;  // As Prometheus counts them.
  uint64_t peak_samples = 0;
  uint64_t samples_read = 0;
  uint64_t peak_bytes = 0;
};

// A result and all that its symbols need. kScalar: one series without labels, one point (instant).
struct QueryResult {
  ValueType type = ValueType::kVector;
  std::vector<ResultSeries> series;
  std::string string_value;  // kString
  int64_t string_time_ms = 0;
  std::vector<std::string> warnings, infos;  // Whole texts: "PromQL warning: ... (1:5)".
  QueryStats stats;
  // The table of the labels' symbols; shared with what keeps it alive (querier and overlay).
  std::shared_ptr<const model::SymbolTable> symbols;
};

// Errors: kInvalidArgument "1:5: parse error: ..." (bad_data); kDeadlineExceeded and kCancelled
// with Prometheus's texts; kResourceExhausted for the sample and byte limits, kFailedPrecondition
// for evaluation errors (both "execution"); kUnavailable/kDataLoss/kInternal from storage.
class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();

  // Evaluates on the calling thread. `queryable` and `cancellation` must outlive the call.
  absl::StatusOr<QueryResult> Run(const QuerySpec& spec, const model::Queryable& queryable,
                                  const base::Cancellation& cancellation) const;

  // Parse and type check only; kInvalidArgument as Run().
  absl::Status CheckSyntax(std::string_view text) const;

  const EngineOptions& options() const { return options_; }

 private:
  const EngineOptions options_;
};

// The series selectors of a match[] parameter: `up`, `{job="x"}`. kInvalidArgument with position.
absl::StatusOr<std::vector<model::Matcher>> ParseSelector(std::string_view text);

}  // namespace narthex::promql
