#include "narthex/promql/syntax.h"

#include "narthex/base/status.h"
#include "promql/parse/parser.h"
#include "promql/parse/printer.h"
#include "promql/plan/passes.h"

namespace narthex::promql {
namespace {

void PinAt(int64_t time_ms, AtModifier* at) {
  if (at->kind != AtKind::kTime) *at = {AtKind::kTime, time_ms};
}

// False if `expr` depends on the evaluation time nevertheless.
bool Pin(int64_t time_ms, Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
      return true;
    case ExprKind::kVectorSelector:
      PinAt(time_ms, &As<VectorSelector>(expr).at);
      return true;
    case ExprKind::kMatrixSelector:
      PinAt(time_ms, &As<MatrixSelector>(expr).selector->at);
      return true;
    case ExprKind::kSubquery:
      // Its inside sees only the times that it is fixed at.
      PinAt(time_ms, &As<Subquery>(expr).at);
      return true;
    case ExprKind::kAggregation: {
      auto& aggregation = As<Aggregation>(expr);
      return Pin(time_ms, *aggregation.expr) &&
             (aggregation.parameter == nullptr || Pin(time_ms, *aggregation.parameter));
    }
    case ExprKind::kCall:
      if (DependsOnTime(As<Call>(expr).function->id)) return false;
      for (const ExprPtr& arg : As<Call>(expr).args) {
        if (!Pin(time_ms, *arg)) return false;
      }
      return true;
    case ExprKind::kBinary:
      return Pin(time_ms, *As<Binary>(expr).left) && Pin(time_ms, *As<Binary>(expr).right);
    case ExprKind::kUnary:
      return Pin(time_ms, *As<Unary>(expr).expr);
    case ExprKind::kParen:
      return Pin(time_ms, *As<Paren>(expr).expr);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> CanonicalText(std::string_view text, const EngineOptions& options) {
  NX_ASSIGN_OR_RETURN(const ExprPtr root, ParseExpression(text, ParseOptionsOf(options)));
  return ToString(*root);
}

absl::StatusOr<std::string> PrettyText(std::string_view text, const EngineOptions& options) {
  NX_ASSIGN_OR_RETURN(const ExprPtr root, ParseExpression(text, ParseOptionsOf(options)));
  return ToPrettyString(*root);
}

absl::StatusOr<std::optional<std::string>> PinnedText(std::string_view text, int64_t time_ms,
                                                      const EngineOptions& options) {
  NX_ASSIGN_OR_RETURN(const ExprPtr root, ParseExpression(text, ParseOptionsOf(options)));
  if (!Pin(time_ms, *root)) return std::optional<std::string>();
  return std::optional<std::string>(ToString(*root));
}

}  // namespace narthex::promql
