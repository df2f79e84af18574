// Runs query test scripts. Each instant evaluation is also run fixed by `@` at other times and as
// the middle step of a range query, which must give the same.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "narthex/base/clock.h"
#include "narthex/promql/engine.h"
#include "tool/promqltest/script.h"
#include "tool/promqltest/storage.h"

namespace narthex::tool {

// The options that scripts assume: everything experimental on, 10,000 samples at most.
promql::EngineOptions ScriptEngineOptions();

struct ScriptOutcome {
  int num_passed = 0;
  int num_failed = 0;
};

// Thread-compatible.
class ScriptRunner {
 public:
  // `failure` is told of each failed case: line, expression (or command), what is wrong.
  using FailureSink = std::function<void(int line, std::string_view what, std::string_view why)>;

  // `clock` must outlive this.
  ScriptRunner(StorageFactory storage_factory, const base::Clock* clock);

  // Runs a whole script on empty storage. A script that cannot be parsed, or a `load` that fails,
  // counts as a failed case.
  ScriptOutcome Run(std::string_view script, const FailureSink& failure);

 private:
  absl::Status Execute(const ScriptCommand& command);
  absl::Status Evaluate(const EvalCommand& eval) const;
  absl::Status EvaluateRange(const EvalCommand& eval) const;
  absl::Status EvaluateInstant(const EvalCommand& eval, const std::string& expr,
                               int64_t time_ms) const;
  absl::Status CompareRangeMode(const EvalCommand& eval, const std::string& expr, int64_t time_ms,
                                promql::ValueType type) const;
  absl::Status Reset();
  absl::StatusOr<promql::QueryResult> Query(const promql::QuerySpec& spec) const;

  const StorageFactory storage_factory_;
  const base::Clock* const clock_;
  const promql::Engine engine_;
  std::unique_ptr<ScriptStorage> storage_;
};

}  // namespace narthex::tool
