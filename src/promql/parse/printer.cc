#include "promql/parse/printer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/labels.h"
#include "promql/parse/token.h"

namespace narthex::promql {
namespace {

void AppendSeconds(std::string* out, double seconds) {
  if (seconds < 0) *out += '-';
  // Cut to whole nanoseconds, then to milliseconds.
  const double ms = std::trunc(std::abs(seconds) * 1e9) / 1e6;
  *out += base::FormatDuration(static_cast<int64_t>(ms));
}

void AppendLabelNames(std::string* out, std::span<const std::string> names) {
  *out += '(';
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) *out += ", ";
    const bool is_plain = model::IsValidLabelName(names[i], model::NameValidation::kLegacy);
    *out += is_plain ? names[i] : Quoted(names[i]);
  }
  *out += ')';
}

// Prints one tree onto `out_`.
class Printer {
 public:
  explicit Printer(std::string* out) : out_(out) {}

  void Print(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kNumber:
        return Print(As<NumberLiteral>(expr));
      case ExprKind::kString:
        return model::AppendQuoted(out_, As<StringLiteral>(expr).value);
      case ExprKind::kVectorSelector:
        return Print(As<VectorSelector>(expr));
      case ExprKind::kMatrixSelector:
        return Print(As<MatrixSelector>(expr));
      case ExprKind::kSubquery:
        return Print(As<Subquery>(expr));
      case ExprKind::kAggregation:
        return Print(As<Aggregation>(expr));
      case ExprKind::kCall:
        return Print(As<Call>(expr));
      case ExprKind::kBinary:
        return Print(As<Binary>(expr));
      case ExprKind::kUnary:
        Add(As<Unary>(expr).op == UnaryOp::kMinus ? "-" : "+");
        return Print(*As<Unary>(expr).expr);
      case ExprKind::kParen:
        Add("(");
        Print(*As<Paren>(expr).expr);
        return Add(")");
    }
  }

  void PrintHead(const Aggregation& aggregation);
  void PrintOperator(const Binary& binary);
  void PrintSuffix(const Subquery& subquery);

 private:
  template <typename... Pieces>
  void Add(const Pieces&... pieces) {
    base::StrAppend(out_, pieces...);
  }

  void Print(const NumberLiteral& number) {
    if (number.is_duration) return AppendSeconds(out_, number.value);
    base::AppendFloatFixed(out_, number.value);
  }

  void Print(const VectorSelector& selector);
  void Print(const MatrixSelector& matrix);
  void Print(const Subquery& subquery);
  void Print(const Aggregation& aggregation);
  void Print(const Call& call);
  void Print(const Binary& binary);
  void Print(const DurationExpr& duration);
  void PrintNameAndMatchers(const VectorSelector& selector);
  void PrintMatching(const VectorMatching& matching);
  void PrintFill(std::string_view keyword, double value);
  void PrintExtension(RangeExtension extension);
  void PrintAt(const AtModifier& at);
  void PrintOffset(const Duration& offset);
  void PrintLength(const Duration& duration) {
    if (duration.expr != nullptr) return Print(*duration.expr);
    Add(base::FormatDuration(duration.ms));
  }

  std::string* const out_;
};

void Printer::PrintNameAndMatchers(const VectorSelector& selector) {
  std::vector<std::string> texts;
  for (const model::Matcher& matcher : selector.matchers) {
    const bool is_the_name = matcher.name() == model::kMetricName &&
                             matcher.type() == model::MatchType::kEqual &&
                             matcher.value() == selector.name && !matcher.value().empty();
    if (!is_the_name) texts.push_back(matcher.ToString());
  }
  std::ranges::sort(texts);
  Add(selector.name);
  if (texts.empty()) return Add(selector.name.empty() ? "{}" : "");
  for (size_t i = 0; i < texts.size(); ++i) Add(i == 0 ? "{" : ",", texts[i]);
  Add("}");
}

void Printer::PrintExtension(RangeExtension extension) {
  if (extension == RangeExtension::kAnchored) Add(" anchored");
  if (extension == RangeExtension::kSmoothed) Add(" smoothed");
}

void Printer::PrintAt(const AtModifier& at) {
  switch (at.kind) {
    case AtKind::kNone:
      return;
    case AtKind::kStart:
      return Add(" @ start()");
    case AtKind::kEnd:
      return Add(" @ end()");
    case AtKind::kTime: {
      char text[40];
      std::snprintf(text, sizeof text, " @ %.3f", static_cast<double>(at.time_ms) / 1000);
      return Add(std::string_view(text));
    }
  }
}

void Printer::PrintOffset(const Duration& offset) {
  if (offset.expr != nullptr) {
    Add(" offset ");
    Print(*offset.expr);
  } else if (offset.ms != 0) {
    Add(" offset ", offset.ms < 0 ? "-" : "", base::FormatDuration(std::abs(offset.ms)));
  }
}

void Printer::Print(const VectorSelector& selector) {
  PrintNameAndMatchers(selector);
  PrintAt(selector.at);
  PrintExtension(selector.extension);
  PrintOffset(selector.offset);
}

