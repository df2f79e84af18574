#include <algorithm>
#include <cmath>

#include "absl/status/statusor.h"
#include "narthex/base/status.h"
#include "promql/plan/passes.h"

namespace narthex::promql {
namespace {

constexpr double kMaxSeconds = 9223372036.854775807;  // 2^63 - 1 nanoseconds.

absl::Status Unusable(const DurationExpr& expr, std::string_view why) {
  return base::InvalidArgument(expr.position.begin, ":", expr.position.end, ": ", why);
}

double Smaller(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::nan("");
  return std::min(left, right);
}

double Larger(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::nan("");
  return std::max(left, right);
}

absl::StatusOr<double> Seconds(const PlanContext& context, const DurationExpr& expr) {
  double left = 0;
  double right = 0;
  if (expr.left != nullptr) {
    NX_ASSIGN_OR_RETURN(left, Seconds(context, *expr.left));
  }
  if (expr.right != nullptr) {
    NX_ASSIGN_OR_RETURN(right, Seconds(context, *expr.right));
  }
  switch (expr.op) {
    case DurationOp::kLiteral:
      return expr.seconds;
    case DurationOp::kStep:
      return static_cast<double>(context.step_ms) / 1000;
    case DurationOp::kRange:
      return static_cast<double>(context.end_ms - context.start_ms) / 1000;
    case DurationOp::kMinOf:
      return Smaller(left, right);
    case DurationOp::kMaxOf:
      return Larger(left, right);
    case DurationOp::kPlus:
      return right;
    case DurationOp::kMinus:
      return -right;
    case DurationOp::kAdd:
      return left + right;
    case DurationOp::kSubtract:
      return left - right;
    case DurationOp::kMultiply:
      return left * right;
    case DurationOp::kDivide:
      if (right == 0) return Unusable(expr, "division by zero");
      return left / right;
    case DurationOp::kModulo:
      if (right == 0) return Unusable(expr, "modulo by zero");
      return std::fmod(left, right);
    case DurationOp::kPower:
      return std::pow(left, right);
  }
  return 0.0;
}

enum class Sign : uint8_t { kAny, kPositive };

absl::Status ResolveDuration(const PlanContext& context, Sign sign, Duration* duration) {
  if (duration->expr == nullptr) return absl::OkStatus();
  const DurationExpr& expr = *duration->expr;
  NX_ASSIGN_OR_RETURN(const double seconds, Seconds(context, expr));
  if (!std::isfinite(seconds)) return Unusable(expr, "duration is NaN or infinite");
  if (seconds <= 0 && sign == Sign::kPositive) {
    return Unusable(expr, "duration must be greater than 0");
  }
  if (std::abs(seconds) > kMaxSeconds) return Unusable(expr, "duration is out of range");
  duration->ms = static_cast<int64_t>(seconds * 1000);
  return absl::OkStatus();
}

void ResolveAt(const PlanContext& context, AtModifier* at) {
  if (at->kind == AtKind::kStart) at->time_ms = context.start_ms;
  if (at->kind == AtKind::kEnd) at->time_ms = context.end_ms;
}

absl::Status ResolveSelector(const PlanContext& context, VectorSelector* selector) {
  ResolveAt(context, &selector->at);
  return ResolveDuration(context, Sign::kAny, &selector->offset);
}

absl::Status ResolveSubquery(const PlanContext& context, Subquery* subquery) {
  ResolveAt(context, &subquery->at);
  NX_RETURN_IF_ERROR(ResolveDuration(context, Sign::kAny, &subquery->offset));
  NX_RETURN_IF_ERROR(ResolveDuration(context, Sign::kPositive, &subquery->step));
  NX_RETURN_IF_ERROR(ResolveDuration(context, Sign::kPositive, &subquery->range));
  // Also a step below a millisecond is none.
  if (subquery->step.ms == 0) subquery->step.ms = context.default_subquery_step_ms;
  return ResolveTimes(context, subquery->expr.get());
}

}  // namespace

absl::Status ResolveTimes(const PlanContext& context, Expr* root) {
  switch (root->kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
      return absl::OkStatus();
    case ExprKind::kVectorSelector:
      return ResolveSelector(context, &As<VectorSelector>(*root));
    case ExprKind::kMatrixSelector: {
      auto& matrix = As<MatrixSelector>(*root);
      NX_RETURN_IF_ERROR(ResolveDuration(context, Sign::kPositive, &matrix.range));
      return ResolveSelector(context, matrix.selector.get());
    }
    case ExprKind::kSubquery:
      return ResolveSubquery(context, &As<Subquery>(*root));
    case ExprKind::kAggregation: {
      auto& aggregation = As<Aggregation>(*root);
      NX_RETURN_IF_ERROR(ResolveTimes(context, aggregation.expr.get()));
      if (aggregation.parameter == nullptr) return absl::OkStatus();
      return ResolveTimes(context, aggregation.parameter.get());
    }
    case ExprKind::kCall:
      for (ExprPtr& arg : As<Call>(*root).args) {
        NX_RETURN_IF_ERROR(ResolveTimes(context, arg.get()));
      }
      return absl::OkStatus();
    case ExprKind::kBinary:
      NX_RETURN_IF_ERROR(ResolveTimes(context, As<Binary>(*root).left.get()));
      return ResolveTimes(context, As<Binary>(*root).right.get());
    case ExprKind::kUnary:
      return ResolveTimes(context, As<Unary>(*root).expr.get());
    case ExprKind::kParen:
      return ResolveTimes(context, As<Paren>(*root).expr.get());
  }
  return absl::OkStatus();
}

}  // namespace narthex::promql
