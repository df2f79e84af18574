// The grammar: recursive descent, operators by precedence. One error ends it; what was built so far
// is dropped. Thread-compatible; one Grammar reads one text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "promql/parse/ast.h"
#include "promql/parse/lexer.h"
#include "promql/parse/parser.h"
#include "promql/parse/type_check.h"

namespace narthex::promql {

// Counts up while it lives.
class NestingScope {
 public:
  explicit NestingScope(int* counter) : counter_(counter) { ++*counter_; }
  ~NestingScope() { --*counter_; }
  NestingScope(const NestingScope&) = delete;
  NestingScope& operator=(const NestingScope&) = delete;

 private:
  int* const counter_;
};

class Grammar {
 public:
  // `text` must outlive this.
  Grammar(std::string_view text, const ParseOptions& options);

  // A whole expression, or one selector. Null with error() set on failure.
  ExprPtr ReadExpression();
  std::unique_ptr<VectorSelector> ReadSelector();

  // REQUIRES: a Read returned null.
  const ParseError& error() const { return *error_; }

 private:
  using DurationPtr = std::unique_ptr<DurationExpr>;

  // What an unexpected token is said to be in, and what was expected there.
  struct Place {
    std::string_view in;
    std::string_view expected;
  };

  // What a failed read returns: null or false.
  struct Failure {
    operator bool() const { return false; }
    template <typename Node>
    operator std::unique_ptr<Node>() const {
      return nullptr;
    }
  };

  // Expressions. Each returns null on failure.
  ExprPtr Expression(int min_precedence);
  ExprPtr UnaryExpression();
  ExprPtr PostfixExpression();
  ExprPtr Primary();
  ExprPtr NumberOrDuration();
  ExprPtr ParenExpression();
  ExprPtr AggregationOrSelector();
  ExprPtr AggregationOf(const Token& op);
  ExprPtr CallOrSelector();
  ExprPtr CallOf(const Token& name);
  ExprPtr BinaryExpression(ExprPtr left, int precedence);
  std::unique_ptr<VectorSelector> Selector();
  std::unique_ptr<VectorSelector> SelectorAfterName(const Token& name);

  // Parts of expressions. False on failure.
  bool Arguments(std::vector<ExprPtr>* args);
  bool Grouping(std::vector<std::string>* labels);
  bool GroupingLabel(std::vector<std::string>* labels);
  bool AggregateModifier(Aggregation* aggregation);
  bool CompleteAggregation(std::vector<ExprPtr> args, Aggregation* aggregation);
  bool BinaryModifiers(Binary* binary);
  bool FillModifiers(VectorMatching* matching);
  bool FillValue(std::optional<double>* out);
  bool Matchers(VectorSelector* selector);
  bool OneMatcher(VectorSelector* selector);
  bool AddMatcher(model::MatchType type, std::string_view name, std::string_view value,
                  int32_t offset, VectorSelector* selector);

  // Postfixes. Each takes what stands before and gives it back, wrapped where need be.
  ExprPtr Bracket(ExprPtr expr);
  ExprPtr RangeSelector(ExprPtr expr, DurationPtr range, const Token& left_bracket);
  ExprPtr SubqueryOf(ExprPtr expr, DurationPtr range);
  ExprPtr Offset(ExprPtr expr);
  ExprPtr At(ExprPtr expr);
  ExprPtr Extension(ExprPtr expr, RangeExtension extension);
  bool AtTime(AtModifier* at, const Expr& expr);

  // Durations.
  DurationPtr DurationExpression(int min_precedence, const Place& place);
  DurationPtr DurationPrimary(const Place& place);
  DurationPtr DurationLiteral();
  DurationPtr DurationParen(const Place& place);
  DurationPtr DurationFunction(const Place& place);
  DurationPtr SignedDuration(const Token& sign, DurationPtr inner);
  DurationPtr OffsetDuration();
  DurationPtr PositiveDuration(const Place& place);
  DurationPtr CombineDurations(DurationPtr left, const Token& op, DurationPtr right);
  static DurationPtr WrapDuration(DurationPtr inner, PositionRange position);

  // Tokens.
  bool Is(TokenKind kind) const { return token_.kind == kind; }
  // Moves on. An error of the lexer becomes a token that fits nowhere.
  void Advance();
  // Takes a token of `kind` or fails with Unexpected(place).
  bool Expect(TokenKind kind, const Place& place);
  bool StartsExpression() const;
  Failure Fail(int32_t offset, std::string text);
  // For what is known to be wrong before the next token is looked at.
  Failure FailBeforeToken(int32_t offset, std::string text);
  Failure FailTooDeep(int32_t offset);
  Failure Unexpected(const Place& place);
  // For a place that has no more to say than the aggregation around it.
  Place Enclosing() const;
  // Sets the heights. False, failed, if the tree became too high.
  bool Grow(Expr* expr, int below);
  bool EnterNested();

  const std::string_view text_;
  const ParseOptions options_;
  Lexer lexer_;
  Token token_;                // The next one.
  int32_t last_closing_ = 0;   // End of the last token that can end an expression.
  int aggregations_open_ = 0;  // Around the next token.
  int nested_ = 0;
  std::optional<ParseError> error_;
};

}  // namespace narthex::promql
