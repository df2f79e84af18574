#include "promql/parse/ast.h"

#include "narthex/base/strings.h"

namespace narthex::promql {

const Expr& Unparenthesized(const Expr& expr) {
  const Expr* inner = &expr;
  while (const Paren* paren = TryAs<Paren>(*inner)) inner = paren->expr.get();
  return *inner;
}

std::string_view AggregateOpName(AggregateOp op) {
  static constexpr std::string_view kNames[] = {
      "sum",    "avg",  "count",   "min",          "max",      "group",  "stddev",
      "stdvar", "topk", "bottomk", "count_values", "quantile", "limitk", "limit_ratio"};
  return kNames[static_cast<size_t>(op)];
}

bool HasParameter(AggregateOp op) {
  switch (op) {
    case AggregateOp::kTopk:
    case AggregateOp::kBottomk:
    case AggregateOp::kCountValues:
    case AggregateOp::kQuantile:
    case AggregateOp::kLimitk:
    case AggregateOp::kLimitRatio:
      return true;
    default:
      return false;
  }
}

std::string_view BinaryOpName(BinaryOp op) {
  static constexpr std::string_view kNames[] = {"+",     "-",  "*",  "/",   "%",  "^",
                                                "atan2", "==", "!=", "<",   "<=", ">",
                                                ">=",    "</", ">/", "and", "or", "unless"};
  return kNames[static_cast<size_t>(op)];
}

bool IsComparison(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kGreaterEqual; }

bool IsSetOperator(BinaryOp op) { return op >= BinaryOp::kAnd; }

std::string PositionText(std::string_view query, int32_t offset) {
  if (query.empty()) return "unknown position";
  if (offset < 0 || static_cast<size_t>(offset) > query.size()) return "invalid position";
  int line = 1;
  int32_t line_begin = 0;
  for (int32_t i = 0; i < offset; ++i) {
    if (query[static_cast<size_t>(i)] != '\n') continue;
    ++line;
    line_begin = i + 1;
  }
  return base::StrCat(line, ":", offset - line_begin + 1);
}

}  // namespace narthex::promql
