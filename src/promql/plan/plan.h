// Makes a parsed expression ready for one query: passes over the tree that fill its members marked
// "plan" (parse/ast.h). Free functions; thread-safe for different trees.
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
  // Covers every selector's hints.range; {0, 0} if there is no selector.
  model::TimeRange range;
};

// In this order: start(), end(), step() and range() become literals and scalar arithmetic over
// literals is folded (`*root` may be replaced); duration expressions and the times of @ get their
// values; step-invariant subtrees are marked; selectors get their hints. kInvalidArgument: a
// duration expression has no usable value, such as "4:9: division by zero" (byte offsets).
absl::StatusOr<QueryPlan> PlanQuery(const PlanContext& context, ExprPtr* root);

}  // namespace narthex::promql
