// What may follow an expression: ranges, subqueries, offset, @, anchored and smoothed, and the
// durations in them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "narthex/base/duration.h"
#include "narthex/base/status.h"
#include "promql/parse/grammar.h"
#include "promql/parse/literals.h"

namespace narthex::promql {
namespace {

constexpr int kSumPrecedence = 1;
constexpr int kProductPrecedence = 2;
constexpr int kPowerPrecedence = 3;

constexpr double kMaxSeconds = 9223372036.854775807;  // 2^63 - 1 nanoseconds.

bool IsOutOfRange(double seconds) {
  return std::isnan(seconds) || seconds > kMaxSeconds || seconds < -kMaxSeconds;
}

// Nanoseconds are what counts; finer than a millisecond is cut off afterwards.
int64_t MillisecondsOf(double seconds) {
  return static_cast<int64_t>(std::round(seconds * 1e9) / 1e6);
}

struct DurationOperator {
  DurationOp op;
  int precedence = 0;  // 0: none.
};

DurationOperator DurationOperatorOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAdd:
      return {DurationOp::kAdd, kSumPrecedence};
    case TokenKind::kSubtract:
      return {DurationOp::kSubtract, kSumPrecedence};
    case TokenKind::kMultiply:
      return {DurationOp::kMultiply, kProductPrecedence};
    case TokenKind::kDivide:
      return {DurationOp::kDivide, kProductPrecedence};
    case TokenKind::kModulo:
      return {DurationOp::kModulo, kProductPrecedence};
    case TokenKind::kPower:
      return {DurationOp::kPower, kPowerPrecedence};
    default:
      return {DurationOp::kLiteral, 0};
  }
}

void SetDuration(std::unique_ptr<DurationExpr> from, Duration* to) {
  if (from->op == DurationOp::kLiteral) {
    to->ms = MillisecondsOf(from->seconds);
  } else {
    to->expr = std::move(from);
  }
}

// Where offset and @ of an expression are kept.
struct Modifiers {
  Duration* offset = nullptr;
  AtModifier* at = nullptr;
};

// Null members if `expr` takes none.
Modifiers ModifiersOf(Expr& expr) {
  if (auto* selector = TryAs<VectorSelector>(expr)) return {&selector->offset, &selector->at};
  if (auto* matrix = TryAs<MatrixSelector>(expr)) {
    return {&matrix->selector->offset, &matrix->selector->at};
  }
  if (auto* subquery = TryAs<Subquery>(expr)) return {&subquery->offset, &subquery->at};
  return {};
}

bool IsSet(const Duration& duration) { return duration.ms != 0 || duration.expr != nullptr; }

// Go's %f.
std::string SixDecimals(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[400];
  std::snprintf(text, sizeof text, "%f", value);
  return text;
}

constexpr std::string_view kMustFollowSelector =
    " modifier must be preceded by an instant vector selector or range vector selector or a "
    "subquery";

}  // namespace

ExprPtr Grammar::Bracket(ExprPtr expr) {
  const Token left_bracket = token_;
  Advance();
  DurationPtr range =
      PositiveDuration({"subquery or range selector", "number, duration, step(), or range()"});
  if (range == nullptr) return nullptr;
  if (Is(TokenKind::kRightBracket)) {
    return RangeSelector(std::move(expr), std::move(range), left_bracket);
  }
  if (Is(TokenKind::kColon)) return SubqueryOf(std::move(expr), std::move(range));
  return Unexpected({"subquery or range", "\":\" or \"]\""});
}

ExprPtr Grammar::RangeSelector(ExprPtr expr, DurationPtr range, const Token& left_bracket) {
  const int32_t begin = left_bracket.position.begin;
  auto matrix = std::make_unique<MatrixSelector>();
  matrix->position = {expr->position.begin, token_.position.end};
  Advance();
  const auto* selector = TryAs<VectorSelector>(*expr);
  if (selector == nullptr)
    return FailBeforeToken(begin, "ranges only allowed for vector selectors");
  if (IsSet(selector->offset))
    return FailBeforeToken(begin, "no offset modifiers allowed before range");
  if (selector->at.kind != AtKind::kNone) {
    return FailBeforeToken(begin, "no @ modifiers allowed before range");
  }
  matrix->selector.reset(static_cast<VectorSelector*>(expr.release()));
  SetDuration(std::move(range), &matrix->range);
  if (!Grow(matrix.get(), matrix->selector->depth)) return nullptr;
  return matrix;
}

