// What is not PromQL, and where and why. The texts are part of the interface: clients show them.
#include <string_view>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "promql/parse/parser.h"

namespace narthex::promql {
namespace {

struct ErrorCase {
  std::string_view query;
  std::string_view error;
};

constexpr ParseOptions kEverything = {true, true, true};

constexpr ErrorCase kCases[] = {
    {"", "unknown position: parse error: no expression found in input"},
    {"# only a comment", "1:1: parse error: no expression found in input"},
    {"1 +", "1:4: parse error: unexpected end of input"},
    {"(1", "1:3: parse error: unclosed left parenthesis"},
    {"1)", "1:3: parse error: unexpected right parenthesis ')'"},
    {"a[5m", "1:5: parse error: unclosed left bracket"},
    {"{a=\"b\"", "1:7: parse error: unexpected end of input inside braces"},
    {")", "1:2: parse error: unexpected right parenthesis ')'"},
    {"$up", "1:1: parse error: unexpected character: '$'"},
    {"up up", "1:4: parse error: unexpected identifier \"up\""},
    {"up =", "1:4: parse error: unexpected \"=\""},
    {"up == ~", "1:7: parse error: unexpected character: '~'"},
    {"a !b", "1:3: parse error: unexpected character after '!': 'b'"},
    {"0x",
     "1:1: parse error: error parsing number: strconv.ParseFloat: parsing \"0x\": invalid syntax"},
    {"1e400",
     "1:1: parse error: error parsing number: strconv.ParseFloat: parsing \"1e400\": value out of "
     "range"},
    {"12_", "1:1: parse error: bad number or duration syntax: \"12_\""},
    {"5mx", "1:1: parse error: bad number or duration syntax: \"5mx\""},
    {"\"abc", "1:1: parse error: unterminated quoted string"},
    {"\"a\\qb\"", "1:1: parse error: unknown escape sequence U+0071 'q'"},
    {"\"\\x\"", "1:1: parse error: illegal character U+0022 '\"' in escape sequence"},
    {"`abc", "1:1: parse error: unterminated raw string"},
    {"foo(", "1:5: parse error: unclosed left parenthesis"},
    {"foo(1)", "1:1: parse error: unknown function with name \"foo\""},
    {"rate(up)",
     "1:6: parse error: expected type range vector in call to function \"rate\", got instant "
     "vector"},
    {"rate(up[5m], 1)", "1:1: parse error: expected 1 argument(s) in call to \"rate\", got 2"},
    {"label_join(up)",
     "1:1: parse error: expected at least 3 argument(s) in call to \"label_join\", got 1"},
    {"days_in_month(up, up)",
     "1:1: parse error: expected at most 1 argument(s) in call to \"days_in_month\", got 2"},
    {"rate(up[5m],)", "1:12: parse error: trailing commas not allowed in function call args"},
    {"abs(\"x\")",
     "1:5: parse error: expected type instant vector in call to function \"abs\", got string"},
    {"scalar(1)",
     "1:8: parse error: expected type instant vector in call to function \"scalar\", got scalar"},
    {"sum(1)",
     "1:5: parse error: expected type instant vector in aggregation expression, got scalar"},
    {"sum()", "1:1: parse error: no arguments for aggregate expression provided"},
    {"sum by x (up)",
     "1:8: parse error: unexpected identifier \"x\" in grouping opts, expected \"(\""},
    {"sum by (x up)",
     "1:11: parse error: unexpected identifier \"up\" in grouping opts, expected \",\" or \")\""},
    {"sum by (5) (up)",
     "1:9: parse error: unexpected number \"5\" in grouping opts, expected label"},
    {"sum(up) by", "1:11: parse error: unexpected end of input in grouping opts, expected \"(\""},
    {"topk(up)",
     "1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, "
     "got 1"},
    {"topk(\"a\", up)",
     "1:6: parse error: expected type scalar in aggregation parameter, got string"},
    {"count_values(1, up)",
     "1:14: parse error: expected type string in aggregation parameter, got scalar"},
    {"sum(up, up)",
     "1:1: parse error: wrong number of arguments for aggregate expression provided, expected 1, "
     "got 2"},
    {"sum without (a) up", "1:17: parse error: unexpected identifier \"up\" in aggregation"},
    {"1 == 1", "1:3: parse error: comparisons between scalars must use BOOL modifier"},
    {"1 and up", "1:1: parse error: set operator \"and\" not allowed in binary scalar expression"},
    {"up and 1", "1:1: parse error: set operator \"and\" not allowed in binary scalar expression"},
    {"up + bool up", "1:4: parse error: bool modifier can only be used on comparison operators"},
    {"1 + bool 2", "1:3: parse error: bool modifier can only be used on comparison operators"},
    {"up * on(a) group_left(a) up",
     "1:4: parse error: label \"a\" must not occur in ON and GROUP clause at once"},
    {"up and on(a) group_left(b) up",
     "1:1: parse error: no grouping allowed for \"and\" operation"},
    {"up group_left(a) up", "1:4: parse error: unexpected <group_left>"},
    {"up[5m] + 1",
     "1:1: parse error: binary expression must contain only scalar and instant vector types"},
    {"\"a\" + 1",
     "1:1: parse error: binary expression must contain only scalar and instant vector types"},
    {"1 + \"a\"",
     "1:5: parse error: binary expression must contain only scalar and instant vector types"},
    {"1 + on(a) 2", "1:1: parse error: vector matching only allowed between instant vectors"},
    {"-up[5m]",
     "1:1: parse error: unary expression only allowed on expressions of type scalar or instant "
     "vector, got \"range vector\""},
    {"-\"a\"",
     "1:1: parse error: unary expression only allowed on expressions of type scalar or instant "
     "vector, got \"string\""},
    {"{}", "1:1: parse error: vector selector must contain at least one non-empty matcher"},
    {"{a=\"\"}", "1:1: parse error: vector selector must contain at least one non-empty matcher"},
    {"{a=~\".*\"}",
     "1:1: parse error: vector selector must contain at least one non-empty matcher"},
    {"{a!=\"b\"}", "1:1: parse error: vector selector must contain at least one non-empty matcher"},
    {"up{__name__=\"down\"}",
     "1:1: parse error: metric name must not be set twice: \"up\" or \"down\""},
    {"{a=b}", "1:4: parse error: unexpected identifier \"b\" in label matching, expected string"},
    {"{a}",
     "1:3: parse error: unexpected \"}\" in label matching, expected label matching operator"},
    {"{a \"b\"}",
     "1:4: parse error: unexpected string \"\\\"b\\\"\" in label matching, expected label matching "
     "operator"},
    {"{5=\"b\"}", "1:2: parse error: unexpected character inside braces: '5'"},
    {"{a=\"b\" c=\"d\"}",
     "1:8: parse error: unexpected identifier \"c\" in label matching, expected \",\" or \"}\""},
    {"up[5m][5m]", "1:7: parse error: ranges only allowed for vector selectors"},
    {"up offset 5m[5m]", "1:13: parse error: no offset modifiers allowed before range"},
    {"up @ 5[5m]", "1:7: parse error: no @ modifiers allowed before range"},
    {"(up)[5m]", "1:5: parse error: ranges only allowed for vector selectors"},
    {"up[0s]", "1:4: parse error: duration must be greater than 0"},
    {"up[-5m]", "1:4: parse error: duration must be greater than 0"},
    {"up[5m:0s]", "1:7: parse error: duration must be greater than 0"},
    {"up[]",
     "1:4: parse error: unexpected \"]\" in subquery or range selector, expected number, duration, "
     "step(), or range()"},
    {"up[:5m]", "1:5: parse error: unexpected colon before duration in duration expression"},
    {"up[5m:5m", "1:9: parse error: unclosed left bracket"},
    {"up[5m 5m]",
     "1:7: parse error: unexpected duration \"5m\" in subquery or range, expected \":\" or \"]\""},
    {"up[1e30]", "1:4: parse error: duration out of range"},
    {"up[abc]", "1:4: parse error: unexpected character in duration expression: 'a'"},
    {"1[5m:1m]",
     "1:1: parse error: subquery is only allowed on instant vector, got scalar instead"},
    {"\"a\"[5m:1m]",
     "1:1: parse error: subquery is only allowed on instant vector, got string instead"},
    {"up[5m][5m:1m]",
     "1:1: parse error: subquery is only allowed on instant vector, got matrix instead"},
    {"up offset",
     "1:10: parse error: unexpected end of input in offset, expected number, duration, step(), or "
     "range()"},
    {"up offset 5m offset 5m", "1:1: parse error: offset may not be set multiple times"},
    {"up offset abc",
     "1:11: parse error: unexpected identifier \"abc\" in offset, expected number, duration, "
     "step(), or range()"},
    {"(up) offset 5m",
     "1:1: parse error: offset modifier must be preceded by an instant vector selector or range "
     "vector selector or a subquery"},
    {"1 offset 5m",
     "1:1: parse error: offset modifier must be preceded by an instant vector selector or range "
     "vector selector or a subquery"},
    {"sum(up) offset 5m",
     "1:1: parse error: offset modifier must be preceded by an instant vector selector or range "
     "vector selector or a subquery"},
    {"up @", "1:5: parse error: unexpected end of input in @, expected timestamp"},
    {"up @ abc", "1:6: parse error: unexpected identifier \"abc\" in @, expected timestamp"},
    {"up @ 5 @ 6", "1:1: parse error: @ <timestamp> may not be set multiple times"},
    {"up @ start", "1:11: parse error: unexpected end of input in @, expected timestamp"},
    {"up @ start(", "1:12: parse error: unclosed left parenthesis"},
    {"up @ inf", "1:1: parse error: timestamp out of bounds for @ modifier: +Inf"},
    {"up @ 1e20",
     "1:1: parse error: timestamp out of bounds for @ modifier: 100000000000000000000.000000"},
    {"(up) @ 5",
     "1:1: parse error: @ modifier must be preceded by an instant vector selector or range vector "
     "selector or a subquery"},
    {"up[5m/0]", "1:6: parse error: division by zero"},
    {"up[5m%0]", "1:6: parse error: modulo by zero"},
    {"up[5m:1m] anchored", "1:1: parse error: anchored modifier is not supported for subqueries"},
    {"up[5m] anchored smoothed",
     "1:1: parse error: anchored and smoothed modifiers cannot be used together"},
    {"abs(up) anchored", "1:1: parse error: anchored modifier not implemented"},
    {"up + fill(1) 2",
     "1:1: parse error: filling in missing series only allowed between instant vectors"},
    {"up and fill(1) up",
     "1:1: parse error: filling in missing series not allowed for set operators"},
    {"up + fill(a) up", "1:11: parse error: unexpected identifier \"a\""},
    {"up + fill_left(1) fill_left(2) up", "1:28: parse error: unexpected \"(\""},
    {"info(up, target_info)",
     "1:10: parse error: expected label selectors only, got vector selector instead"},
    {"info(up, sum(up))", "1:10: parse error: expected label selectors only"},
    {"info(up, 1)",
     "1:1: parse error: expected type instant vector in call to function \"info\", got scalar"},
    {"sum(foo bar)", "1:9: parse error: unexpected identifier \"bar\" in aggregation"},
    {"avg(sum(", "1:9: parse error: unclosed left parenthesis"},
    {"sum(rate(up[5m]) by (a)", "1:18: parse error: unexpected <by> in aggregation"},
    {"up{a=\"b\"}}", "1:10: parse error: unexpected character: '}'"},
    {"up{a=\"b\",,}",
     "1:10: parse error: unexpected \",\" in label matching, expected identifier or \"}\""},
    {"{,}", "1:2: parse error: unexpected \",\" in label matching, expected identifier or \"}\""},
    {"", "unknown position: parse error: no expression found in input"},
    {"up{\n  a=\"b\"\n} bad", "3:3: parse error: unexpected identifier \"bad\""},
    {"up +\n\n  rate(up)",
     "3:8: parse error: expected type range vector in call to function \"rate\", got instant "
     "vector"},
    {"1 +\t)", "1:6: parse error: unexpected right parenthesis ')'"},
    {"\303\251", "1:1: parse error: unexpected character: '\303\251'"},
    {"'it''s'", "1:5: parse error: unexpected string \"'s'\""},
    {"# first", "1:1: parse error: no expression found in input"},
};

TEST(ParseErrorTest, EveryMistakeIsNamedWithItsPlace) {
  for (const ErrorCase& test : kCases) {
    const auto parsed = ParseExpression(test.query, kEverything);
    ASSERT_FALSE(parsed.ok()) << test.query;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << test.query;
    EXPECT_EQ(base::Message(parsed.status()), test.error) << test.query;
  }
}

TEST(ParseErrorTest, WhatIsExperimentalIsRefusedUntilEnabled) {
  constexpr ErrorCase kGated[] = {
      {"limitk(1, up)",
       "1:1: parse error: limitk() is experimental and must be enabled with "
       "--enable-feature=promql-experimental-functions"},
      {"1 + start()", "1:5: parse error: function \"start\" is not enabled"},
      {"info(up)", "1:1: parse error: function \"info\" is not enabled"},
      {"rate(up[5m] anchored)",
       "1:6: parse error: anchored modifier is experimental and not enabled"},
      {"up smoothed", "1:1: parse error: smoothed modifier is experimental and not enabled"},
      {"a + fill(1) b", "1:1: parse error: binop fill modifiers are experimental and not enabled"},
  };
  for (const ErrorCase& test : kGated) {
    EXPECT_EQ(base::Message(ParseExpression(test.query, ParseOptions()).status()), test.error);
    EXPECT_TRUE(ParseExpression(test.query, kEverything).ok()) << test.query;
  }
}

TEST(ParseErrorTest, ABadRegularExpressionIsAnError) {
  EXPECT_TRUE(base::Message(ParseExpression("up{a=~\"(\"}", kEverything).status())
                  .starts_with("1:4: parse error: "));
}

TEST(ParseErrorTest, SelectorsAreNothingElse) {
  EXPECT_EQ(base::Message(ParseSelector("rate(up[5m])").status()),
            "1:5: parse error: unexpected \"(\"");
  EXPECT_EQ(base::Message(ParseSelector("up + 1").status()), "1:4: parse error: unexpected <op:+>");
  EXPECT_FALSE(ParseSelector("").ok());
  const auto selector = ParseSelector("up{job=\"a\"}");
  ASSERT_TRUE(selector.ok());
  ASSERT_EQ(selector->size(), 2u);
  EXPECT_EQ((*selector)[0].ToString(), "job=\"a\"");
  EXPECT_EQ((*selector)[1].ToString(), "__name__=\"up\"");
}

}  // namespace
}  // namespace narthex::promql
