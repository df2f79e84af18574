#include "promql/exec/builder.h"

#include <numbers>
#include <string>
#include <unordered_set>
#include <utility>

#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "promql/exec/aggregation.h"
#include "promql/exec/elementwise.h"
#include "promql/exec/histogram_operators.h"
#include "promql/exec/info_operator.h"
#include "promql/exec/instant_selector.h"
#include "promql/exec/label_functions.h"
#include "promql/exec/range_function.h"
#include "promql/exec/scalar_operators.h"
#include "promql/exec/selection.h"
#include "promql/exec/smoothed_selector.h"
#include "promql/exec/sort_operators.h"
#include "promql/exec/vector_binary.h"

namespace narthex::promql {
namespace {

uint32_t Begin(const Expr& expr) { return static_cast<uint32_t>(expr.position.begin); }

}  // namespace

absl::StatusOr<OperatorPtr> OperatorBuilder::Build(const Expr& expr, const StepGrid& grid) {
  if (!expr.step_invariant || grid.count <= 1) return BuildNode(expr, grid);
  const StepGrid once{.start_ms = grid.start_ms, .step_ms = grid.step_ms, .count = 1};
  NX_ASSIGN_OR_RETURN(OperatorPtr input, BuildNode(expr, once));
  return std::make_unique<StepInvariantOperator>(context_, grid, std::move(input));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildNode(const Expr& expr, const StepGrid& grid) {
  switch (expr.kind) {
    case ExprKind::kNumber:
      return std::make_unique<ConstantOperator>(context_, grid, As<NumberLiteral>(expr).value);
    case ExprKind::kVectorSelector:
      if (grid.count == 0) return std::make_unique<EmptyOperator>(context_, grid);
      if (As<VectorSelector>(expr).extension == RangeExtension::kSmoothed) {
        return std::make_unique<SmoothedSelector>(context_, grid, &As<VectorSelector>(expr));
      }
      return std::make_unique<InstantSelector>(context_, grid, &As<VectorSelector>(expr));
    case ExprKind::kAggregation:
      return BuildAggregation(As<Aggregation>(expr), grid);
    case ExprKind::kCall:
      return BuildCall(As<Call>(expr), grid);
    case ExprKind::kBinary:
      return BuildBinary(As<Binary>(expr), grid);
    case ExprKind::kUnary:
      return BuildUnary(As<Unary>(expr), grid);
    case ExprKind::kParen:
      return Build(*As<Paren>(expr).expr, grid);
    case ExprKind::kString:
    case ExprKind::kMatrixSelector:
    case ExprKind::kSubquery:
      break;
  }
  return base::Internal("expression of type ", ExprTypeName(expr.type), " where none can be");
}

absl::StatusOr<std::unique_ptr<RangeSource>> OperatorBuilder::BuildRange(const Expr& expr,
                                                                         const StepGrid& grid) {
  const Expr& inner = Unparenthesized(expr);
  if (const auto* matrix = TryAs<MatrixSelector>(inner)) {
    return std::make_unique<SelectorSource>(context_, grid, matrix);
  }
  const auto* subquery = TryAs<Subquery>(inner);
  if (subquery == nullptr) return base::Internal("a range vector that is none");
  const StepGrid inner_grid = SubqueryGrid(*subquery, grid);
  NX_RETURN_IF_ERROR(context_->CheckGrid(inner_grid.count));
  NX_ASSIGN_OR_RETURN(OperatorPtr input, Build(*subquery->expr, inner_grid));
  return std::make_unique<SubquerySource>(context_, *subquery, std::move(input));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildAggregation(const Aggregation& node,
                                                              const StepGrid& grid) {
  NX_ASSIGN_OR_RETURN(OperatorPtr input, Build(*node.expr, grid));
  if (node.op == AggregateOp::kCountValues) {
    return std::make_unique<CountValuesOperator>(context_, std::move(input), &node);
  }
  if (!HasParameter(node.op)) {
    return std::make_unique<AggregationOperator>(context_, std::move(input), &node);
  }
  NX_ASSIGN_OR_RETURN(OperatorPtr parameter, Build(*node.parameter, grid));
  switch (node.op) {
    case AggregateOp::kQuantile:
      return std::make_unique<QuantileOperator>(context_, std::move(input), std::move(parameter),
                                                &node);
    case AggregateOp::kLimitRatio:
      return std::make_unique<LimitRatioOperator>(context_, std::move(input), std::move(parameter),
                                                  &node);
    default:
      return std::make_unique<SelectKOperator>(context_, std::move(input), std::move(parameter),
                                               &node);
  }
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildUnary(const Unary& node, const StepGrid& grid) {
  NX_ASSIGN_OR_RETURN(OperatorPtr input, Build(*node.expr, grid));
  if (node.op == UnaryOp::kPlus) return input;
  if (node.type == ExprType::kScalar) {
    return std::make_unique<NegatedScalarOperator>(context_, std::move(input));
  }
  return std::make_unique<NegateOperator>(context_, std::move(input));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildBinary(const Binary& node, const StepGrid& grid) {
  NX_ASSIGN_OR_RETURN(OperatorPtr left, Build(*node.left, grid));
  NX_ASSIGN_OR_RETURN(OperatorPtr right, Build(*node.right, grid));
  const bool left_scalar = node.left->type == ExprType::kScalar;
  const bool right_scalar = node.right->type == ExprType::kScalar;
  if (left_scalar && right_scalar) {
    return std::make_unique<ScalarPairOperator>(context_, std::move(left), std::move(right),
                                                &ScalarBinary, node.op);
  }
  if (right_scalar) {
    return std::make_unique<VectorScalarOperator>(context_, std::move(left), std::move(right),
                                                  VectorScalarOperator::Side::kScalarRight, node);
  }
  if (left_scalar) {
    return std::make_unique<VectorScalarOperator>(context_, std::move(right), std::move(left),
                                                  VectorScalarOperator::Side::kScalarLeft, node);
  }
  if (IsSetOperator(node.op)) {
    return std::make_unique<SetOperator>(context_, std::move(left), std::move(right), &node);
  }
  return std::make_unique<VectorBinaryOperator>(context_, std::move(left), std::move(right), &node);
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildArgument(const Call& call, size_t index,
                                                           const StepGrid& grid) {
  if (index >= call.args.size()) return OperatorPtr();
  return Build(*call.args[index], grid);
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildCall(const Call& call, const StepGrid& grid) {
  switch (call.function->id) {
    case FunctionId::kTime:
      return std::make_unique<TimeOperator>(context_, grid, nullptr, /*whole_seconds=*/false);
    case FunctionId::kPi:
      return std::make_unique<ConstantOperator>(context_, grid, std::numbers::pi);
    case FunctionId::kMaxOf:
    case FunctionId::kMinOf: {
      NX_ASSIGN_OR_RETURN(OperatorPtr left, BuildArgument(call, 0, grid));
      NX_ASSIGN_OR_RETURN(OperatorPtr right, BuildArgument(call, 1, grid));
      const auto max = [](BinaryOp, double a, double b) { return MaxOf(a, b); };
      const auto min = [](BinaryOp, double a, double b) { return MinOf(a, b); };
      ScalarPairOperator::Function function = min;
      if (call.function->id == FunctionId::kMaxOf) function = max;
      return std::make_unique<ScalarPairOperator>(context_, std::move(left), std::move(right),
                                                  function, BinaryOp::kAdd);
    }
    case FunctionId::kScalar: {
      NX_ASSIGN_OR_RETURN(OperatorPtr input, BuildArgument(call, 0, grid));
      return std::make_unique<ScalarOfOperator>(context_, std::move(input));
    }
    case FunctionId::kVector:  // A scalar is a series without labels already.
      return BuildArgument(call, 0, grid);
    case FunctionId::kAbsentOverTime:
      return BuildAbsentOverTime(call, grid);
    case FunctionId::kTimestamp:
    case FunctionId::kStartTimestamp:
      return BuildTimestamp(call, grid);
    case FunctionId::kHistogramQuantile:
    case FunctionId::kHistogramQuantiles:
    case FunctionId::kHistogramFraction:
      return BuildHistogramFunction(call, grid);
    default:
      return FindRangeFunction(call.function->name) != nullptr ? BuildRangeFunction(call, grid)
                                                               : BuildVectorFunction(call, grid);
  }
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildRangeFunction(const Call& call,
                                                                const StepGrid& grid) {
  const RangeFunction& function = *FindRangeFunction(call.function->name);
  std::unique_ptr<RangeSource> source;
  std::vector<OperatorPtr> scalars;
  uint32_t position = 0, scalar_position = 0;
  for (const ExprPtr& arg : call.args) {
    if (arg->type != ExprType::kMatrix) {
      if (scalars.empty()) scalar_position = Begin(Unparenthesized(*arg));
      NX_ASSIGN_OR_RETURN(OperatorPtr scalar, Build(*arg, grid));
      scalars.push_back(std::move(scalar));
      continue;
    }
    position = Begin(Unparenthesized(*arg));
    if (const auto* matrix = TryAs<MatrixSelector>(Unparenthesized(*arg))) {
      const RangeExtension extension = matrix->selector->extension;
      if (extension == RangeExtension::kAnchored && !function.accepts_anchored) {
        return base::FailedPrecondition(
            "anchored modifier can only be used with: changes, delta, increase, rate, resets - "
            "not with ",
            function.name);
      }
      if (extension == RangeExtension::kSmoothed && !function.accepts_smoothed) {
        return base::FailedPrecondition(
            "smoothed modifier can only be used with: delta, increase, rate - not with ",
            function.name);
      }
    }
    if (grid.count == 0) continue;
    NX_ASSIGN_OR_RETURN(source, BuildRange(*arg, grid));
  }
  if (source == nullptr) return std::make_unique<EmptyOperator>(context_, grid);
  return std::make_unique<RangeFunctionOperator>(context_, grid, &function, std::move(source),
                                                 std::move(scalars), position, scalar_position);
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildAbsentOverTime(const Call& call,
                                                                 const StepGrid& grid) {
  if (grid.count == 0) return std::make_unique<EmptyOperator>(context_, grid);
  NX_ASSIGN_OR_RETURN(std::unique_ptr<RangeSource> source, BuildRange(*call.args[0], grid));
  return std::make_unique<AbsentOverTimeOperator>(context_, grid, std::move(source),
                                                  AbsentLabels(*call.args[0]));
}

std::vector<model::SymbolLabel> OperatorBuilder::AbsentLabels(const Expr& argument) {
  const Expr& inner = Unparenthesized(argument);
  const auto* selector = TryAs<VectorSelector>(inner);
  if (const auto* matrix = TryAs<MatrixSelector>(inner)) selector = matrix->selector.get();
  std::vector<model::SymbolLabel> labels;
  if (selector == nullptr) return labels;
  // A name that is matched more than once, or otherwise than by equality, says nothing.
  std::unordered_set<model::Symbol> seen;
  for (const model::Matcher& matcher : selector->matchers) {
    const model::Symbol name = context_->symbols->Intern(matcher.name());
    if (name == context_->name_symbol) continue;
    const bool equal = matcher.type() == model::MatchType::kEqual && seen.insert(name).second;
    std::optional<model::Symbol> value;
    if (equal && !matcher.value().empty()) value = context_->symbols->Intern(matcher.value());
    SetLabel(*context_->symbols, name, value, &labels);
  }
  return labels;
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildTimestamp(const Call& call,
                                                            const StepGrid& grid) {
  const Expr& argument = Unparenthesized(*call.args[0]);
  // Storage hands out no start timestamps.
  if (call.function->id == FunctionId::kStartTimestamp) {
    return std::make_unique<EmptyOperator>(context_, grid);
  }
  const auto* selector = TryAs<VectorSelector>(argument);
  if (selector == nullptr || grid.count == 0) {
    NX_ASSIGN_OR_RETURN(OperatorPtr input, Build(argument, grid));
    return std::make_unique<EvaluationTimeOperator>(context_, std::move(input));
  }
  auto times = std::make_unique<InstantSelector>(context_, grid, selector,
                                                 InstantSelector::Yield::kTimestamp);
  return std::make_unique<DropMetadataOperator>(context_, std::move(times));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildHistogramFunction(const Call& call,
                                                                    const StepGrid& grid) {
  using Kind = HistogramOperator::Spec::Kind;
  HistogramOperator::Spec spec;
  OperatorPtr input;
  switch (call.function->id) {
    case FunctionId::kHistogramQuantiles:
      spec.kind = Kind::kQuantiles;
      break;
    case FunctionId::kHistogramFraction:
      spec.kind = Kind::kFraction;
      break;
    default:
      spec.kind = Kind::kQuantile;
  }
  for (const ExprPtr& arg : call.args) {
    if (arg->type == ExprType::kString) {
      spec.label = StringArgument(*arg);
      continue;
    }
    NX_ASSIGN_OR_RETURN(OperatorPtr built, Build(*arg, grid));
    if (arg->type == ExprType::kScalar) {
      spec.scalars.push_back(std::move(built));
      spec.scalar_positions.push_back(Begin(Unparenthesized(*arg)));
    } else {
      spec.position = Begin(Unparenthesized(*arg));
      input = std::move(built);
    }
  }
  return std::make_unique<HistogramOperator>(context_, std::move(input), std::move(spec));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildClamp(const Call& call, const StepGrid& grid) {
  NX_ASSIGN_OR_RETURN(OperatorPtr input, BuildArgument(call, 0, grid));
  NX_ASSIGN_OR_RETURN(OperatorPtr first, BuildArgument(call, 1, grid));
  NX_ASSIGN_OR_RETURN(OperatorPtr second, BuildArgument(call, 2, grid));
  OperatorPtr min, max;
  if (call.function->id == FunctionId::kClampMax) {
    max = std::move(first);
  } else {
    min = std::move(first);
    max = std::move(second);
  }
  return std::make_unique<ClampOperator>(context_, std::move(input), std::move(min),
                                         std::move(max));
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildSort(const Call& call, const StepGrid& grid) {
  NX_ASSIGN_OR_RETURN(OperatorPtr input, BuildArgument(call, 0, grid));
  if (grid.count > 1) context_->annotations.Add(Note::kSortInRangeQuery, Begin(call));
  const FunctionId id = call.function->id;
  const bool descending = id == FunctionId::kSortDesc || id == FunctionId::kSortByLabelDesc;
  const SortOrder order = descending ? SortOrder::kDescending : SortOrder::kAscending;
  if (id == FunctionId::kSort || id == FunctionId::kSortDesc) {
    return std::make_unique<SortOperator>(context_, std::move(input), order);
  }
  std::vector<std::string> labels;
  for (size_t i = 1; i < call.args.size(); ++i) labels.push_back(StringArgument(*call.args[i]));
  return std::make_unique<SortByLabelOperator>(context_, std::move(input), std::move(labels),
                                               order);
}

absl::StatusOr<OperatorPtr> OperatorBuilder::BuildVectorFunction(const Call& call,
                                                                 const StepGrid& grid) {
  switch (call.function->id) {
    case FunctionId::kClamp:
    case FunctionId::kClampMin:
    case FunctionId::kClampMax:
      return BuildClamp(call, grid);
    case FunctionId::kSort:
    case FunctionId::kSortDesc:
    case FunctionId::kSortByLabel:
    case FunctionId::kSortByLabelDesc:
      return BuildSort(call, grid);
    default:
      break;
  }
  const FloatKernel kernel = FindFloatFunction(call.function->name);
  if (call.args.empty()) {
    // A date function of the evaluation time.
    if (kernel == nullptr) return base::Internal("function ", call.function->name);
    return std::make_unique<TimeOperator>(context_, grid, kernel, /*whole_seconds=*/true);
  }
  NX_ASSIGN_OR_RETURN(OperatorPtr input, BuildArgument(call, 0, grid));
  if (kernel != nullptr) {
    return std::make_unique<FloatFunctionOperator>(context_, std::move(input), kernel);
  }
  if (const HistogramKernel histogram = FindHistogramFunction(call.function->name)) {
    return std::make_unique<HistogramFunctionOperator>(context_, std::move(input), histogram);
  }
  switch (call.function->id) {
    case FunctionId::kRound: {
      NX_ASSIGN_OR_RETURN(OperatorPtr to_nearest, BuildArgument(call, 1, grid));
      return std::make_unique<RoundOperator>(context_, std::move(input), std::move(to_nearest));
    }
    case FunctionId::kAbsent:
      return std::make_unique<AbsentOperator>(context_, std::move(input),
                                              AbsentLabels(*call.args[0]));
    case FunctionId::kInfo:
      return InfoOperator::Create(context_, std::move(input), call);
    case FunctionId::kLabelReplace:
      return NewLabelReplace(context_, std::move(input), call);
    case FunctionId::kLabelJoin:
      return NewLabelJoin(context_, std::move(input), call);
    default:
      return base::Internal("function ", call.function->name, " has no operator");
  }
}

}  // namespace narthex::promql
