#include "narthex/model/relabel.h"

#include <gtest/gtest.h>

namespace narthex::model {
namespace {

// What `config` makes of `input`; "dropped" if it drops it.
std::string Relabel(const RelabelConfig& config, std::vector<Label> input,
                    NameValidation validation = NameValidation::kUtf8) {
  const absl::StatusOr<RelabelRule> rule = RelabelRule::Create(config, validation);
  EXPECT_TRUE(rule.ok()) << rule.status();
  LabelsBuilder builder(Labels::FromPairs(std::move(input)));
  if (!rule->Apply(&builder)) return "dropped";
  return builder.Build().ToString();
}

std::string ErrorOf(const RelabelConfig& config,
                    NameValidation validation = NameValidation::kUtf8) {
  const absl::Status status = RelabelRule::Create(config, validation).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(RelabelTest, ReplaceExpandsGroups) {
  const RelabelConfig config{.source_labels = {"a"},
                             .regex = "f(.*)",
                             .target_label = "d",
                             .replacement = "ch${1}-ch${1}"};
  EXPECT_EQ(Relabel(config, {{"a", "foo"}, {"b", "bar"}}), R"({a="foo", b="bar", d="choo-choo"})");
}

TEST(RelabelTest, ReplaceJoinsSourcesWithTheSeparator) {
  const RelabelConfig config{
      .source_labels = {"a", "missing", "b"}, .separator = "-", .target_label = "c"};
  EXPECT_EQ(Relabel(config, {{"a", "1"}, {"b", "2"}}), R"({a="1", b="2", c="1--2"})");
}

TEST(RelabelTest, ReplaceWithoutAMatchChangesNothing) {
  const RelabelConfig config{
      .source_labels = {"a"}, .regex = "x.*", .target_label = "a", .replacement = "no"};
  EXPECT_EQ(Relabel(config, {{"a", "foo"}}), R"({a="foo"})");
}

TEST(RelabelTest, ReplaceWithAnEmptyResultDeletes) {
  const RelabelConfig config{
      .source_labels = {"a"}, .regex = "(f).*", .target_label = "a", .replacement = ""};
  EXPECT_EQ(Relabel(config, {{"a", "foo"}, {"b", "1"}}), R"({b="1"})");
}

TEST(RelabelTest, ReplaceWithoutSourcesSetsAConstant) {
  EXPECT_EQ(Relabel({.target_label = "cluster", .replacement = "eu"}, {{"a", "1"}}),
            R"({a="1", cluster="eu"})");
  // With a variable there is nothing to expand, so the label goes.
  EXPECT_EQ(Relabel({.target_label = "a"}, {{"a", "1"}}), "{}");
}

TEST(RelabelTest, ReplaceExpandsTheTargetAndSkipsInvalidOnes) {
  const RelabelConfig config{
      .source_labels = {"a"}, .regex = "(.*)=(.*)", .target_label = "${1}", .replacement = "$2"};
  EXPECT_EQ(Relabel(config, {{"a", "k=v"}}), R"({a="k=v", k="v"})");
  EXPECT_EQ(Relabel(config, {{"a", "=v"}}), R"({a="=v"})");
  EXPECT_EQ(Relabel(config, {{"a", "k.x=v"}}), R"({a="k.x=v", "k.x"="v"})");
  EXPECT_EQ(Relabel(config, {{"a", "k.x=v"}}, NameValidation::kLegacy), R"({a="k.x=v"})");
}

TEST(RelabelTest, ReplaceWithANamedGroupAndADollar) {
  const RelabelConfig config{.source_labels = {"a"},
                             .regex = "(?P<host>[^:]+):.*",
                             .target_label = "h",
                             .replacement = "$host$$"};
  EXPECT_EQ(Relabel(config, {{"a", "n1:90"}}), R"({a="n1:90", h="n1$"})");
}

TEST(RelabelTest, KeepAndDropAnswerToTheExpression) {
  const std::vector<Label> input = {{"a", "foo"}};
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .regex = "f.*", .action = "keep"}, input),
            R"({a="foo"})");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .regex = "x", .action = "keep"}, input), "dropped");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .regex = "f.*", .action = "drop"}, input), "dropped");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .regex = "f", .action = "drop"}, input),
            R"({a="foo"})");
  // Actions are written in any case; without an expression everything matches.
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .action = "DROP"}, input), "dropped");
}

TEST(RelabelTest, KeepEqualAndDropEqualCompareWithTheTarget) {
  const std::vector<Label> input = {{"a", "1"}, {"b", "1"}, {"c", "2"}};
  EXPECT_NE(Relabel({.source_labels = {"a"}, .target_label = "b", .action = "keepequal"}, input),
            "dropped");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .target_label = "c", .action = "keepequal"}, input),
            "dropped");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .target_label = "b", .action = "dropequal"}, input),
            "dropped");
  EXPECT_NE(Relabel({.source_labels = {"a"}, .target_label = "c", .action = "dropequal"}, input),
            "dropped");
}

TEST(RelabelTest, HashModTakesTheLastEightBytesOfTheMd5) {
  const auto hash_mod = [](std::string_view value) {
    return Relabel(
        {.source_labels = {"a"}, .modulus = 1000, .target_label = "d", .action = "hashmod"},
        {{"a", value}});
  };
  EXPECT_EQ(hash_mod("foo"), R"({a="foo", d="696"})");
  EXPECT_EQ(hash_mod("baz"), R"({a="baz", d="976"})");
  EXPECT_EQ(hash_mod("foo\nbar"), R"({a="foo\nbar", d="734"})");
  EXPECT_EQ(hash_mod(""), R"({d="958"})");
}

