#include <cmath>
#include <memory>
#include <optional>

#include "promql/plan/passes.h"

namespace narthex::promql {
namespace {

double Seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

std::optional<double> ContextValue(const PlanContext& context, FunctionId id) {
  switch (id) {
    case FunctionId::kStart:
      return Seconds(context.start_ms);
    case FunctionId::kEnd:
      return Seconds(context.end_ms);
    case FunctionId::kRange:
      return Seconds(context.end_ms - context.start_ms);
    case FunctionId::kStep:
      return context.start_ms == context.end_ms ? 0 : Seconds(context.step_ms);
    default:
      return std::nullopt;
  }
}

std::optional<double> Compute(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::kAdd:
      return left + right;
    case BinaryOp::kSubtract:
      return left - right;
    case BinaryOp::kMultiply:
      return left * right;
    case BinaryOp::kDivide:
      return left / right;
    case BinaryOp::kModulo:
      return std::fmod(left, right);
    case BinaryOp::kPower:
      return std::pow(left, right);
    case BinaryOp::kAtan2:
      return std::atan2(left, right);
    case BinaryOp::kEqual:
      return left == right ? 1 : 0;
    case BinaryOp::kNotEqual:
      return left != right ? 1 : 0;
    case BinaryOp::kLess:
      return left < right ? 1 : 0;
    case BinaryOp::kLessEqual:
      return left <= right ? 1 : 0;
    case BinaryOp::kGreater:
      return left > right ? 1 : 0;
    case BinaryOp::kGreaterEqual:
      return left >= right ? 1 : 0;
    default:
      return std::nullopt;
  }
}

const NumberLiteral* AsNumber(const Expr& expr) {
  return TryAs<NumberLiteral>(Unparenthesized(expr));
}

// The value of `expr` if its operands are literals by now.
std::optional<double> ConstantValue(const PlanContext& context, const Expr& expr) {
  if (const Call* call = TryAs<Call>(expr)) return ContextValue(context, call->function->id);
  if (const Unary* unary = TryAs<Unary>(expr)) {
    const NumberLiteral* operand = AsNumber(*unary->expr);
    if (operand == nullptr) return std::nullopt;
    return unary->op == UnaryOp::kMinus ? -operand->value : operand->value;
  }
  if (const Binary* binary = TryAs<Binary>(expr)) {
    const NumberLiteral* left = AsNumber(*binary->left);
    const NumberLiteral* right = AsNumber(*binary->right);
    if (left != nullptr && right != nullptr) return Compute(binary->op, left->value, right->value);
  }
  return std::nullopt;
}

void FoldChildren(const PlanContext& context, Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
    case ExprKind::kVectorSelector:
    case ExprKind::kMatrixSelector:
      return;
    case ExprKind::kSubquery:
      return FoldConstants(context, &As<Subquery>(expr).expr);
    case ExprKind::kAggregation:
      FoldConstants(context, &As<Aggregation>(expr).expr);
      if (As<Aggregation>(expr).parameter != nullptr) {
        FoldConstants(context, &As<Aggregation>(expr).parameter);
      }
      return;
    case ExprKind::kCall:
      for (ExprPtr& arg : As<Call>(expr).args) FoldConstants(context, &arg);
      return;
    case ExprKind::kBinary:
      FoldConstants(context, &As<Binary>(expr).left);
      return FoldConstants(context, &As<Binary>(expr).right);
    case ExprKind::kUnary:
      return FoldConstants(context, &As<Unary>(expr).expr);
    case ExprKind::kParen:
      return FoldConstants(context, &As<Paren>(expr).expr);
  }
}

}  // namespace

void FoldConstants(const PlanContext& context, ExprPtr* expr) {
  FoldChildren(context, **expr);
  const std::optional<double> value = ConstantValue(context, **expr);
  if (!value.has_value()) return;
  auto literal = std::make_unique<NumberLiteral>();
  literal->value = *value;
  literal->position = (*expr)->position;
  *expr = std::move(literal);
}

}  // namespace narthex::promql
