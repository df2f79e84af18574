#include <vector>

#include "promql/plan/passes.h"

namespace narthex::promql {
namespace {

// What is known of a subtree once its inside has been marked.
enum class Variation : uint8_t {
  kVaries,     // Differs from step to step.
  kConstant,   // The same at every step, not worth a mark of its own (a literal).
  kInvariant,  // The same at every step.
};

Variation Mark(Expr& expr);

void SetMark(Expr& expr, Variation variation) {
  // A range vector is read by the function around it, step by step.
  expr.step_invariant = variation == Variation::kInvariant && expr.type != ExprType::kMatrix;
}

// Of a node over `children`: if it is not invariant itself, those children that are get the mark.
Variation Combine(const std::vector<Expr*>& children, bool varies) {
  std::vector<Variation> variations;
  for (Expr* child : children) {
    variations.push_back(Mark(*child));
    varies = varies || variations.back() == Variation::kVaries;
  }
  if (!varies) return Variation::kInvariant;
  for (size_t i = 0; i < children.size(); ++i) SetMark(*children[i], variations[i]);
  return Variation::kVaries;
}

Variation MarkCall(Call& call) {
  std::vector<Expr*> args;
  for (ExprPtr& arg : call.args) args.push_back(arg.get());
  bool varies = DependsOnTime(call.function->id);
  // The timestamps of samples are as fixed as the samples.
  if (call.function->id == FunctionId::kTimestamp) {
    varies = Unparenthesized(*call.args[0]).kind != ExprKind::kVectorSelector;
  }
  return Combine(args, varies);
}

Variation OfAt(const AtModifier& at) {
  return at.kind == AtKind::kNone ? Variation::kVaries : Variation::kInvariant;
}

Variation Mark(Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
      return Variation::kConstant;
    case ExprKind::kVectorSelector:
      return OfAt(As<VectorSelector>(expr).at);
    case ExprKind::kMatrixSelector:
      return OfAt(As<MatrixSelector>(expr).selector->at);
    case ExprKind::kSubquery: {
      // Its inside has steps of its own.
      Expr& inner = *As<Subquery>(expr).expr;
      SetMark(inner, Mark(inner));
      return OfAt(As<Subquery>(expr).at);
    }
    case ExprKind::kAggregation: {
      auto& aggregation = As<Aggregation>(expr);
      std::vector<Expr*> children = {aggregation.expr.get()};
      if (aggregation.parameter != nullptr) children.push_back(aggregation.parameter.get());
      return Combine(children, false);
    }
    case ExprKind::kCall:
      return MarkCall(As<Call>(expr));
    case ExprKind::kBinary:
      return Combine({As<Binary>(expr).left.get(), As<Binary>(expr).right.get()}, false);
    case ExprKind::kUnary:
      return Combine({As<Unary>(expr).expr.get()}, false);
    case ExprKind::kParen:
      return Combine({As<Paren>(expr).expr.get()}, false);
  }
  return Variation::kVaries;
}

}  // namespace

bool DependsOnTime(FunctionId id) {
  switch (id) {
    case FunctionId::kStart:
    case FunctionId::kEnd:
    case FunctionId::kStep:
    case FunctionId::kRange:
    case FunctionId::kTime:
    case FunctionId::kTimestamp:
    case FunctionId::kPredictLinear:
    case FunctionId::kDayOfMonth:
    case FunctionId::kDayOfWeek:
    case FunctionId::kDayOfYear:
    case FunctionId::kDaysInMonth:
    case FunctionId::kHour:
    case FunctionId::kMinute:
    case FunctionId::kMonth:
    case FunctionId::kYear:
      return true;
    default:
      return false;
  }
}

void MarkStepInvariants(Expr* root) { SetMark(*root, Mark(*root)); }

}  // namespace narthex::promql
