#include "narthex/model/labels.h"

#include <gtest/gtest.h>

namespace narthex::model {
namespace {

TEST(LabelsTest, PairsAreSortedAndEmptyValuesDropped) {
  const Labels labels = Labels::FromPairs({{"z", "1"}, {"a", "2"}, {"m", ""}});
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0], (Label{"a", "2"}));
  EXPECT_EQ(labels[1], (Label{"z", "1"}));
  EXPECT_EQ(labels.Get("m"), "");
  EXPECT_FALSE(labels.Has("m"));
  EXPECT_TRUE(labels.Has("z"));
}

TEST(LabelsTest, NamesAreOrderedAsBytesNotAsSignedCharacters) {
  const Labels labels = Labels::FromPairs({{"\xc3\xa4", "1"}, {"z", "2"}, {"Z", "3"}});
  EXPECT_EQ(labels[0].name, "Z");
  EXPECT_EQ(labels[1].name, "z");
  EXPECT_EQ(labels[2].name, "\xc3\xa4");
}

TEST(LabelsTest, TheLastOfARepeatedNameWins) {
  const Labels labels = Labels::FromPairs({{"a", "1"}, {"b", "x"}, {"a", "2"}});
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.Get("a"), "2");
  // Even when it deletes.
  EXPECT_TRUE(Labels::FromPairs({{"a", "1"}, {"a", ""}}).empty());
}

TEST(LabelsTest, OrderIsPairByPairAndAPrefixIsSmaller) {
  const Labels shorter = Labels::FromPairs({{"a", "1"}});
  const Labels longer = Labels::FromPairs({{"a", "1"}, {"b", "1"}});
  const Labels bigger_value = Labels::FromPairs({{"a", "2"}});
  const Labels bigger_name = Labels::FromPairs({{"aa", "1"}});
  EXPECT_LT(Labels(), shorter);
  EXPECT_LT(shorter, longer);
  EXPECT_LT(longer, bigger_value);
  EXPECT_LT(bigger_value, bigger_name);
  EXPECT_EQ(shorter <=> Labels::FromPairs({{"a", "1"}}), std::strong_ordering::equal);
}

TEST(LabelsTest, SetsThatPackIntoTheSameTextDiffer) {
  const Labels a = Labels::FromPairs({{"a", "bc"}});
  const Labels b = Labels::FromPairs({{"ab", "c"}});
  EXPECT_NE(a, b);
  EXPECT_NE(a.Hash(), b.Hash());
}

TEST(LabelsTest, EqualSetsHashEquallyHoweverTheyWereBuilt) {
  LabelsBuilder builder;
  builder.Set("z", "old").Set("a", "1").Set("z", "26").Set("gone", "x").Delete("gone");
  const Labels built = builder.Build();
  const Labels direct = Labels::FromPairs({{"a", "1"}, {"z", "26"}});
  EXPECT_EQ(built, direct);
  EXPECT_EQ(built.Hash(), direct.Hash());
}

TEST(LabelsTest, TextQuotesValuesAndUnusualNames) {
  EXPECT_EQ(Labels().ToString(), "{}");
  EXPECT_EQ(Labels::FromPairs({{"__name__", "up"}, {"job", "a\"b\n"}, {"x.y", "1"}}).ToString(),
            R"({__name__="up", job="a\"b\n", "x.y"="1"})");
}

TEST(LabelsBuilderTest, SettingAnEmptyValueDeletes) {
  LabelsBuilder builder(Labels::FromPairs({{"a", "1"}, {"b", "2"}}));
  builder.Set("a", "");
  EXPECT_EQ(builder.Get("a"), "");
  EXPECT_EQ(builder.Build().ToString(), R"({b="2"})");
}

TEST(LabelsBuilderTest, AnEmptyValueIsRememberedUntilDeleted) {
  LabelsBuilder builder;
  builder.Set("a", "").Set("b", "2");
  EXPECT_TRUE(builder.Mentions("a"));
  EXPECT_TRUE(builder.Mentions("b"));
  EXPECT_FALSE(builder.Mentions("c"));
  EXPECT_EQ(builder.Current().size(), 1u);
  EXPECT_FALSE(builder.Delete("a").Mentions("a"));
}

TEST(LabelsBuilderTest, ResetForgetsWhatWasThereBefore) {
  LabelsBuilder builder(Labels::FromPairs({{"a", "1"}, {"b", "2"}}));
  builder.Reset(Labels::FromPairs({{"c", "3"}}));
  EXPECT_EQ(builder.Build().ToString(), R"({c="3"})");
  builder.Reset();
  EXPECT_TRUE(builder.Build().empty());
}

}  // namespace
}  // namespace narthex::model