ExprPtr Grammar::SubqueryOf(ExprPtr expr, DurationPtr range) {
  Advance();  // The colon.
  auto subquery = std::make_unique<Subquery>();
  SetDuration(std::move(range), &subquery->range);
  if (!Is(TokenKind::kRightBracket)) {
    DurationPtr step =
        PositiveDuration({"subquery selector", "number, duration, step(), range(), or \"]\""});
    if (step == nullptr) return nullptr;
    SetDuration(std::move(step), &subquery->step);
  }
  subquery->position = {expr->position.begin, token_.position.end};
  if (!Expect(TokenKind::kRightBracket, {"subquery selector", "\"]\""})) return nullptr;
  subquery->expr = std::move(expr);
  if (!Grow(subquery.get(), subquery->expr->depth)) return nullptr;
  return subquery;
}

ExprPtr Grammar::Offset(ExprPtr expr) {
  Advance();
  DurationPtr offset = OffsetDuration();
  if (offset == nullptr) return nullptr;
  const int32_t begin = expr->position.begin;
  const Modifiers modifiers = ModifiersOf(*expr);
  if (modifiers.offset == nullptr) {
    return FailBeforeToken(begin, base::StrCat("offset", kMustFollowSelector));
  }
  if (IsSet(*modifiers.offset))
    return FailBeforeToken(begin, "offset may not be set multiple times");
  SetDuration(std::move(offset), modifiers.offset);
  expr->position.end = last_closing_;
  return expr;
}

ExprPtr Grammar::At(ExprPtr expr) {
  Advance();
  AtModifier at;
  if (!AtTime(&at, *expr)) return nullptr;
  const int32_t begin = expr->position.begin;
  const Modifiers modifiers = ModifiersOf(*expr);
  if (modifiers.at == nullptr)
    return FailBeforeToken(begin, base::StrCat("@", kMustFollowSelector));
  if (modifiers.at->kind != AtKind::kNone) {
    return FailBeforeToken(begin, "@ <timestamp> may not be set multiple times");
  }
  *modifiers.at = at;
  expr->position.end = last_closing_;
  return expr;
}

bool Grammar::AtTime(AtModifier* at, const Expr& expr) {
  constexpr Place kPlace = {"@", "timestamp"};
  if (Is(TokenKind::kStart) || Is(TokenKind::kEndFunction)) {
    at->kind = Is(TokenKind::kStart) ? AtKind::kStart : AtKind::kEnd;
    Advance();
    return Expect(TokenKind::kLeftParen, kPlace) && Expect(TokenKind::kRightParen, kPlace);
  }
  bool negative = false;
  if (Is(TokenKind::kAdd) || Is(TokenKind::kSubtract)) {
    negative = Is(TokenKind::kSubtract);
    Advance();
  }
  if (!Is(TokenKind::kNumber) && !Is(TokenKind::kDuration)) return Unexpected(kPlace);
  const ExprPtr number = NumberOrDuration();
  if (number == nullptr) return false;
  double seconds = As<NumberLiteral>(*number).value;
  if (negative) seconds = -seconds;
  constexpr double kMaxInt64 = static_cast<double>(std::numeric_limits<int64_t>::max());
  // The product is what must fit; beyond it the time would be meaningless.
  if (!std::isfinite(seconds) || std::abs(seconds) * 1000 >= kMaxInt64) {
    return Fail(expr.position.begin,
                base::StrCat("timestamp out of bounds for @ modifier: ", SixDecimals(seconds)));
  }
  at->kind = AtKind::kTime;
  at->time_ms = static_cast<int64_t>(std::round(seconds * 1000));
  return true;
}

