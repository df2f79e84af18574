#include "promql/parse/type_check.h"

#include <algorithm>
#include <utility>

#include "narthex/base/strings.h"
#include "narthex/model/labels.h"
#include "promql/parse/token.h"

namespace narthex::promql {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsScalarOrVector(ExprType type) {
  return type == ExprType::kScalar || type == ExprType::kVector;
}

// Visits the tree in the order in which errors are to be found; stops at the first one.
class TypeChecker {
 public:
  explicit TypeChecker(std::string_view text) : text_(text) {}

  void Check(Expr& expr) {
    if (error.has_value()) return;
    switch (expr.kind) {
      case ExprKind::kNumber:
      case ExprKind::kString:
        return;
      case ExprKind::kVectorSelector:
        return CheckSelector(As<VectorSelector>(expr));
      case ExprKind::kMatrixSelector:
        return CheckSelector(*As<MatrixSelector>(expr).selector);
      case ExprKind::kSubquery:
        return CheckSubquery(As<Subquery>(expr));
      case ExprKind::kAggregation:
        return CheckAggregation(As<Aggregation>(expr));
      case ExprKind::kCall:
        return CheckCall(As<Call>(expr));
      case ExprKind::kBinary:
        return CheckBinary(As<Binary>(expr));
      case ExprKind::kUnary:
        return CheckUnary(As<Unary>(expr));
      case ExprKind::kParen:
        return Check(*As<Paren>(expr).expr);
    }
  }

  std::optional<ParseError> error;

 private:
  template <typename... Pieces>
  void Fail(int32_t offset, const Pieces&... pieces) {
    if (!error.has_value()) error = ParseError{offset, base::StrCat(pieces...)};
  }
  template <typename... Pieces>
  void Fail(const Expr& expr, const Pieces&... pieces) {
    Fail(expr.position.begin, pieces...);
  }

  void ExpectType(Expr& expr, ExprType wanted, std::string_view where) {
    Check(expr);
    if (expr.type == wanted) return;
    Fail(expr, "expected type ", ExprTypeName(wanted), " in ", where, ", got ",
         ExprTypeName(expr.type));
  }

  void CheckSelector(VectorSelector& selector);
  void CheckSubquery(Subquery& subquery);
  void CheckAggregation(Aggregation& aggregation);
  void CheckCall(Call& call);
  void CheckArgumentCount(const Call& call);
  void CheckInfoMatchers(const Call& call);
  void CheckUnary(Unary& unary);
  void CheckBinary(Binary& binary);
  void CheckOperator(Binary& binary);
  void CheckMatching(const Binary& binary);
  int32_t OperatorOffset(const Binary& binary) const;

