// The tree of a PromQL expression. The parser builds it and checks its types; the passes of
// promql/plan then fill the members marked "plan" for one query; the executor only reads it.
// Plain data, owned from the root downwards; immutable once planned, hence then thread-safe.
//
// A tree is at most kMaxExpressionDepth high, so recursion over it is safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/model/matcher.h"
#include "narthex/model/queryable.h"
#include "promql/parse/functions_table.h"

namespace narthex::promql {

inline constexpr int kMaxExpressionDepth = 1'000;

// Byte offsets into the query text, half-open.
struct PositionRange {
  int32_t begin = 0;
  int32_t end = 0;
  bool operator==(const PositionRange&) const = default;
};

enum class ExprKind : uint8_t {
  kNumber,
  kString,
  kVectorSelector,
  kMatrixSelector,
  kSubquery,
  kAggregation,
  kCall,
  kBinary,
  kUnary,
  kParen,
};

struct Expr {
  virtual ~Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;

  const ExprKind kind;
  ExprType type = ExprType::kNone;
  PositionRange position;
  int depth = 1;  // Height of the subtree.

  // plan: the root of a largest subtree whose value is the same at every step of the query (of the
  // subquery it lies in). Literals, range vectors and what lies inside such a subtree lack it.
  bool step_invariant = false;

 protected:
  explicit Expr(ExprKind expr_kind) : kind(expr_kind) {}
};
using ExprPtr = std::unique_ptr<Expr>;

// REQUIRES: `expr` is a Node.
template <typename Node>
const Node& As(const Expr& expr) {
  return static_cast<const Node&>(expr);
}
template <typename Node>
Node& As(Expr& expr) {
  return static_cast<Node&>(expr);
}
// Null if `expr` is no Node.
template <typename Node>
const Node* TryAs(const Expr& expr) {
  return expr.kind == Node::kKind ? static_cast<const Node*>(&expr) : nullptr;
}
template <typename Node>
Node* TryAs(Expr& expr) {
  return expr.kind == Node::kKind ? static_cast<Node*>(&expr) : nullptr;
}
// `expr` without the parentheses around it.
const Expr& Unparenthesized(const Expr& expr);

struct NumberLiteral : Expr {
  static constexpr ExprKind kKind = ExprKind::kNumber;
  NumberLiteral() : Expr(kKind) { type = ExprType::kScalar; }
  double value = 0;
  bool is_duration = false;  // Written as one; the value is in seconds.
};

struct StringLiteral : Expr {
  static constexpr ExprKind kKind = ExprKind::kString;
  StringLiteral() : Expr(kKind) { type = ExprType::kString; }
  std::string value;
};

// What may stand where a duration is due. A tree of its own: its leaves are seconds.
enum class DurationOp : uint8_t {
  kLiteral,
  kStep,   // step()
  kRange,  // range()
  kMinOf,
  kMaxOf,
  kPlus,   // Unary, as a literal in parentheses: right.
  kMinus,  // Unary: right.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
};

struct DurationExpr {
  DurationOp op = DurationOp::kLiteral;
  bool wrapped = false;      // In parentheses.
  double seconds = 0;        // kLiteral.
  bool is_duration = false;  // kLiteral: written as a duration, not as a number.
  std::unique_ptr<DurationExpr> left, right;
  PositionRange position;
  int depth = 1;
};

// A length of time: known when parsed, or an expression over the query's step and range.
struct Duration {
  // Milliseconds. If `expr` is set: plan.
  int64_t ms = 0;
  std::unique_ptr<DurationExpr> expr;
};

enum class AtKind : uint8_t { kNone, kTime, kStart, kEnd };

struct AtModifier {
  AtKind kind = AtKind::kNone;
  int64_t time_ms = 0;  // kTime; for kStart and kEnd: plan.
};

// anchored and smoothed.
enum class RangeExtension : uint8_t { kNone, kAnchored, kSmoothed };

struct VectorSelector : Expr {
  static constexpr ExprKind kKind = ExprKind::kVectorSelector;
  VectorSelector() : Expr(kKind) { type = ExprType::kVector; }
  std::string
      name;  // The metric name if it stands before the braces; its matcher is then the last.
  std::vector<model::Matcher> matchers;
  Duration offset;
  AtModifier at;
  RangeExtension extension = RangeExtension::kNone;
  // The second argument of info(): only label matchers, which may all match "".
  bool is_info_matchers = false;

