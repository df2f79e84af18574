// What PromQL is: each query with its canonical text, and what the tree says of it.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "promql/parse/parser.h"
#include "promql/parse/printer.h"

namespace narthex::promql {
namespace {

constexpr ParseOptions kEverything = {true, true, true};

ExprPtr Parsed(std::string_view query) {
  auto parsed = ParseExpression(query, kEverything);
  EXPECT_TRUE(parsed.ok()) << query << ": " << base::Message(parsed.status());
  return parsed.ok() ? std::move(parsed).value() : nullptr;
}

struct GoodCase {
  std::string_view query;
  std::string_view canonical;
};

constexpr GoodCase kCases[] = {
    {"rate[5m]", "rate[5m]"},
    {"info(up, {})", "info(up, {})"},
    {"up{a=\"\303\277\"}", "up{a=\"\303\277\"}"},
    {"1", "1"},
    {"-1", "-1"},
    {"+1", "1"},
    {"0x1F", "31"},
    {"017", "15"},
    {"1_000", "1000"},
    {".5", "0.5"},
    {"1e3", "1000"},
    {"Inf", "+Inf"},
    {"-inf", "-Inf"},
    {"NaN", "NaN"},
    {"5m", "5m"},
    {"1h30m", "1h30m"},
    {"-5m", "-5m"},
    {"\"a\\tb\"", "\"a\\tb\""},
    {"`raw\\n`", "\"raw\\\\n\""},
    {"up", "up"},
    {"UP:rate5m", "UP:rate5m"},
    {"{__name__=\"up\"}", "{__name__=\"up\"}"},
    {"{\"my.metric\"}", "{__name__=\"my.metric\"}"},
    {"{\"my.metric\", \"label.x\"=\"v\"}", "{\"label.x\"=\"v\",__name__=\"my.metric\"}"},
    {"up{a=\"b\",c!=\"d\",e=~\"f\",g!~\"h\",}", "up{a=\"b\",c!=\"d\",e=~\"f\",g!~\"h\"}"},
    {"up{}", "up"},
    {"sum", "sum"},
    {"sum{a=\"b\"}", "sum{a=\"b\"}"},
    {"by", "by"},
    {"offset", "offset"},
    {"start", "start"},
    {"start + end", "start + end"},
    {"fill + fill", "fill + fill"},
    {"fill_left{a=\"b\"}", "fill_left{a=\"b\"}"},
    {"inf:a", "inf:a"},
    {"up offset 5m", "up offset 5m"},
    {"up offset -5m", "up offset -5m"},
    {"up offset 300", "up offset 5m"},
    {"up @ 5", "up @ 5.000"},
    {"up @ -1.5", "up @ -1.500"},
    {"up @ start()", "up @ start()"},
    {"up @ end() offset 5m", "up @ end() offset 5m"},
    {"up offset 5m @ 5", "up @ 5.000 offset 5m"},
    {"up[5m]", "up[5m]"},
    {"up[300]", "up[5m]"},
    {"up[5m] offset 1h @ 7", "up[5m] @ 7.000 offset 1h"},
    {"up[5m:1m]", "up[5m:1m]"},
    {"up[5m:]", "up[5m:]"},
    {"up[5m:1m] offset 5m @ end()", "up[5m:1m] @ end() offset 5m"},
    {"up[5m] anchored", "up[5m] anchored"},
    {"up smoothed", "up smoothed"},
    {"up[5m] smoothed offset 5m @ 3", "up[5m] smoothed @ 3.000 offset 5m"},
    {"up[5m + 1m]", "up[5m + 1m]"},
    {"up[(5m + 1m) * 2]", "up[(5m + 1m) * 2]"},
    {"up[step()]", "up[step()]"},
    {"up[range() / 2:step()]", "up[range() / 2:step()]"},
    {"up[max_of(5m, step())]", "up[max_of(5m, step())]"},
    {"up offset (5m * 2)", "up offset (5m * 2)"},
    {"up offset -(5m)", "up offset -(5m)"},
    {"up offset min_of(1m, 2m)", "up offset min_of(1m, 2m)"},
    {"up offset --5m", "up offset 5m"},
    {"up offset -step()", "up offset -step()"},
    {"up[-(-5m)]", "up[-(-5m)]"},
    {"up[2 ^ 3]", "up[2 ^ 3]"},
    {"up[5m % 3m - 1m]", "up[5m % 3m - 1m]"},
    {"1 + 2 * 3", "1 + 2 * 3"},
    {"(1 + 2) * 3", "(1 + 2) * 3"},
    {"2 ^ 3 ^ 2", "2 ^ 3 ^ 2"},
    {"-2 ^ 2", "-2 ^ 2"},
    {"2 ^ -1", "2 ^ -1"},
    {"-up * 3", "-up * 3"},
    {"up - -up", "up - -up"},
    {"a or b and c unless d", "a or b and c unless d"},
    {"a == bool b", "a == bool b"},
    {"a > b", "a > b"},
    {"a </ 5", "a </ 5"},
    {"a >/ 5", "a >/ 5"},
    {"a % b atan2 c", "a % b atan2 c"},
    {"a + on() b", "a + on () b"},
    {"a + ignoring(x) b", "a + ignoring (x) b"},
    {"a * on(x, y) group_left(z) b", "a * on (x, y) group_left (z) b"},
    {"a * on(x) group_right b", "a * on (x) group_right () b"},
    {"a / ignoring(x) group_left() b", "a / ignoring (x) group_left () b"},
    {"a + fill(0) b", "a + fill (0) b"},
    {"a + on(x) group_left(y) fill_left(1) fill_right(-2) b",
     "a + on (x) group_left (y) fill_left (1) fill_right (-2) b"},
    {"a + fill_right(5m) b", "a + fill_right (300) b"},
    {"a and on(x) b", "a and on (x) b"},
    {"sum(a)", "sum(a)"},
    {"sum(a) by (x, y,)", "sum by (x, y) (a)"},
    {"sum by (x) (a)", "sum by (x) (a)"},
    {"sum without () (a)", "sum without () (a)"},
    {"sum by () (a)", "sum(a)"},
    {"avg by (\"my.label\") (a)", "avg by (\"my.label\") (a)"},
    {"topk(5, a)", "topk(5, a)"},
    {"count_values(\"v\", a)", "count_values(\"v\", a)"},
    {"quantile(0.9, a) without (x)", "quantile without (x) (0.9, a)"},
    {"limitk(2, a)", "limitk(2, a)"},
    {"SUM(a) BY (x)", "sum by (x) (a)"},
    {"sum by (by, on, sum) (a)", "sum by (by, on, sum) (a)"},
    {"rate(a[5m])", "rate(a[5m])"},
    {"time()", "time()"},
    {"label_replace(a, \"x\", \"$1\", \"y\", \"(.*)\")",
     "label_replace(a, \"x\", \"$1\", \"y\", \"(.*)\")"},
    {"label_join(a, \"x\", \",\")", "label_join(a, \"x\", \",\")"},
    {"histogram_quantiles(a, \"q\", 0.5, 0.9)", "histogram_quantiles(a, \"q\", 0.5, 0.9)"},
    {"round(a)", "round(a)"},
    {"round(a, 5)", "round(a, 5)"},
    {"hour()", "hour()"},
    {"start()", "start()"},
    {"max_of(1, step())", "max_of(1, step())"},
    {"info(a)", "info(a)"},
    {"info(a, {b=\"c\"})", "info(a, {b=\"c\"})"},
    {"info(a, {})", "info(a, {})"},
    {"a # comment", "a"},
    {"((a))", "((a))"},
};

TEST(ParseTest, EveryQueryHasItsCanonicalText) {
  for (const GoodCase& test : kCases) {
    const ExprPtr tree = Parsed(test.query);
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(ToString(*tree), test.canonical) << test.query;
  }
}

TEST(ParseTest, TheCanonicalTextParsesToItself) {
  for (const GoodCase& test : kCases) {
    const ExprPtr tree = Parsed(test.canonical);
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(ToString(*tree), test.canonical);
  }
}

TEST(ParseTest, OperatorsBindByPrecedence) {
  const ExprPtr tree = Parsed("a or b + c * d ^ e ^ f");
  const auto& alternative = As<Binary>(*tree);
  EXPECT_EQ(alternative.op, BinaryOp::kOr);
  EXPECT_EQ(alternative.matching.cardinality, Cardinality::kManyToMany);
  const auto& sum = As<Binary>(*alternative.right);
  EXPECT_EQ(sum.op, BinaryOp::kAdd);
  const auto& product = As<Binary>(*sum.right);
  EXPECT_EQ(product.op, BinaryOp::kMultiply);
  const auto& power = As<Binary>(*product.right);
  EXPECT_EQ(power.op, BinaryOp::kPower);
  EXPECT_EQ(power.left->kind, ExprKind::kVectorSelector);
  EXPECT_EQ(As<Binary>(*power.right).op, BinaryOp::kPower);
}

TEST(ParseTest, ASignBindsLikeAProduct) {
  const ExprPtr tree = Parsed("-a ^ b * c");
  const auto& product = As<Binary>(*tree);
  EXPECT_EQ(product.op, BinaryOp::kMultiply);
  const auto& unary = As<Unary>(*product.left);
  EXPECT_EQ(As<Binary>(*unary.expr).op, BinaryOp::kPower);
}

TEST(ParseTest, ModifiersBelongToTheSelectorBeforeThem) {
  const ExprPtr tree = Parsed("rate(a[5m] @ 10.5 offset -1m) + b offset 3");
  const auto& sum = As<Binary>(*tree);
  const auto& matrix = As<MatrixSelector>(*As<Call>(*sum.left).args[0]);
  EXPECT_EQ(matrix.range.ms, 300'000);
  EXPECT_EQ(matrix.selector->at.kind, AtKind::kTime);
  EXPECT_EQ(matrix.selector->at.time_ms, 10'500);
  EXPECT_EQ(matrix.selector->offset.ms, -60'000);
  EXPECT_EQ(As<VectorSelector>(*sum.right).offset.ms, 3'000);
}

TEST(ParseTest, NodesKnowTheirPlaces) {
  const ExprPtr tree = Parsed("sum by (x) (rate(a[5m])) / -b");
  EXPECT_EQ(tree->position, (PositionRange{0, 29}));
  const auto& ratio = As<Binary>(*tree);
  EXPECT_EQ(ratio.left->position, (PositionRange{0, 24}));
  const auto& rate = *As<Aggregation>(*ratio.left).expr;
  EXPECT_EQ(rate.position, (PositionRange{12, 23}));
  EXPECT_EQ(As<Call>(rate).args[0]->position, (PositionRange{17, 22}));
  EXPECT_EQ(ratio.right->position, (PositionRange{27, 29}));
}

TEST(ParseTest, StringsAreUnescaped) {
  const auto value = [](std::string_view query) { return As<StringLiteral>(*Parsed(query)).value; };
  EXPECT_EQ(value(R"("\a\b\f\n\r\t\v\\\"")"), "\a\b\f\n\r\t\v\\\"");
  EXPECT_EQ(value(R"('\x41\102\u00e9\U0001F525\'')"), "AB\xc3\xa9\xf0\x9f\x94\xa5'");
  EXPECT_EQ(value("`\\n\n`"), "\\n\n");
  EXPECT_EQ(value(R"("\xff")"), "\xff");
}

TEST(ParseTest, TypesAreKnown) {
  EXPECT_EQ(Parsed("1 + 2")->type, ExprType::kScalar);
  EXPECT_EQ(Parsed("1 + a")->type, ExprType::kVector);
  EXPECT_EQ(Parsed("a[5m]")->type, ExprType::kMatrix);
  EXPECT_EQ(Parsed("(a[5m:])")->type, ExprType::kMatrix);
  EXPECT_EQ(Parsed("\"x\"")->type, ExprType::kString);
  EXPECT_EQ(Parsed("-time()")->type, ExprType::kScalar);
}

TEST(ParseTest, EveryFunctionOfTheTableCanBeCalled) {
  const auto argument = [](ExprType type) -> std::string_view {
    switch (type) {
      case ExprType::kScalar:
        return "1";
      case ExprType::kString:
        return "\"x\"";
      case ExprType::kMatrix:
        return "a[1m]";
      default:
        return "a";
    }
  };
  for (const Signature& function : AllFunctions()) {
    std::string query(function.name);
    query += '(';
    for (const ExprType type : function.arg_types) {
      if (query.back() != '(') query += ", ";
      query +=
          function.id == FunctionId::kInfo && query.back() != '(' ? "{x=\"y\"}" : argument(type);
    }
    query += ')';
    const ExprPtr tree = Parsed(query);
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(tree->type, function.return_type) << query;
  }
}

}  // namespace
}  // namespace narthex::promql