ExprPtr Grammar::Extension(ExprPtr expr, RangeExtension extension) {
  const std::string_view word = extension == RangeExtension::kAnchored ? "anchored" : "smoothed";
  const int32_t begin = expr->position.begin;
  Advance();
  if (!options_.extended_ranges) {
    return FailBeforeToken(begin, base::StrCat(word, " modifier is experimental and not enabled"));
  }
  VectorSelector* selector = TryAs<VectorSelector>(*expr);
  if (auto* matrix = TryAs<MatrixSelector>(*expr)) selector = matrix->selector.get();
  if (selector == nullptr) {
    const bool is_subquery = expr->kind == ExprKind::kSubquery;
    return FailBeforeToken(
        begin, base::StrCat(word, is_subquery ? " modifier is not supported for subqueries"
                                              : " modifier not implemented"));
  }
  if (selector->extension != RangeExtension::kNone && selector->extension != extension) {
    return FailBeforeToken(begin, "anchored and smoothed modifiers cannot be used together");
  }
  selector->extension = extension;
  return expr;
}

Grammar::DurationPtr Grammar::PositiveDuration(const Place& place) {
  DurationPtr duration = DurationExpression(kSumPrecedence, place);
  if (duration == nullptr) return nullptr;
  if (duration->op == DurationOp::kLiteral && duration->seconds <= 0) {
    return Fail(duration->position.begin, "duration must be greater than 0");
  }
  return duration;
}

// Without parentheses an offset is a single term, so that `foo offset 5m + bar` is a sum of two
// series; in parentheses it may be anything, and then goes on.
Grammar::DurationPtr Grammar::OffsetDuration() {
  constexpr Place kPlace = {"offset", "number, duration, step(), or range()"};
  switch (token_.kind) {
    case TokenKind::kAdd:
    case TokenKind::kSubtract:
      break;
    case TokenKind::kLeftParen:
      return DurationExpression(kSumPrecedence, kPlace);
    default:
      return DurationPrimary(kPlace);
  }
  const Token sign = token_;
  Advance();
  if (!Is(TokenKind::kAdd) && !Is(TokenKind::kSubtract)) {
    DurationPtr inner = DurationPrimary(kPlace);
    return inner == nullptr ? nullptr : SignedDuration(sign, std::move(inner));
  }
  // Signs of signs are no single term.
  DurationPtr inner = DurationExpression(kPowerPrecedence, kPlace);
  if (inner == nullptr) return nullptr;
  DurationPtr left = SignedDuration(sign, std::move(inner));
  while (left != nullptr) {
    const int precedence = DurationOperatorOf(token_.kind).precedence;
    if (precedence == 0) break;
    const Token op = token_;
    Advance();
    DurationPtr right = DurationExpression(precedence + 1, kPlace);
    if (right == nullptr) return nullptr;
    left = CombineDurations(std::move(left), op, std::move(right));
  }
  return left;
}

Grammar::DurationPtr Grammar::DurationExpression(int min_precedence, const Place& place) {
  const NestingScope scope(&nested_);
  if (!EnterNested()) return nullptr;
  DurationPtr left;
  if (Is(TokenKind::kAdd) || Is(TokenKind::kSubtract)) {
    const Token sign = token_;
    Advance();
    left = DurationExpression(kPowerPrecedence, place);
    if (left != nullptr) left = SignedDuration(sign, std::move(left));
  } else {
    left = DurationPrimary(place);
  }
  while (left != nullptr) {
    const int precedence = DurationOperatorOf(token_.kind).precedence;
    if (precedence == 0 || precedence < min_precedence) break;
    const Token op = token_;
    Advance();
    DurationPtr right =
        DurationExpression(precedence == kPowerPrecedence ? precedence : precedence + 1, place);
    if (right == nullptr) return nullptr;
    left = CombineDurations(std::move(left), op, std::move(right));
  }
  return left;
}

Grammar::DurationPtr Grammar::DurationPrimary(const Place& place) {
  switch (token_.kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
      return DurationLiteral();
    case TokenKind::kLeftParen:
      return DurationParen(place);
    case TokenKind::kStep:
    case TokenKind::kRange:
    case TokenKind::kMaxOf:
    case TokenKind::kMinOf:
      return DurationFunction(place);
    default:
      return Unexpected(place);
  }
}