  // plan: what to tell the storage. The range covers all steps, lookback or range included; if the
  // selector lies in a subquery, all of that one's steps.
  model::SelectHints hints;
};

struct MatrixSelector : Expr {
  static constexpr ExprKind kKind = ExprKind::kMatrixSelector;
  MatrixSelector() : Expr(kKind) { type = ExprType::kMatrix; }
  std::unique_ptr<VectorSelector> selector;  // Has offset, @ and extension.
  Duration range;
};

struct Subquery : Expr {
  static constexpr ExprKind kKind = ExprKind::kSubquery;
  Subquery() : Expr(kKind) { type = ExprType::kMatrix; }
  ExprPtr expr;
  Duration range;
  Duration step;  // 0: none was given; plan puts the default in.
  Duration offset;
  AtModifier at;
};

enum class AggregateOp : uint8_t {
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kCountValues,
  kQuantile,
  kLimitk,
  kLimitRatio,
};
std::string_view AggregateOpName(AggregateOp op);
bool HasParameter(AggregateOp op);

struct Aggregation : Expr {
  static constexpr ExprKind kKind = ExprKind::kAggregation;
  Aggregation() : Expr(kKind) { type = ExprType::kVector; }
  AggregateOp op = AggregateOp::kSum;
  ExprPtr expr;
  ExprPtr parameter;  // Null without one.
  std::vector<std::string> grouping;
  bool without = false;  // `grouping` are the labels to drop.
};

struct Call : Expr {
  static constexpr ExprKind kKind = ExprKind::kCall;
  Call() : Expr(kKind) {}
  const Signature* function = nullptr;  // Of the table; lives for the process.
  std::vector<ExprPtr> args;
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kTrimUpper,  // `</`: keeps observations at most the operand.
  kTrimLower,  // `>/`
  kAnd,
  kOr,
  kUnless,
};
std::string_view BinaryOpName(BinaryOp op);
bool IsComparison(BinaryOp op);
bool IsSetOperator(BinaryOp op);

enum class Cardinality : uint8_t { kOneToOne, kManyToOne, kOneToMany, kManyToMany };

struct VectorMatching {
  Cardinality cardinality = Cardinality::kOneToOne;
  bool on = false;  // `labels` are the labels to match by; otherwise those to ignore.
  std::vector<std::string> labels;
  std::vector<std::string> include;  // group_left(...), group_right(...)
  // Stand-ins for elements missing on a side.
  std::optional<double> fill_left, fill_right;
};

struct Binary : Expr {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  Binary() : Expr(kKind) {}
  BinaryOp op = BinaryOp::kAdd;
  ExprPtr left, right;
  bool return_bool = false;
  // Meaningful only if both sides are instant vectors.
  VectorMatching matching;
};

enum class UnaryOp : uint8_t { kPlus, kMinus };

struct Unary : Expr {
  static constexpr ExprKind kKind = ExprKind::kUnary;
  Unary() : Expr(kKind) {}
  UnaryOp op = UnaryOp::kPlus;
  ExprPtr expr;
};

struct Paren : Expr {
  static constexpr ExprKind kKind = ExprKind::kParen;
  Paren() : Expr(kKind) {}
  ExprPtr expr;
};

// "line:column" of a byte offset, both from 1, columns in bytes: how every message speaks of a
// place. "unknown position" for an empty text, "invalid position" outside of it.
std::string PositionText(std::string_view query, int32_t offset);

}  // namespace narthex::promql
