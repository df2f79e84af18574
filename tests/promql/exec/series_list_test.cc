#include "promql/exec/series_list.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "promql/exec/column.h"
#include "promql/exec/operator.h"
#include "promql/exec/sort_operators.h"

namespace narthex::promql {
namespace {

class SeriesListTest : public ::testing::Test {
 protected:
  std::vector<model::SymbolLabel> Labels(
      const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::vector<model::SymbolLabel> labels;
    for (const auto& [name, value] : pairs) {
      labels.push_back({symbols_.Intern(name), symbols_.Intern(value)});
    }
    return labels;
  }
  std::string Text(LabelSpan labels) { return LabelsToString(symbols_, labels); }

  model::SymbolOverlay symbols_{nullptr};
};

TEST_F(SeriesListTest, AListMayGrowFromItself) {
  SeriesList list;
  list.Add(Labels({{"a", "1"}, {"b", "2"}}));
  for (int i = 0; i < 100; ++i) list.Add(list.labels(0), i == 50);
  ASSERT_EQ(list.size(), 101u);
  EXPECT_EQ(Text(list.labels(100)), "{a=\"1\", b=\"2\"}");
  EXPECT_FALSE(list.drop_name(0));
  EXPECT_TRUE(list.drop_name(51));
  EXPECT_FALSE(list.drop_name(52));
}

TEST_F(SeriesListTest, LabelSetsAreNumberedAsTheyCome) {
  LabelSetIndex index;
  for (int i = 0; i < 1000; ++i) {
    const auto [id, is_new] = index.Insert(Labels({{"i", std::to_string(i)}}));
    EXPECT_EQ(id, static_cast<uint32_t>(i));
    EXPECT_TRUE(is_new);
  }
  EXPECT_FALSE(index.Insert(Labels({{"i", "77"}})).is_new);
  EXPECT_EQ(index.Find(Labels({{"i", "77"}})), std::optional<uint32_t>(77));
  EXPECT_EQ(index.Find(Labels({{"j", "77"}})), std::nullopt);
  EXPECT_EQ(index.Find({}), std::nullopt);
}

TEST_F(SeriesListTest, LabelsAreSetInTheirPlace) {
  std::vector<model::SymbolLabel> labels = Labels({{"a", "1"}, {"c", "3"}});
  SetLabel(symbols_, symbols_.Intern("b"), symbols_.Intern("2"), &labels);
  EXPECT_EQ(labels, Labels({{"a", "1"}, {"b", "2"}, {"c", "3"}}));
  SetLabel(symbols_, symbols_.Intern("b"), symbols_.Intern("4"), &labels);
  EXPECT_EQ(labels, Labels({{"a", "1"}, {"b", "4"}, {"c", "3"}}));
  SetLabel(symbols_, symbols_.Intern("a"), std::nullopt, &labels);
  SetLabel(symbols_, symbols_.Intern("z"), std::nullopt, &labels);
  EXPECT_EQ(labels, Labels({{"b", "4"}, {"c", "3"}}));
}

TEST_F(SeriesListTest, OrderIsThatOfTexts) {
  const auto a = Labels({{"z", "b"}});
  const auto b = Labels({{"z", "a"}, {"zz", "a"}});
  const auto prefix = Labels({{"z", "a"}});
  EXPECT_GT(CompareLabels(symbols_, a, b), 0);
  EXPECT_LT(CompareLabels(symbols_, prefix, b), 0);
  EXPECT_EQ(CompareLabels(symbols_, a, a), 0);
}

TEST_F(SeriesListTest, EqualSeriesAreMergedInOrder) {
  SeriesList list;
  list.Add(Labels({{"i", "1"}}));
  list.Add(Labels({{"i", "2"}}));
  list.Add(Labels({{"i", "1"}}), true);
  const MergePlan plan = PlanMerge(std::move(list));
  ASSERT_EQ(plan.series.size(), 2u);
  EXPECT_EQ(plan.begins, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_EQ(plan.members, (std::vector<uint32_t>{0, 2, 1}));
  EXPECT_FALSE(plan.series.drop_name(0));
}

TEST(ColumnTest, PointsAreCountedByKind) {
  Column column;
  column.Reset(3);
  EXPECT_TRUE(column.empty());
  column.SetFloat(0, 1);
  column.SetHistogram(1, std::make_shared<const model::FloatHistogram>());
  EXPECT_EQ(column.num_floats(), 1u);
  EXPECT_EQ(column.num_histograms(), 1u);
  column.SetFloat(1, 2);
  EXPECT_EQ(column.num_histograms(), 0u);
  EXPECT_FALSE(column.dense());
  column.FillFloats(0, 3, 7);
  EXPECT_TRUE(column.dense());
  column.Clear(2);
  EXPECT_EQ(column.num_points(), 2u);
  column.Reset(5);
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column.size(), 5u);
}

TEST(ColumnTest, MergingRefusesTwoPointsAtOneStep) {
  Column a, b;
  a.Reset(2);
  b.Reset(2);
  a.SetFloat(0, 1);
  b.SetFloat(1, 2);
  EXPECT_FALSE(MergeInto(b, Clash::kAnyPoints, &a).ok());
  EXPECT_TRUE(MergeInto(b, Clash::kSameStep, &a).ok());
  EXPECT_EQ(a.value(1), 2);
  EXPECT_FALSE(MergeInto(b, Clash::kSameStep, &a).ok());
}

TEST(NaturalLessTest, NumbersWithinTextsCountAsNumbers) {
  EXPECT_TRUE(NaturalLess("node9", "node10"));
  EXPECT_FALSE(NaturalLess("node10", "node9"));
  EXPECT_TRUE(NaturalLess("a", "b"));
  EXPECT_TRUE(NaturalLess("a1b2", "a1b10"));
  EXPECT_TRUE(NaturalLess("a", "a1"));
}

}  // namespace
}  // namespace narthex::promql