TEST(RelabelTest, LabelMapCopiesMatchingNames) {
  const RelabelConfig config{.regex = "__meta_(.+)", .action = "labelmap"};
  EXPECT_EQ(Relabel(config, {{"__meta_a", "1"}, {"__meta_b", "2"}, {"c", "3"}}),
            R"({__meta_a="1", __meta_b="2", a="1", b="2", c="3"})");
  // What is added is not mapped again.
  EXPECT_EQ(Relabel({.regex = "(a.*)", .replacement = "a$1", .action = "labelmap"}, {{"a", "1"}}),
            R"({a="1", aa="1"})");
}

TEST(RelabelTest, LabelDropAndLabelKeepSelectByName) {
  const std::vector<Label> input = {{"a", "1"}, {"b1", "2"}, {"b2", "3"}};
  EXPECT_EQ(Relabel({.regex = "b.", .action = "labeldrop"}, input), R"({a="1"})");
  EXPECT_EQ(Relabel({.regex = "b.", .action = "labelkeep"}, input), R"({b1="2", b2="3"})");
}

TEST(RelabelTest, CaseActionsKnowUnicode) {
  const std::vector<Label> input = {{"a", "FoO\xc3\x84\xd0\x96"}};
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .target_label = "a", .action = "lowercase"}, input),
            "{a=\"foo\xc3\xa4\xd0\xb6\"}");
  EXPECT_EQ(Relabel({.source_labels = {"a"}, .target_label = "a", .action = "uppercase"},
                    {{"a", "foo\xc3\xa4"}}),
            "{a=\"FOO\xc3\x84\"}");
}

TEST(RelabelTest, RulesApplyInOrderUntilOneDrops) {
  const std::vector<RelabelConfig> configs = {
      {.source_labels = {"a"}, .target_label = "b"},
      {.source_labels = {"b"}, .regex = "x", .action = "drop"},
  };
  const auto rules = CreateRelabelRules(configs, NameValidation::kUtf8).value();
  LabelsBuilder kept(Labels::FromPairs({{"a", "1"}}));
  EXPECT_TRUE(ApplyRelabelRules(rules, &kept));
  EXPECT_EQ(kept.Build().ToString(), R"({a="1", b="1"})");
  LabelsBuilder dropped(Labels::FromPairs({{"a", "x"}}));
  EXPECT_FALSE(ApplyRelabelRules(rules, &dropped));
}

TEST(RelabelConfigTest, ActionsAreKnown) {
  EXPECT_EQ(ErrorOf({.action = ""}), "relabel action cannot be empty");
  EXPECT_EQ(ErrorOf({.action = "foo"}), "unknown relabel action \"foo\"");
  for (const char* name : {"replace", "keep", "drop", "keepequal", "dropequal", "hashmod",
                           "labelmap", "labeldrop", "labelkeep", "lowercase", "uppercase"}) {
    EXPECT_EQ(RelabelActionName(ParseRelabelAction(name).value()), name);
  }
}

TEST(RelabelConfigTest, TargetsAreNeededAndValid) {
  EXPECT_EQ(ErrorOf({.target_label = "a", .action = "hashmod"}),
            "relabel configuration for hashmod requires non-zero modulus");
  for (const char* action :
       {"replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal"}) {
    EXPECT_EQ(ErrorOf({.modulus = 1, .action = action}),
              std::string("relabel configuration for ") + action +
                  " action requires 'target_label' value");
  }
  EXPECT_EQ(ErrorOf({.target_label = "a.b"}, NameValidation::kLegacy),
            "\"a.b\" is invalid 'target_label' for replace action");
  EXPECT_EQ(ErrorOf({.target_label = "a\xff"}),
            R"("a\xff" is invalid 'target_label' for replace action)");
  EXPECT_EQ(ErrorOf({.target_label = "-$1"}, NameValidation::kLegacy),
            "\"-$1\" is invalid 'target_label' for replace action");
  EXPECT_TRUE(RelabelRule::Create({.target_label = "a_${1}_b"}, NameValidation::kLegacy).ok());
  EXPECT_EQ(ErrorOf({.target_label = "${3}", .action = "lowercase"}, NameValidation::kLegacy),
            "\"${3}\" is invalid 'target_label' for lowercase action");
}

TEST(RelabelConfigTest, FieldsThatAnActionDoesNotUseAreErrors) {
  EXPECT_EQ(ErrorOf({.target_label = "a", .replacement = "x", .action = "uppercase"}),
            "'replacement' can not be set for uppercase action");
  EXPECT_EQ(
      ErrorOf({.source_labels = {"a"}, .regex = "x", .target_label = "a", .action = "keepequal"}),
      "keepequal action requires only 'source_labels' and `target_label`, and no other fields");
  EXPECT_EQ(ErrorOf({.source_labels = {"a"}, .action = "labeldrop"}),
            "labeldrop action requires only 'regex', and no other fields");
  EXPECT_EQ(ErrorOf({.replacement = "-x", .action = "labelmap"}, NameValidation::kLegacy),
            "\"-x\" is invalid 'replacement' for labelmap action");
}

TEST(RelabelConfigTest, ABadExpressionIsAnError) {
  EXPECT_FALSE(ErrorOf({.regex = "(", .target_label = "a"}).empty());
}

}  // namespace
}  // namespace narthex::model
