#include "tool/promqltest/runner.h"

#include <optional>
#include <utility>
#include <vector>

#include "narthex/base/cancellation.h"
#include "narthex/base/status.h"
#include "narthex/promql/syntax.h"
#include "tool/promqltest/compare.h"

namespace narthex::tool {
namespace {

// Whether the query speaks of its own start, end, step or range.
bool UsesQueryContext(std::string_view expr) {
  for (const std::string_view call : {"start()", "end()", "range()", "step()"}) {
    if (expr.find(call) != std::string_view::npos) return true;
  }
  return false;
}

// Where a query fixed at `time_ms` must give the same.
std::vector<int64_t> OtherTimes(int64_t time_ms) {
  if (time_ms == 0) return {-1000, 0, 1000};
  return {-10 * time_ms, 0, time_ms / 5, time_ms, 10 * time_ms};
}

absl::Status CheckFailure(const EvalCommand& eval, const absl::Status& status) {
  if (!eval.fail.has_value()) {
    return base::FailedPrecondition("expected a result, got the error: ", base::Message(status));
  }
  if (eval.fail->Accepts(base::Message(status))) return absl::OkStatus();
  return base::FailedPrecondition("expected the error \"", eval.fail->text(),
                                  "\", got: ", base::Message(status));
}

}  // namespace

promql::EngineOptions ScriptEngineOptions() {
  promql::EngineOptions options;
  options.max_samples = 10'000;
  options.enable_experimental_functions = true;
  options.enable_extended_ranges = true;
  options.enable_fill_modifiers = true;
  options.delayed_name_removal = true;
  options.use_start_timestamps = true;
  return options;
}

ScriptRunner::ScriptRunner(StorageFactory storage_factory, const base::Clock* clock)
    : storage_factory_(std::move(storage_factory)), clock_(clock), engine_(ScriptEngineOptions()) {}

absl::Status ScriptRunner::Reset() {
  storage_.reset();
  NX_ASSIGN_OR_RETURN(storage_, storage_factory_());
  return absl::OkStatus();
}

ScriptOutcome ScriptRunner::Run(std::string_view script, const FailureSink& failure) {
  ScriptOutcome outcome;
  const auto fail = [&](int line, std::string_view what, const absl::Status& status) {
    ++outcome.num_failed;
    failure(line, what, base::Message(status));
  };
  const absl::StatusOr<std::vector<ScriptCommand>> commands = ParseScript(script);
  if (!commands.ok()) {
    fail(0, "script", commands.status());
    return outcome;
  }
  if (const absl::Status status = Reset(); !status.ok()) {
    fail(0, "storage", status);
    return outcome;
  }
  for (const ScriptCommand& command : *commands) {
    const absl::Status status = Execute(command);
    const auto* eval = std::get_if<EvalCommand>(&command.command);
    if (status.ok()) {
      if (eval != nullptr) ++outcome.num_passed;
      continue;
    }
    fail(command.line, eval != nullptr ? std::string_view(eval->expr) : "load", status);
    if (storage_ == nullptr) break;
  }
  return outcome;
}

absl::Status ScriptRunner::Execute(const ScriptCommand& command) {
  if (const auto* load = std::get_if<LoadCommand>(&command.command)) {
    return LoadInto(*load, storage_->appendable());
  }
  if (const auto* eval = std::get_if<EvalCommand>(&command.command)) return Evaluate(*eval);
  return Reset();
}

absl::StatusOr<promql::QueryResult> ScriptRunner::Query(const promql::QuerySpec& spec) const {
  const base::Cancellation cancellation(clock_);
  return engine_.Run(spec, storage_->queryable(), cancellation);
}

absl::Status ScriptRunner::Evaluate(const EvalCommand& eval) const {
  if (eval.is_range) return EvaluateRange(eval);
  NX_RETURN_IF_ERROR(EvaluateInstant(eval, eval.expr, eval.eval_ms));
  NX_ASSIGN_OR_RETURN(const std::optional<std::string> pinned,
                      promql::PinnedText(eval.expr, eval.eval_ms, engine_.options()));
  if (!pinned.has_value()) return absl::OkStatus();
  for (const int64_t time_ms : OtherTimes(eval.eval_ms)) {
    NX_RETURN_IF_ERROR(base::WithContext(EvaluateInstant(eval, *pinned, time_ms),
                                         base::StrCat(*pinned, " at ", time_ms, "ms")));
  }
  return absl::OkStatus();
}

absl::Status ScriptRunner::EvaluateRange(const EvalCommand& eval) const {
  promql::QuerySpec spec;
  spec.text = eval.expr;
  spec.start_ms = eval.start_ms;
  spec.end_ms = eval.end_ms;
  spec.step_ms = eval.step_ms;
  const absl::StatusOr<promql::QueryResult> result = Query(spec);
  if (!result.ok()) return CheckFailure(eval, result.status());
  if (eval.fail.has_value()) return base::FailedPrecondition("expected an error, got a result");
  NX_RETURN_IF_ERROR(CompareAnnotations(eval, *result));
  return CompareResult(eval, *result);
}

absl::Status ScriptRunner::EvaluateInstant(const EvalCommand& eval, const std::string& expr,
                                           int64_t time_ms) const {
  promql::QuerySpec spec;
  spec.text = expr;
  spec.start_ms = spec.end_ms = time_ms;
  const absl::StatusOr<promql::QueryResult> result = Query(spec);
  if (!result.ok()) return CheckFailure(eval, result.status());
  if (eval.fail.has_value()) return base::FailedPrecondition("expected an error, got a result");
  NX_RETURN_IF_ERROR(CompareAnnotations(eval, *result));
  NX_RETURN_IF_ERROR(CompareResult(eval, *result));
  if (eval.instant_only || UsesQueryContext(expr)) return absl::OkStatus();
  return base::WithContext(CompareRangeMode(eval, expr, time_ms, result->type), "as a range query");
}

absl::Status ScriptRunner::CompareRangeMode(const EvalCommand& eval, const std::string& expr,
                                            int64_t time_ms, promql::ValueType type) const {
  constexpr int64_t kStepMs = 60'000;
  promql::QuerySpec spec;
  spec.text = expr;
  spec.start_ms = time_ms - kStepMs;
  spec.end_ms = time_ms + kStepMs;
  spec.step_ms = kStepMs;
  NX_ASSIGN_OR_RETURN(const promql::QueryResult range, Query(spec));
  if (eval.ordered) return absl::OkStatus();  // Range queries sort by labels.
  const promql::QueryResult instant = InstantOf(range, type, time_ms);
  if (type == promql::ValueType::kScalar && instant.series.empty()) {
    return base::FailedPrecondition("expected a scalar, got nothing");
  }
  return CompareResult(eval, instant);
}

}  // namespace narthex::tool
