#include "narthex/model/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace narthex::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Matcher Make(MatchType type, std::string_view name, std::string_view value) {
  return Matcher::Create(type, name, value).value();
}

TEST(MatcherTest, EqualityIsLiteral) {
  const Matcher equal = Make(MatchType::kEqual, "job", "a.c");
  EXPECT_TRUE(equal.Matches("a.c"));
  EXPECT_FALSE(equal.Matches("abc"));
  EXPECT_FALSE(equal.MatchesEmpty());
  EXPECT_THAT(equal.literals(), ElementsAre("a.c"));

  const Matcher not_equal = Make(MatchType::kNotEqual, "job", "a.c");
  EXPECT_FALSE(not_equal.Matches("a.c"));
  EXPECT_TRUE(not_equal.Matches("abc"));
  EXPECT_TRUE(not_equal.MatchesEmpty());
  EXPECT_THAT(not_equal.literals(), IsEmpty());
}

TEST(MatcherTest, ExpressionsAreAnchoredAndTheDotMatchesNewlines) {
  const Matcher regex = Make(MatchType::kRegex, "job", "a.c");
  EXPECT_TRUE(regex.Matches("abc"));
  EXPECT_TRUE(regex.Matches("a\nc"));
  EXPECT_FALSE(regex.Matches("xabc"));
  EXPECT_FALSE(regex.Matches("abcx"));

  const Matcher negated = Make(MatchType::kNotRegex, "job", "a.*");
  EXPECT_FALSE(negated.Matches("abc"));
  EXPECT_TRUE(negated.Matches("b"));
  EXPECT_TRUE(negated.MatchesEmpty());
}

TEST(MatcherTest, EmptyValuesMatchMissingLabels) {
  EXPECT_TRUE(Make(MatchType::kEqual, "a", "").MatchesEmpty());
  EXPECT_FALSE(Make(MatchType::kNotEqual, "a", "").MatchesEmpty());
  EXPECT_TRUE(Make(MatchType::kRegex, "a", ".*").MatchesEmpty());
  EXPECT_FALSE(Make(MatchType::kRegex, "a", ".+").MatchesEmpty());
}

TEST(MatcherTest, PositiveExpressionsTellTheirLiteralsAndPrefix) {
  EXPECT_THAT(Make(MatchType::kRegex, "a", "x|y|z").literals(),
              UnorderedElementsAre("x", "y", "z"));
  EXPECT_EQ(Make(MatchType::kRegex, "a", "node-.*").prefix(), "node-");
  EXPECT_THAT(Make(MatchType::kNotRegex, "a", "x|y").literals(), IsEmpty());
  EXPECT_EQ(Make(MatchType::kNotRegex, "a", "node-.*").prefix(), "");
  EXPECT_EQ(Make(MatchType::kEqual, "a", "x").prefix(), "");
}

TEST(MatcherTest, ABadExpressionIsAnError) {
  EXPECT_EQ(Matcher::Create(MatchType::kRegex, "a", "(").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Matcher::Create(MatchType::kEqual, "a", "(").ok());
}

TEST(MatcherTest, TextIsWhatAQueryTakes) {
  EXPECT_EQ(Make(MatchType::kEqual, "job", "a\"b").ToString(), R"(job="a\"b")");
  EXPECT_EQ(Make(MatchType::kNotEqual, "job", "").ToString(), R"(job!="")");
  EXPECT_EQ(Make(MatchType::kRegex, "job", "x|y").ToString(), R"(job=~"x|y")");
  EXPECT_EQ(Make(MatchType::kNotRegex, "a.b", "x").ToString(), R"("a.b"!~"x")");
  EXPECT_EQ(Make(MatchType::kEqual, "", "x").ToString(), R"(""="x")");
}

}  // namespace
}  // namespace narthex::model
