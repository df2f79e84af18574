#include "promql/parse/grammar.h"

#include <cmath>
#include <utility>

#include "narthex/base/duration.h"
#include "narthex/base/status.h"
#include "narthex/model/labels.h"
#include "promql/parse/literals.h"

namespace narthex::promql {
namespace {

constexpr int kLowestPrecedence = 1;
constexpr int kUnaryPrecedence = 5;  // That of multiplication: -2^2 is -(2^2).
constexpr int kPowerPrecedence = 6;

int PrecedenceOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr:
      return kLowestPrecedence;
    case TokenKind::kAnd:
    case TokenKind::kUnless:
      return 2;
    case TokenKind::kAdd:
    case TokenKind::kSubtract:
      return 4;
    case TokenKind::kMultiply:
    case TokenKind::kDivide:
    case TokenKind::kModulo:
    case TokenKind::kAtan2:
      return kUnaryPrecedence;
    case TokenKind::kPower:
      return kPowerPrecedence;
    default:
      return 3;
  }
}

bool IsFunctionKeyword(TokenKind kind) {
  return kind == TokenKind::kStart || kind == TokenKind::kEndFunction || kind == TokenKind::kStep ||
         kind == TokenKind::kRange || kind == TokenKind::kMaxOf || kind == TokenKind::kMinOf;
}

}  // namespace

Grammar::Grammar(std::string_view text, const ParseOptions& options)
    : text_(text), options_(options), lexer_(text) {}

ExprPtr Grammar::ReadExpression() {
  Advance();
  if (Is(TokenKind::kEnd)) return Fail(0, "no expression found in input");
  ExprPtr expr = Expression(kLowestPrecedence);
  if (expr == nullptr) return nullptr;
  if (!Is(TokenKind::kEnd)) return Unexpected({});
  return expr;
}

std::unique_ptr<VectorSelector> Grammar::ReadSelector() {
  Advance();
  std::unique_ptr<VectorSelector> selector = Selector();
  if (selector == nullptr) return nullptr;
  if (!Is(TokenKind::kEnd)) return Unexpected({});
  return selector;
}

void Grammar::Advance() {
  switch (token_.kind) {
    case TokenKind::kRightBrace:
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
    case TokenKind::kDuration:
    case TokenKind::kNumber:
      last_closing_ = token_.position.end;
      break;
    default:
      break;
  }
  token_ = lexer_.Next();
}

Grammar::Failure Grammar::FailBeforeToken(int32_t offset, std::string text) {
  error_ = ParseError{offset, std::move(text)};
  return {};
}

Grammar::Failure Grammar::Fail(int32_t offset, std::string text) {
  // Bad characters ahead were found first.
  if (Is(TokenKind::kError)) return FailBeforeToken(token_.position.begin, lexer_.error());
  return FailBeforeToken(offset, std::move(text));
}

Grammar::Failure Grammar::Unexpected(const Place& place) {
  std::string text = "unexpected " + Describe(token_);
  if (!place.in.empty()) base::StrAppend(&text, " in ", place.in);
  if (!place.expected.empty()) base::StrAppend(&text, ", expected ", place.expected);
  return Fail(token_.position.begin, std::move(text));
}

Grammar::Place Grammar::Enclosing() const {
  return aggregations_open_ > 0 ? Place{"aggregation", ""} : Place{};
}

bool Grammar::Expect(TokenKind kind, const Place& place) {
  if (!Is(kind)) return Unexpected(place);
  Advance();
  return true;
}

bool Grammar::Grow(Expr* expr, int below) {
  expr->depth = std::max(expr->depth, below + 1);
  if (expr->depth <= kMaxExpressionDepth) return true;
  return FailTooDeep(expr->position.begin);
}

bool Grammar::EnterNested() {
  if (nested_ <= kMaxExpressionDepth) return true;
  return FailTooDeep(token_.position.begin);
}

Grammar::Failure Grammar::FailTooDeep(int32_t offset) {
  return Fail(offset,
              base::StrCat("expression is nested more than ", kMaxExpressionDepth, " levels deep"));
}

