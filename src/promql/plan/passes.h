// The passes of PlanQuery(), in their order. Each assumes those before it. Free functions.
#pragma once

#include "absl/status/status.h"
#include "narthex/model/queryable.h"
#include "promql/plan/plan.h"

namespace narthex::promql {

// start(), end(), step(), range() and arithmetic over literals become literals.
void FoldConstants(const PlanContext& context, ExprPtr* expr);

// Sets Duration::ms where it is an expression, the default step of subqueries, and the times of
// @ start() and @ end().
absl::Status ResolveTimes(const PlanContext& context, Expr* root);

// Whether a function looks at the evaluation time itself, whatever its arguments.
bool DependsOnTime(FunctionId id);

// Sets Expr::step_invariant.
void MarkStepInvariants(Expr* root);

// Sets VectorSelector::hints; returns what covers all their ranges.
model::TimeRange SetHints(const PlanContext& context, Expr* root);

}  // namespace narthex::promql