void Printer::Print(const MatrixSelector& matrix) {
  const VectorSelector& selector = *matrix.selector;
  PrintNameAndMatchers(selector);
  Add("[");
  PrintLength(matrix.range);
  Add("]");
  PrintExtension(selector.extension);
  PrintAt(selector.at);
  PrintOffset(selector.offset);
}

void Printer::Print(const Subquery& subquery) {
  Print(*subquery.expr);
  PrintSuffix(subquery);
}

void Printer::PrintSuffix(const Subquery& subquery) {
  Add("[");
  PrintLength(subquery.range);
  Add(":");
  if (subquery.step.ms != 0 || subquery.step.expr != nullptr) PrintLength(subquery.step);
  Add("]");
  PrintAt(subquery.at);
  PrintOffset(subquery.offset);
}

void Printer::PrintHead(const Aggregation& aggregation) {
  Add(AggregateOpName(aggregation.op));
  if (!aggregation.without && aggregation.grouping.empty()) return;
  Add(aggregation.without ? " without " : " by ");
  AppendLabelNames(out_, aggregation.grouping);
  Add(" ");
}

void Printer::Print(const Aggregation& aggregation) {
  PrintHead(aggregation);
  Add("(");
  if (aggregation.parameter != nullptr) {
    Print(*aggregation.parameter);
    Add(", ");
  }
  Print(*aggregation.expr);
  Add(")");
}

void Printer::Print(const Call& call) {
  Add(call.function->name, "(");
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (i > 0) Add(", ");
    Print(*call.args[i]);
  }
  Add(")");
}

void Printer::PrintFill(std::string_view keyword, double value) {
  Add(" ", keyword, " (");
  base::AppendFloatG(out_, value);
  Add(")");
}

void Printer::PrintMatching(const VectorMatching& matching) {
  const bool is_grouped = matching.cardinality == Cardinality::kManyToOne ||
                          matching.cardinality == Cardinality::kOneToMany;
  if (!matching.labels.empty() || matching.on || is_grouped) {
    Add(matching.on ? " on " : " ignoring ");
    AppendLabelNames(out_, matching.labels);
  }
  if (is_grouped) {
    Add(matching.cardinality == Cardinality::kManyToOne ? " group_left " : " group_right ");
    AppendLabelNames(out_, matching.include);
  }
  if (matching.fill_left.has_value() && matching.fill_left == matching.fill_right) {
    return PrintFill("fill", *matching.fill_left);
  }
  if (matching.fill_left.has_value()) PrintFill("fill_left", *matching.fill_left);
  if (matching.fill_right.has_value()) PrintFill("fill_right", *matching.fill_right);
}

void Printer::PrintOperator(const Binary& binary) {
  Add(BinaryOpName(binary.op), binary.return_bool ? " bool" : "");
  const bool both_vectors =
      binary.left->type == ExprType::kVector && binary.right->type == ExprType::kVector;
  if (both_vectors) PrintMatching(binary.matching);
}

void Printer::Print(const Binary& binary) {
  Print(*binary.left);
  Add(" ");
  PrintOperator(binary);
  Add(" ");
  Print(*binary.right);
}

std::string_view DurationOperatorText(DurationOp op) {
  switch (op) {
    case DurationOp::kAdd:
      return " + ";
    case DurationOp::kSubtract:
      return " - ";
    case DurationOp::kMultiply:
      return " * ";
    case DurationOp::kDivide:
      return " / ";
    case DurationOp::kModulo:
      return " % ";
    case DurationOp::kPower:
      return " ^ ";
    default:
      return "";
  }
}

void Printer::Print(const DurationExpr& duration) {
  if (duration.wrapped) Add("(");
  switch (duration.op) {
    case DurationOp::kLiteral:
      if (duration.is_duration) {
        AppendSeconds(out_, duration.seconds);
      } else {
        base::AppendFloatFixed(out_, duration.seconds);
      }
      break;
    case DurationOp::kStep:
      Add("step()");
      break;
    case DurationOp::kRange:
      Add("range()");
      break;
    case DurationOp::kMinOf:
    case DurationOp::kMaxOf:
      Add(duration.op == DurationOp::kMinOf ? "min_of(" : "max_of(");
      Print(*duration.left);
      Add(", ");
      Print(*duration.right);
      Add(")");
      break;
    case DurationOp::kMinus:
    case DurationOp::kPlus:
      if (duration.op == DurationOp::kMinus) Add("-");
      Print(*duration.right);
      break;
    default:
      Print(*duration.left);
      Add(DurationOperatorText(duration.op));
      Print(*duration.right);
  }
  if (duration.wrapped) Add(")");
}

}  // namespace

void AppendText(std::string* out, const Expr& expr) { Printer(out).Print(expr); }

void AppendAggregationHead(std::string* out, const Aggregation& aggregation) {
  Printer(out).PrintHead(aggregation);
}

void AppendOperator(std::string* out, const Binary& binary) { Printer(out).PrintOperator(binary); }

void AppendSubquerySuffix(std::string* out, const Subquery& subquery) {
  Printer(out).PrintSuffix(subquery);
}

std::string ToString(const Expr& expr) {
  std::string out;
  AppendText(&out, expr);
  return out;
}

}  // namespace narthex::promql