ExprPtr Grammar::Expression(int min_precedence) {
  const NestingScope scope(&nested_);
  if (!EnterNested()) return nullptr;
  ExprPtr left = UnaryExpression();
  while (left != nullptr && IsBinaryOperator(token_.kind)) {
    const int precedence = PrecedenceOf(token_.kind);
    if (precedence < min_precedence) break;
    left = BinaryExpression(std::move(left), precedence);
  }
  return left;
}

ExprPtr Grammar::BinaryExpression(ExprPtr left, int precedence) {
  auto binary = std::make_unique<Binary>();
  binary->op = BinaryOpOf(token_.kind);
  Advance();
  if (!BinaryModifiers(binary.get())) return nullptr;
  binary->left = std::move(left);
  binary->right = Expression(precedence == kPowerPrecedence ? precedence : precedence + 1);
  if (binary->right == nullptr) return nullptr;
  binary->position = {binary->left->position.begin, binary->right->position.end};
  const bool fills = binary->matching.fill_left || binary->matching.fill_right;
  if (fills && !options_.fill_modifiers) {
    return Fail(binary->position.begin, "binop fill modifiers are experimental and not enabled");
  }
  const bool both_scalar =
      binary->left->type == ExprType::kScalar && binary->right->type == ExprType::kScalar;
  binary->type = both_scalar ? ExprType::kScalar : ExprType::kVector;
  if (!Grow(binary.get(), std::max(binary->left->depth, binary->right->depth))) return nullptr;
  return binary;
}

bool Grammar::BinaryModifiers(Binary* binary) {
  VectorMatching& matching = binary->matching;
  if (Is(TokenKind::kBool)) {
    binary->return_bool = true;
    Advance();
  }
  if (!Is(TokenKind::kOn) && !Is(TokenKind::kIgnoring)) return FillModifiers(&matching);
  matching.on = Is(TokenKind::kOn);
  Advance();
  if (!Grouping(&matching.labels)) return false;
  if (Is(TokenKind::kGroupLeft) || Is(TokenKind::kGroupRight)) {
    matching.cardinality =
        Is(TokenKind::kGroupLeft) ? Cardinality::kManyToOne : Cardinality::kOneToMany;
    Advance();
    const bool is_left_out = StartsExpression() && !Is(TokenKind::kLeftParen);
    if (!is_left_out && !Grouping(&matching.include)) return false;
  }
  return FillModifiers(&matching);
}

bool Grammar::FillModifiers(VectorMatching* matching) {
  if (Is(TokenKind::kFill)) {
    Advance();
    if (!FillValue(&matching->fill_left)) return false;
    matching->fill_right = matching->fill_left;
    return true;
  }
  // Each side once, in either order.
  for (int i = 0; i < 2; ++i) {
    std::optional<double>* side = nullptr;
    if (Is(TokenKind::kFillLeft)) side = &matching->fill_left;
    if (Is(TokenKind::kFillRight)) side = &matching->fill_right;
    if (side == nullptr || side->has_value()) break;
    Advance();
    if (!FillValue(side)) return false;
  }
  return true;
}

bool Grammar::FillValue(std::optional<double>* out) {
  if (!Expect(TokenKind::kLeftParen, Enclosing())) return false;
  bool negative = false;
  if (Is(TokenKind::kAdd) || Is(TokenKind::kSubtract)) {
    negative = Is(TokenKind::kSubtract);
    Advance();
  }
  if (!Is(TokenKind::kNumber) && !Is(TokenKind::kDuration)) return Unexpected(Enclosing());
  const ExprPtr number = NumberOrDuration();
  if (number == nullptr) return false;
  const double value = As<NumberLiteral>(*number).value;
  *out = negative ? -value : value;
  return Expect(TokenKind::kRightParen, Enclosing());
}