Grammar::DurationPtr Grammar::DurationLiteral() {
  const ExprPtr number = NumberOrDuration();
  if (number == nullptr) return nullptr;
  auto literal = std::make_unique<DurationExpr>();
  literal->seconds = As<NumberLiteral>(*number).value;
  literal->is_duration = As<NumberLiteral>(*number).is_duration;
  literal->position = number->position;
  if (IsOutOfRange(literal->seconds)) {
    return FailBeforeToken(literal->position.begin, "duration out of range");
  }
  return literal;
}

Grammar::DurationPtr Grammar::DurationParen(const Place& place) {
  const int32_t begin = token_.position.begin;
  Advance();
  DurationPtr inner = DurationExpression(kSumPrecedence, place);
  if (inner == nullptr) return nullptr;
  const int32_t end = token_.position.end;
  if (!Expect(TokenKind::kRightParen, place)) return nullptr;
  return WrapDuration(std::move(inner), {begin, end});
}

Grammar::DurationPtr Grammar::WrapDuration(DurationPtr inner, PositionRange position) {
  if (inner->op != DurationOp::kLiteral) {
    inner->wrapped = true;
    return inner;
  }
  auto wrapped = std::make_unique<DurationExpr>();
  wrapped->op = DurationOp::kPlus;
  wrapped->wrapped = true;
  wrapped->position = position;
  wrapped->depth = inner->depth + 1;
  wrapped->right = std::move(inner);
  return wrapped;
}

Grammar::DurationPtr Grammar::DurationFunction(const Place& place) {
  auto function = std::make_unique<DurationExpr>();
  function->position.begin = token_.position.begin;
  const TokenKind kind = token_.kind;
  Advance();
  if (!Expect(TokenKind::kLeftParen, place)) return nullptr;
  if (kind == TokenKind::kStep || kind == TokenKind::kRange) {
    function->op = kind == TokenKind::kStep ? DurationOp::kStep : DurationOp::kRange;
  } else {
    function->op = kind == TokenKind::kMinOf ? DurationOp::kMinOf : DurationOp::kMaxOf;
    function->left = DurationExpression(kSumPrecedence, place);
    if (function->left == nullptr || !Expect(TokenKind::kComma, place)) return nullptr;
    function->right = DurationExpression(kSumPrecedence, place);
    if (function->right == nullptr) return nullptr;
    function->depth = std::max(function->left->depth, function->right->depth) + 1;
  }
  function->position.end = token_.position.end;
  if (!Expect(TokenKind::kRightParen, place)) return nullptr;
  return function;
}

Grammar::DurationPtr Grammar::SignedDuration(const Token& sign, DurationPtr inner) {
  const bool is_minus = sign.kind == TokenKind::kSubtract;
  if (inner->op == DurationOp::kLiteral) {
    if (is_minus) inner->seconds = -inner->seconds;
    inner->position.begin = sign.position.begin;
    return inner;
  }
  if (!is_minus) return inner;
  auto minus = std::make_unique<DurationExpr>();
  minus->op = DurationOp::kMinus;
  minus->position = {sign.position.begin, inner->position.end};
  minus->depth = inner->depth + 1;
  if (minus->depth > kMaxExpressionDepth) return FailTooDeep(sign.position.begin);
  minus->right = std::move(inner);
  return minus;
}

Grammar::DurationPtr Grammar::CombineDurations(DurationPtr left, const Token& op,
                                               DurationPtr right) {
  auto combined = std::make_unique<DurationExpr>();
  combined->op = DurationOperatorOf(op.kind).op;
  const bool right_is_zero = right->op == DurationOp::kLiteral && right->seconds == 0;
  if (right_is_zero && combined->op == DurationOp::kDivide) {
    return Fail(op.position.begin, "division by zero");
  }
  if (right_is_zero && combined->op == DurationOp::kModulo) {
    return Fail(op.position.begin, "modulo by zero");
  }
  combined->position = {left->position.begin, right->position.end};
  combined->depth = std::max(left->depth, right->depth) + 1;
  if (combined->depth > kMaxExpressionDepth) return FailTooDeep(op.position.begin);
  combined->left = std::move(left);
  combined->right = std::move(right);
  return combined;
}

}  // namespace narthex::promql
