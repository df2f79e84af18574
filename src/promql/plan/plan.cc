#include "promql/plan/plan.h"

#include "narthex/base/status.h"
#include "promql/plan/passes.h"

namespace narthex::promql {

absl::StatusOr<QueryPlan> PlanQuery(const PlanContext& context, ExprPtr* root) {
  FoldConstants(context, root);
  NX_RETURN_IF_ERROR(ResolveTimes(context, root->get()));
  MarkStepInvariants(root->get());
  QueryPlan plan;
  plan.range = SetHints(context, root->get());
  return plan;
}

}  // namespace narthex::promql