ExprPtr Grammar::UnaryExpression() {
  if (!Is(TokenKind::kAdd) && !Is(TokenKind::kSubtract)) return PostfixExpression();
  const Token sign = token_;
  Advance();
  ExprPtr operand = Expression(kUnaryPrecedence + 1);
  if (operand == nullptr) return nullptr;
  const bool is_minus = sign.kind == TokenKind::kSubtract;
  if (auto* number = TryAs<NumberLiteral>(*operand)) {
    if (is_minus) number->value = -number->value;
    number->position.begin = sign.position.begin;
    return operand;
  }
  auto unary = std::make_unique<Unary>();
  unary->op = is_minus ? UnaryOp::kMinus : UnaryOp::kPlus;
  unary->type = operand->type;
  unary->position = {sign.position.begin, operand->position.end};
  const int below = operand->depth;
  unary->expr = std::move(operand);
  if (!Grow(unary.get(), below)) return nullptr;
  return unary;
}

ExprPtr Grammar::PostfixExpression() {
  ExprPtr expr = Primary();
  while (expr != nullptr) {
    switch (token_.kind) {
      case TokenKind::kLeftBracket:
        expr = Bracket(std::move(expr));
        break;
      case TokenKind::kOffset:
        expr = Offset(std::move(expr));
        break;
      case TokenKind::kAt:
        expr = At(std::move(expr));
        break;
      case TokenKind::kAnchored:
        expr = Extension(std::move(expr), RangeExtension::kAnchored);
        break;
      case TokenKind::kSmoothed:
        expr = Extension(std::move(expr), RangeExtension::kSmoothed);
        break;
      default:
        return expr;
    }
  }
  return expr;
}

bool Grammar::StartsExpression() const {
  switch (token_.kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
    case TokenKind::kString:
    case TokenKind::kLeftParen:
    case TokenKind::kLeftBrace:
    case TokenKind::kAdd:
    case TokenKind::kSubtract:
      return true;
    default:
      return CanBeMetricName(token_.kind);
  }
}

ExprPtr Grammar::Primary() {
  switch (token_.kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
      return NumberOrDuration();
    case TokenKind::kString: {
      auto literal = std::make_unique<StringLiteral>();
      literal->value = Unquote(token_.text);
      literal->position = token_.position;
      Advance();
      return literal;
    }
    case TokenKind::kLeftParen:
      return ParenExpression();
    case TokenKind::kLeftBrace:
      return Selector();
    default:
      break;
  }
  if (IsAggregator(token_.kind)) return AggregationOrSelector();
  if (CanBeMetricName(token_.kind)) return CallOrSelector();
  return Unexpected(Enclosing());
}

ExprPtr Grammar::NumberOrDuration() {
  auto literal = std::make_unique<NumberLiteral>();
  literal->position = token_.position;
  if (Is(TokenKind::kNumber)) {
    const absl::StatusOr<double> value = ParseNumber(token_.text);
    if (!value.ok()) {
      return Fail(token_.position.begin,
                  base::StrCat("error parsing number: ", base::Message(value.status())));
    }
    literal->value = *value;
  } else {
    const absl::StatusOr<int64_t> duration_ms = base::ParseDurationMs(token_.text);
    if (!duration_ms.ok()) {
      return Fail(token_.position.begin, std::string(base::Message(duration_ms.status())));
    }
    literal->value = static_cast<double>(*duration_ms) / 1000;
    literal->is_duration = true;
  }
  Advance();
  return literal;
}

ExprPtr Grammar::ParenExpression() {
  auto paren = std::make_unique<Paren>();
  paren->position.begin = token_.position.begin;
  Advance();
  paren->expr = Expression(kLowestPrecedence);
  if (paren->expr == nullptr) return nullptr;
  paren->position.end = token_.position.end;
  paren->type = paren->expr->type;
  if (!Expect(TokenKind::kRightParen, Enclosing())) return nullptr;
  if (!Grow(paren.get(), paren->expr->depth)) return nullptr;
  return paren;
}

ExprPtr Grammar::AggregationOrSelector() {
  const Token name = token_;
  Advance();
  switch (token_.kind) {
    case TokenKind::kLeftParen:
    case TokenKind::kBy:
    case TokenKind::kWithout:
      return AggregationOf(name);
    default:
      return SelectorAfterName(name);
  }
}

bool Grammar::AggregateModifier(Aggregation* aggregation) {
  aggregation->without = Is(TokenKind::kWithout);
  Advance();
  return Grouping(&aggregation->grouping);
}

