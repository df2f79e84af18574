#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "promql/plan/passes.h"

namespace narthex::promql {
namespace {

// What lies around a subtree, outermost first.
struct Surroundings {
  std::string_view function;  // The innermost function or aggregation with no operator below it.
  bool wants_statistics = false;  // In a function of histograms' counts and sums ...
  bool wants_buckets = false;     // ... and in something that needs more than those.
  // Of all subqueries, or of those from the innermost one with @ inwards.
  int64_t subquery_offset_ms = 0;
  int64_t subquery_range_ms = 0;
  std::optional<int64_t> subquery_time_ms;
  int64_t step_ms = 0;
};

class HintSetter {
 public:
  explicit HintSetter(const PlanContext& context) : context_(context) {}

  void Visit(Expr& expr, const Surroundings& around);

  model::TimeRange range() const {
    return range_.min_time_ms > range_.max_time_ms ? model::TimeRange{0, 0} : range_;
  }

 private:
  void VisitCall(Call& call, Surroundings around);
  void VisitBinary(Binary& binary, Surroundings around);
  void VisitSubquery(Subquery& subquery, Surroundings around);
  void VisitAggregation(Aggregation& aggregation, Surroundings around);
  // `range_ms` is 0 for an instant selector.
  void SetSelector(VectorSelector& selector, int64_t range_ms, const Surroundings& around);
  model::TimeRange RangeOf(const VectorSelector& selector, int64_t range_ms,
                           const Surroundings& around) const;

  const PlanContext& context_;
  model::TimeRange range_ = {std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min()};
};

void HintSetter::Visit(Expr& expr, const Surroundings& around) {
  switch (expr.kind) {
    case ExprKind::kNumber:
    case ExprKind::kString:
      return;
    case ExprKind::kVectorSelector:
      return SetSelector(As<VectorSelector>(expr), 0, around);
    case ExprKind::kMatrixSelector: {
      auto& matrix = As<MatrixSelector>(expr);
      return SetSelector(*matrix.selector, matrix.range.ms, around);
    }
    case ExprKind::kSubquery:
      return VisitSubquery(As<Subquery>(expr), around);
    case ExprKind::kAggregation:
      return VisitAggregation(As<Aggregation>(expr), around);
    case ExprKind::kCall:
      return VisitCall(As<Call>(expr), around);
    case ExprKind::kBinary:
      return VisitBinary(As<Binary>(expr), around);
    case ExprKind::kUnary:
      return Visit(*As<Unary>(expr).expr, around);
    case ExprKind::kParen:
      return Visit(*As<Paren>(expr).expr, around);
  }
}

void HintSetter::VisitCall(Call& call, Surroundings around) {
  around.function = call.function->name;
  switch (call.function->id) {
    case FunctionId::kHistogramCount:
    case FunctionId::kHistogramSum:
    case FunctionId::kHistogramAvg:
      around.wants_statistics = true;
      break;
    case FunctionId::kHistogramQuantile:
    case FunctionId::kHistogramQuantiles:
    case FunctionId::kHistogramFraction:
      around.wants_buckets = true;
      break;
    default:
      break;
  }
  for (ExprPtr& arg : call.args) Visit(*arg, around);
}

void HintSetter::VisitBinary(Binary& binary, Surroundings around) {
  around.function = "";
  if (binary.op == BinaryOp::kTrimUpper || binary.op == BinaryOp::kTrimLower) {
    around.wants_buckets = true;
  }
  Visit(*binary.left, around);
  Visit(*binary.right, around);
}

void HintSetter::VisitAggregation(Aggregation& aggregation, Surroundings around) {
  around.function = AggregateOpName(aggregation.op);
  Visit(*aggregation.expr, around);
  if (aggregation.parameter != nullptr) Visit(*aggregation.parameter, around);
}

void HintSetter::VisitSubquery(Subquery& subquery, Surroundings around) {
  around.wants_buckets = true;  // Counter resets show in the buckets.
  around.step_ms = subquery.step.ms;
  if (subquery.at.kind != AtKind::kNone) {
    around.subquery_time_ms = subquery.at.time_ms;
    around.subquery_offset_ms = 0;
    around.subquery_range_ms = 0;
  }
  around.subquery_offset_ms += subquery.offset.ms;
  around.subquery_range_ms += subquery.range.ms;
  Visit(*subquery.expr, around);
}

model::TimeRange HintSetter::RangeOf(const VectorSelector& selector, int64_t range_ms,
                                     const Surroundings& around) const {
  int64_t begin = context_.start_ms;
  int64_t end = context_.end_ms;
  if (selector.at.kind != AtKind::kNone) {
    begin = end = selector.at.time_ms;
  } else {
    if (around.subquery_time_ms.has_value()) begin = end = *around.subquery_time_ms;
    begin -= around.subquery_offset_ms + around.subquery_range_ms;
    end -= around.subquery_offset_ms;
  }
  // The sample just a window away is outside.
  begin += 1;
  if (range_ms == 0 || selector.extension != RangeExtension::kNone) begin -= context_.lookback_ms;
  begin -= range_ms;
  if (selector.extension == RangeExtension::kSmoothed) end += context_.lookback_ms;
  return {begin - selector.offset.ms, end - selector.offset.ms};
}

void HintSetter::SetSelector(VectorSelector& selector, int64_t range_ms,
                             const Surroundings& around) {
  model::SelectHints& hints = selector.hints;
  hints.range = RangeOf(selector, range_ms, around);
  hints.step_ms = around.step_ms;
  hints.range_ms = range_ms;
  hints.function = std::string(around.function);
  hints.detail = around.wants_statistics && !around.wants_buckets
                     ? model::HistogramDetail::kCountAndSum
                     : model::HistogramDetail::kFull;
  range_.min_time_ms = std::min(range_.min_time_ms, hints.range.min_time_ms);
  range_.max_time_ms = std::max(range_.max_time_ms, hints.range.max_time_ms);
}

}  // namespace

model::TimeRange SetHints(const PlanContext& context, Expr* root) {
  HintSetter setter(context);
  Surroundings around;
  around.step_ms = context.step_ms;
  setter.Visit(*root, around);
  return setter.range();
}

}  // namespace narthex::promql
