// Splits what is longer than a line: operands below each other with the operator between, arguments
// and parentheses indented.
#include <span>

#include "narthex/base/strings.h"
#include "promql/parse/printer.h"

namespace narthex::promql {
namespace {

constexpr size_t kLineBytes = 100;

void Indent(std::string* out, int level) { out->append(2 * static_cast<size_t>(level), ' '); }

// Appends `expr`, its lines indented by `level` and more.
void Append(std::string* out, const Expr& expr, int level);

void AppendArguments(std::string* out, std::span<const Expr* const> args, int level) {
  *out += "(\n";
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) *out += ",\n";
    Append(out, *args[i], level + 1);
  }
  *out += '\n';
  Indent(out, level);
  *out += ')';
}

void AppendSplit(std::string* out, const Binary& binary, int level) {
  Append(out, *binary.left, level + 1);
  *out += '\n';
  Indent(out, level);
  AppendOperator(out, binary);
  *out += '\n';
  Append(out, *binary.right, level + 1);
}

void AppendSplit(std::string* out, const Aggregation& aggregation, int level) {
  Indent(out, level);
  AppendAggregationHead(out, aggregation);
  std::vector<const Expr*> args;
  if (aggregation.parameter != nullptr) args.push_back(aggregation.parameter.get());
  args.push_back(aggregation.expr.get());
  AppendArguments(out, args, level);
}

void AppendSplit(std::string* out, const Call& call, int level) {
  Indent(out, level);
  *out += call.function->name;
  std::vector<const Expr*> args;
  for (const ExprPtr& arg : call.args) args.push_back(arg.get());
  AppendArguments(out, args, level);
}

void AppendSigned(std::string* out, const Unary& unary, int level) {
  Indent(out, level);
  *out += unary.op == UnaryOp::kMinus ? '-' : '+';
  std::string operand;
  Append(&operand, *unary.expr, level);
  // The sign stands where the operand's indent would.
  *out += std::string_view(operand).substr(operand.find_first_not_of(' '));
}

void Append(std::string* out, const Expr& expr, int level) {
  if (expr.kind == ExprKind::kUnary) return AppendSigned(out, As<Unary>(expr), level);
  const std::string line = ToString(expr);
  if (line.size() > kLineBytes) {
    switch (expr.kind) {
      case ExprKind::kBinary:
        return AppendSplit(out, As<Binary>(expr), level);
      case ExprKind::kAggregation:
        return AppendSplit(out, As<Aggregation>(expr), level);
      case ExprKind::kCall:
        return AppendSplit(out, As<Call>(expr), level);
      case ExprKind::kParen: {
        Indent(out, level);
        const Expr* const inner = As<Paren>(expr).expr.get();
        return AppendArguments(out, {&inner, 1}, level);
      }
      case ExprKind::kSubquery:
        Append(out, *As<Subquery>(expr).expr, level);
        return AppendSubquerySuffix(out, As<Subquery>(expr));
      default:
        break;
    }
  }
  // A subquery that fits stands without an indent, as it does in Prometheus.
  if (expr.kind != ExprKind::kSubquery) Indent(out, level);
  *out += line;
}

}  // namespace

std::string ToPrettyString(const Expr& expr) {
  std::string out;
  Append(&out, expr, 0);
  return out;
}

}  // namespace narthex::promql