ExprPtr Grammar::AggregationOf(const Token& op) {
  auto aggregation = std::make_unique<Aggregation>();
  aggregation->op = AggregateOpOf(op.kind);
  std::vector<ExprPtr> args;
  const auto is_modifier = [&] { return Is(TokenKind::kBy) || Is(TokenKind::kWithout); };
  {
    const NestingScope scope(&aggregations_open_);
    const bool modifier_first = is_modifier();
    if (modifier_first && !AggregateModifier(aggregation.get())) return nullptr;
    aggregation->position = {op.position.begin, 0};
    if (!Is(TokenKind::kLeftParen)) return Unexpected(Enclosing());
    if (!Arguments(&args)) return nullptr;
    aggregation->position.end = last_closing_;
    if (!modifier_first && is_modifier()) {
      if (!AggregateModifier(aggregation.get())) return nullptr;
      aggregation->position.end = last_closing_;
    }
  }
  if (!CompleteAggregation(std::move(args), aggregation.get())) return nullptr;
  return aggregation;
}

bool Grammar::CompleteAggregation(std::vector<ExprPtr> args, Aggregation* aggregation) {
  const int32_t begin = aggregation->position.begin;
  const AggregateOp op = aggregation->op;
  if (args.empty()) {
    return Fail(begin, "no arguments for aggregate expression provided");
  }
  const bool is_experimental = op == AggregateOp::kLimitk || op == AggregateOp::kLimitRatio;
  if (is_experimental && !options_.experimental_functions) {
    return Fail(begin, base::StrCat(AggregateOpName(op),
                                    "() is experimental and must be enabled with "
                                    "--enable-feature=promql-experimental-functions"));
  }
  const size_t num_wanted = HasParameter(op) ? 2 : 1;
  if (args.size() != num_wanted) {
    return Fail(begin, base::StrCat("wrong number of arguments for aggregate expression provided, "
                                    "expected ",
                                    num_wanted, ", got ", args.size()));
  }
  int below = args.back()->depth;
  aggregation->expr = std::move(args.back());
  if (num_wanted == 2) {
    below = std::max(below, args[0]->depth);
    aggregation->parameter = std::move(args[0]);
  }
  return Grow(aggregation, below);
}

ExprPtr Grammar::CallOrSelector() {
  const Token name = token_;
  Advance();
  const bool is_function = name.kind == TokenKind::kIdentifier || IsFunctionKeyword(name.kind);
  if (is_function && Is(TokenKind::kLeftParen)) return CallOf(name);
  return SelectorAfterName(name);
}

ExprPtr Grammar::CallOf(const Token& name) {
  auto call = std::make_unique<Call>();
  if (!Arguments(&call->args)) return nullptr;
  call->position = {name.position.begin, last_closing_};
  call->function = FindFunction(name.text);
  if (call->function == nullptr) {
    return FailBeforeToken(name.position.begin,
                           base::StrCat("unknown function with name ", Quoted(name.text)));
  }
  if (call->function->stability == Stability::kExperimental && !options_.experimental_functions) {
    return FailBeforeToken(name.position.begin,
                           base::StrCat("function ", Quoted(name.text), " is not enabled"));
  }
  call->type = call->function->return_type;
  int below = 0;
  for (const ExprPtr& arg : call->args) below = std::max(below, arg->depth);
  if (!Grow(call.get(), below)) return nullptr;
  return call;
}

bool Grammar::Arguments(std::vector<ExprPtr>* args) {
  Advance();  // The left parenthesis.
  if (!Is(TokenKind::kRightParen)) {
    for (;;) {
      args->push_back(Expression(kLowestPrecedence));
      if (args->back() == nullptr) return false;
      if (!Is(TokenKind::kComma)) break;
      const Token comma = token_;
      Advance();
      if (!StartsExpression()) {
        return Fail(comma.position.begin, "trailing commas not allowed in function call args");
      }
    }
  }
  return Expect(TokenKind::kRightParen, Enclosing());
}

