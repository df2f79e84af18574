// Makes a parsed expression ready for one query: passes over the tree that fill its members marked
// "plan" (parse/ast.h). Free functions; thread-compatible.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "narthex/model/queryable.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// What a plan depends on. Times are closed Unix milliseconds; an instant query has start == end and
// step 0.
struct PlanContext {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
  int64_t lookback_ms = 0;
  int64_t default_subquery_step_ms = 0;
};

struct QueryPlan {
  // Covers every selector's hints.range; empty (min > max) if there is no selector.
  model::TimeRange range;
  int32_t num_twins = 0;
};

// In this order: duration expressions get their values (also of offset and @); start(), end(),
// step(), range() become literals and scalar arithmetic over literals is folded; step-invariant
// subtrees are marked; selectors get their hints; equal expressions get their twin numbers.
// `*root` may be replaced. kInvalidArgument: a duration expression has no usable value, such as
// "4:9: division by zero" (byte offsets).
absl::StatusOr<QueryPlan> PlanQuery(const PlanContext& context, ExprPtr* root);

}  // namespace narthex::promql