  const std::string_view text_;
};

void TypeChecker::CheckSelector(VectorSelector& selector) {
  if (!selector.name.empty()) {
    // The last matcher is that of the name before the braces.
    for (size_t i = 0; i + 1 < selector.matchers.size(); ++i) {
      if (selector.matchers[i].name() != model::kMetricName) continue;
      Fail(selector, "metric name must not be set twice: ", Quoted(selector.name), " or ",
           Quoted(selector.matchers[i].value()));
    }
    return;
  }
  if (selector.is_info_matchers) return;
  const bool all_match_empty = std::ranges::all_of(
      selector.matchers, [](const model::Matcher& matcher) { return matcher.MatchesEmpty(); });
  if (all_match_empty) {
    Fail(selector, "vector selector must contain at least one non-empty matcher");
  }
}

void TypeChecker::CheckSubquery(Subquery& subquery) {
  Check(*subquery.expr);
  const ExprType type = subquery.expr->type;
  if (type == ExprType::kVector) return;
  const std::string_view name = type == ExprType::kMatrix ? "matrix" : ExprTypeName(type);
  Fail(subquery, "subquery is only allowed on instant vector, got ", name, " instead");
}

void TypeChecker::CheckAggregation(Aggregation& aggregation) {
  ExpectType(*aggregation.expr, ExprType::kVector, "aggregation expression");
  if (aggregation.parameter == nullptr) return;
  const bool is_text = aggregation.op == AggregateOp::kCountValues;
  ExpectType(*aggregation.parameter, is_text ? ExprType::kString : ExprType::kScalar,
             "aggregation parameter");
}

void TypeChecker::CheckArgumentCount(const Call& call) {
  const Signature& function = *call.function;
  const size_t num_types = function.arg_types.size();
  const size_t num_args = call.args.size();
  const std::string tail =
      base::StrCat(" argument(s) in call to ", Quoted(function.name), ", got ", num_args);
  if (function.variadic == 0) {
    if (num_args != num_types) Fail(call, "expected ", num_types, tail);
    return;
  }
  const size_t min_args = num_types - 1;
  if (num_args < min_args) Fail(call, "expected at least ", min_args, tail);
  if (function.variadic < 0) return;
  const size_t max_args = min_args + static_cast<size_t>(function.variadic);
  if (num_args > max_args) Fail(call, "expected at most ", max_args, tail);
}

void TypeChecker::CheckInfoMatchers(const Call& call) {
  Expr& matchers = *call.args[1];
  if (matchers.type != ExprType::kVector) {
    Fail(call, "expected type instant vector in call to function \"info\", got ",
         ExprTypeName(matchers.type));
  }
  auto* selector = TryAs<VectorSelector>(matchers);
  if (selector == nullptr) {
    Fail(matchers, "expected label selectors only");
  } else if (!selector->name.empty()) {
    Fail(matchers, "expected label selectors only, got vector selector instead");
  } else {
    selector->is_info_matchers = true;
  }
}

void TypeChecker::CheckCall(Call& call) {
  CheckArgumentCount(call);
  const Signature& function = *call.function;
  if (function.id == FunctionId::kInfo && call.args.size() > 1) CheckInfoMatchers(call);
  const std::string where = base::StrCat("call to function ", Quoted(function.name));
  for (size_t i = 0; i < call.args.size() && !error.has_value(); ++i) {
    const size_t type_index = std::min(i, function.arg_types.size() - 1);
    ExpectType(*call.args[i], function.arg_types[type_index], where);
  }
}

void TypeChecker::CheckUnary(Unary& unary) {
  Check(*unary.expr);
  if (IsScalarOrVector(unary.expr->type)) return;
  Fail(unary, "unary expression only allowed on expressions of type scalar or instant vector, got ",
       Quoted(ExprTypeName(unary.expr->type)));
}

int32_t TypeChecker::OperatorOffset(const Binary& binary) const {
  size_t offset = static_cast<size_t>(binary.left->position.end);
  while (offset < text_.size() && IsSpace(text_[offset])) ++offset;
  return static_cast<int32_t>(offset);
}

void TypeChecker::CheckBinary(Binary& binary) {
  Check(*binary.left);
  Check(*binary.right);
  if (error.has_value()) return;
  CheckOperator(binary);
  for (const Expr* side : {binary.left.get(), binary.right.get()}) {
    if (IsScalarOrVector(side->type)) continue;
    Fail(*side, "binary expression must contain only scalar and instant vector types");
  }
  CheckMatching(binary);
}

void TypeChecker::CheckOperator(Binary& binary) {
  const bool is_comparison = IsComparison(binary.op);
  if (binary.return_bool && !is_comparison) {
    Fail(OperatorOffset(binary), "bool modifier can only be used on comparison operators");
  }
  if (is_comparison && !binary.return_bool && binary.type == ExprType::kScalar) {
    Fail(OperatorOffset(binary), "comparisons between scalars must use BOOL modifier");
  }
  VectorMatching& matching = binary.matching;
  if (IsSetOperator(binary.op) && matching.cardinality == Cardinality::kOneToOne) {
    matching.cardinality = Cardinality::kManyToMany;
  }
  if (!matching.on) return;
  for (const std::string& label : matching.labels) {
    if (std::ranges::find(matching.include, label) == matching.include.end()) continue;
    Fail(OperatorOffset(binary), "label ", Quoted(label),
         " must not occur in ON and GROUP clause at once");
  }
}

void TypeChecker::CheckMatching(const Binary& binary) {
  const VectorMatching& matching = binary.matching;
  const bool fills = matching.fill_left.has_value() || matching.fill_right.has_value();
  const bool is_set = IsSetOperator(binary.op);
  if (binary.left->type != ExprType::kVector || binary.right->type != ExprType::kVector) {
    if (!matching.labels.empty()) {
      Fail(binary, "vector matching only allowed between instant vectors");
    }
    if (fills) Fail(binary, "filling in missing series only allowed between instant vectors");
    if (is_set) {
      Fail(binary, "set operator ", Quoted(BinaryOpName(binary.op)),
           " not allowed in binary scalar expression");
    }
    return;
  }
  if (!is_set) return;
  if (matching.cardinality != Cardinality::kManyToMany) {
    Fail(binary, "no grouping allowed for ", Quoted(BinaryOpName(binary.op)), " operation");
  }
  if (fills) Fail(binary, "filling in missing series not allowed for set operators");
}

}  // namespace

std::optional<ParseError> CheckTypes(std::string_view text, Expr* root) {
  TypeChecker checker(text);
  checker.Check(*root);
  return std::move(checker.error);
}

}  // namespace narthex::promql