bool Grammar::Grouping(std::vector<std::string>* labels) {
  constexpr Place kPlace = {"grouping opts", "\",\" or \")\""};
  if (!Expect(TokenKind::kLeftParen, {"grouping opts", "\"(\""})) return false;
  if (Is(TokenKind::kRightParen)) {
    Advance();
    return true;
  }
  for (;;) {
    if (!GroupingLabel(labels)) return false;
    if (!Is(TokenKind::kComma)) break;
    Advance();
    if (Is(TokenKind::kRightParen)) break;  // A trailing comma is fine here.
  }
  return Expect(TokenKind::kRightParen, kPlace);
}

bool Grammar::GroupingLabel(std::vector<std::string>* labels) {
  const bool is_string = Is(TokenKind::kString);
  if (!is_string && !CanBeLabelName(token_.kind)) {
    return Unexpected({"grouping opts", "label"});
  }
  std::string name = is_string ? Unquote(token_.text) : std::string(token_.text);
  if (!model::IsValidLabelName(name, model::NameValidation::kUtf8)) {
    return Fail(token_.position.begin,
                base::StrCat("invalid label name for grouping: ", Quoted(name)));
  }
  labels->push_back(std::move(name));
  Advance();
  return true;
}

std::unique_ptr<VectorSelector> Grammar::Selector() {
  if (Is(TokenKind::kLeftBrace)) {
    auto selector = std::make_unique<VectorSelector>();
    selector->position.begin = token_.position.begin;
    if (!Matchers(selector.get())) return nullptr;
    return selector;
  }
  if (!CanBeMetricName(token_.kind)) return Unexpected({});
  const Token name = token_;
  Advance();
  return SelectorAfterName(name);
}

std::unique_ptr<VectorSelector> Grammar::SelectorAfterName(const Token& name) {
  auto selector = std::make_unique<VectorSelector>();
  selector->position = name.position;
  selector->name = std::string(name.text);
  if (Is(TokenKind::kLeftBrace) && !Matchers(selector.get())) return nullptr;
  if (!AddMatcher(model::MatchType::kEqual, model::kMetricName, selector->name, name.position.begin,
                  selector.get())) {
    return nullptr;
  }
  return selector;
}

bool Grammar::Matchers(VectorSelector* selector) {
  Advance();  // The left brace.
  while (!Is(TokenKind::kRightBrace)) {
    if (!OneMatcher(selector)) return false;
    if (Is(TokenKind::kRightBrace)) break;
    if (!Expect(TokenKind::kComma, {"label matching", "\",\" or \"}\""})) return false;
  }
  selector->position.end = token_.position.end;
  Advance();
  return true;
}

bool Grammar::OneMatcher(VectorSelector* selector) {
  const Token name_token = token_;
  const bool is_quoted = Is(TokenKind::kString);
  if (!is_quoted && !Is(TokenKind::kIdentifier)) {
    return Unexpected({"label matching", "identifier or \"}\""});
  }
  const std::string name = is_quoted ? Unquote(name_token.text) : std::string(name_token.text);
  Advance();
  model::MatchType type;
  switch (token_.kind) {
    case TokenKind::kAssign:
      type = model::MatchType::kEqual;
      break;
    case TokenKind::kNotEqual:
      type = model::MatchType::kNotEqual;
      break;
    case TokenKind::kRegexEqual:
      type = model::MatchType::kRegex;
      break;
    case TokenKind::kRegexNotEqual:
      type = model::MatchType::kNotRegex;
      break;
    default:
      if (!is_quoted) {
        return Unexpected({"label matching", "label matching operator"});
      }
      return AddMatcher(model::MatchType::kEqual, model::kMetricName, name,
                        name_token.position.begin, selector);
  }
  Advance();
  if (!Is(TokenKind::kString)) return Unexpected({"label matching", "string"});
  const std::string value = Unquote(token_.text);
  if (!AddMatcher(type, name, value, name_token.position.begin, selector)) return false;
  Advance();
  return true;
}

bool Grammar::AddMatcher(model::MatchType type, std::string_view name, std::string_view value,
                         int32_t offset, VectorSelector* selector) {
  absl::StatusOr<model::Matcher> matcher = model::Matcher::Create(type, name, value);
  if (!matcher.ok()) return Fail(offset, std::string(base::Message(matcher.status())));
  selector->matchers.push_back(*std::move(matcher));
  return true;
}

}  // namespace narthex::promql
