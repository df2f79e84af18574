#include "db/block_querier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/disk/block.h"
#include "tests/support/block_builder.h"
#include "tests/support/fault_fs.h"

namespace narthex::db {
namespace {

using model::Matcher;
using model::MatchType;
using model::TimeRange;
using Series = std::map<std::string, std::map<int64_t, double>>;

constexpr TimeRange kAllTimes = {-1000000, 1000000};

class BlockQuerierTest : public ::testing::Test {
 protected:
  // Every series has samples at 0, 10 ... 390, the value being its number; chunks of 20 samples.
  void Build(const std::vector<std::map<std::string, std::string>>& series) {
    series_ = series;
    std::sort(series_.begin(), series_.end());
    ASSERT_TRUE(support::WriteFloatBlock(&fs_, "data", series_, /*num_samples=*/40,
                                         /*samples_per_chunk=*/20, /*step_ms=*/10)
                    .ok());
    Open();
  }
  void Open() {
    auto block = disk::Block::Open(&fs_, support::BlockDirectory("data"));
    ASSERT_TRUE(block.ok()) << block.status();
    block_ = *block;
  }

  static Matcher Make(MatchType type, std::string_view name, std::string_view value) {
    return Matcher::Create(type, name, value).value();
  }

  // Numbers of the series that a Select() finds, ascending.
  std::vector<size_t> Select(const std::vector<Matcher>& matchers) {
    const BlockQuerier querier(block_, kAllTimes);
    model::SelectHints hints;
    hints.range = kAllTimes;
    const auto selection = querier.Select(matchers, hints);
    EXPECT_TRUE(selection.ok()) << selection.status();
    std::vector<size_t> numbers;
    for (size_t i = 0; i < (*selection)->size(); ++i) {
      std::vector<model::SymbolLabel> labels;
      (*selection)->AppendLabels(i, &labels);
      std::map<std::string, std::string> texts;
      for (const auto& label : labels) {
        texts[std::string(querier.symbols().Text(label.name))] =
            querier.symbols().Text(label.value);
      }
      const auto found = std::find(series_.begin(), series_.end(), texts);
      EXPECT_NE(found, series_.end());
      numbers.push_back(static_cast<size_t>(found - series_.begin()));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  // What the matchers say of each series, one by one.
  std::vector<size_t> Plain(const std::vector<Matcher>& matchers) {
    std::vector<size_t> numbers;
    for (size_t i = 0; i < series_.size(); ++i) {
      const bool matches =
          std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
            const auto label = series_[i].find(matcher.name());
            return matcher.Matches(label == series_[i].end() ? "" : label->second);
          });
      if (matches) numbers.push_back(i);
    }
    return numbers;
  }

  std::vector<int64_t> Times(TimeRange range) {
    const BlockQuerier querier(block_, range);
    model::SelectHints hints;
    hints.range = range;
    const auto selection = querier.Select({}, hints).value();
    std::vector<int64_t> times;
    if (selection->size() == 0) return times;
    const auto cursor = selection->NewCursor(model::HistogramDetail::kFull);
    cursor->Seek(0, range);
    while (cursor->Next()) {
      const auto& batch = cursor->batch();
      EXPECT_EQ(batch.times_ms.size(), batch.values.size());
      times.insert(times.end(), batch.times_ms.begin(), batch.times_ms.end());
    }
    EXPECT_TRUE(cursor->status().ok()) << cursor->status();
    return times;
  }

  support::FaultFs fs_;
  std::vector<std::map<std::string, std::string>> series_;
  std::shared_ptr<const disk::Block> block_;
};

TEST_F(BlockQuerierTest, MatchersFindWhatTheyMatchOneByOne) {
  std::vector<std::map<std::string, std::string>> series;
  for (int i = 0; i < 300; ++i) {
    std::map<std::string, std::string> labels = {{"__name__", i % 3 == 0 ? "up" : "down"},
                                                 {"n", std::to_string(i)}};
    if (i % 2 == 0) labels["job"] = "j" + std::to_string(i % 5);
    if (i % 7 == 0) labels["rare"] = "x";
    series.push_back(labels);
  }
  Build(series);
  const std::vector<Matcher> all = {Make(MatchType::kEqual, "__name__", "up"),
                                    Make(MatchType::kNotEqual, "job", "j0"),
                                    Make(MatchType::kEqual, "job", ""),
                                    Make(MatchType::kNotEqual, "job", ""),
                                    Make(MatchType::kRegex, "job", "j[0-2]"),
                                    Make(MatchType::kRegex, "job", "j0|"),
                                    Make(MatchType::kRegex, "job", ".*"),
                                    Make(MatchType::kRegex, "job", ".+"),
                                    Make(MatchType::kNotRegex, "job", ".+"),
                                    Make(MatchType::kNotRegex, "job", ".*"),
                                    Make(MatchType::kNotRegex, "job", "j1|j2"),
                                    Make(MatchType::kNotRegex, "rare", "x|"),
                                    Make(MatchType::kRegex, "n", "1.*"),
                                    Make(MatchType::kRegex, "n", "1|22|299|1000"),
                                    Make(MatchType::kEqual, "n", "17"),
                                    Make(MatchType::kEqual, "none", "1"),
                                    Make(MatchType::kEqual, "none", ""),
                                    Make(MatchType::kNotEqual, "none", "1"),
                                    Make(MatchType::kRegex, "__name__", "u.|down"),
                                    Make(MatchType::kEqual, "rare", "x")};
  for (const Matcher& a : all) {
    EXPECT_EQ(Select({a}), Plain({a})) << a.ToString();
    for (const Matcher& b : all) {
      EXPECT_EQ(Select({a, b}), Plain({a, b})) << a.ToString() << b.ToString();
      const std::vector<Matcher> three = {a, b, all[2]};
      EXPECT_EQ(Select(three), Plain(three)) << a.ToString() << b.ToString();
    }
  }
  EXPECT_EQ(Select({}).size(), 300u);
}

TEST_F(BlockQuerierTest, LabelsAreSortedAndFollowMatchers) {
  Build({{{"__name__", "a"}, {"x", "1"}},
         {{"__name__", "b"}, {"y", "2"}},
         {{"__name__", "b"}, {"x", "3"}, {"y", "4"}}});
  const BlockQuerier querier(block_, kAllTimes);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(querier.LabelNames({}, 0).value(), (Texts{"__name__", "x", "y"}));
  EXPECT_EQ(querier.LabelNames({}, 2).value(), (Texts{"__name__", "x"}));
  const std::vector<Matcher> a = {Make(MatchType::kEqual, "__name__", "a")};
  const std::vector<Matcher> b = {Make(MatchType::kEqual, "__name__", "b")};
  EXPECT_EQ(querier.LabelNames(a, 0).value(), (Texts{"__name__", "x"}));
  EXPECT_EQ(querier.LabelValues("x", {}, 0).value(), (Texts{"1", "3"}));
  EXPECT_EQ(querier.LabelValues("x", b, 0).value(), (Texts{"3"}));
  EXPECT_EQ(querier.LabelValues("__name__", b, 0).value(), (Texts{"b"}));
  EXPECT_EQ(querier.LabelValues("z", {}, 0).value(), Texts());
  const BlockQuerier before(block_, {-100, -1});
  EXPECT_TRUE(before.LabelNames({}, 0).value().empty());
}

TEST_F(BlockQuerierTest, ARangeIsClosedAndCutsChunks) {
  Build({{{"__name__", "a"}}});
  EXPECT_EQ(Times(kAllTimes).size(), 40u);
  EXPECT_EQ(Times({20, 40}), (std::vector<int64_t>{20, 30, 40}));
  EXPECT_EQ(Times({185, 215}), (std::vector<int64_t>{190, 200, 210}));
  EXPECT_EQ(Times({390, 500}), (std::vector<int64_t>{390}));
  EXPECT_TRUE(Times({391, 500}).empty());
  EXPECT_TRUE(Times({40, 20}).empty());
}

TEST_F(BlockQuerierTest, DeletedSamplesAreNotSeen) {
  Build({{{"__name__", "a"}}});
  std::mt19937 random(3);
  const uint32_t ref = block_->index().AllSeries().value().ref();
  for (int round = 0; round < 50; ++round) {
    disk::Tombstones tombstones;
    std::vector<int64_t> left;
    for (int64_t t = 0; t < 400; t += 10) left.push_back(t);
    for (int i = 0; i < 4; ++i) {
      const auto begin = static_cast<int64_t>(random() % 400);
      const int64_t end = begin + static_cast<int64_t>(random() % 150);
      tombstones.Add(ref, {begin, end});
      std::erase_if(left, [&](int64_t t) { return begin <= t && t <= end; });
    }
    block_ = block_->ReplaceTombstones(tombstones).value();
    EXPECT_EQ(Times(kAllTimes), left) << "round " << round;
  }
  disk::Tombstones all;
  all.Add(ref, {0, 400});
  block_ = block_->ReplaceTombstones(all).value();
  EXPECT_TRUE(Select({}).empty());
}

TEST_F(BlockQuerierTest, ABadChunkIsAnErrorOfTheCursor) {
  Build({{{"__name__", "a"}}});
  const std::string path = support::BlockDirectory("data") + "/chunks/000001";
  std::string bytes = fs_.ReadFile(path).value();
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(fs_.Create(path).value()->Append(bytes).ok());
  Open();
  const BlockQuerier querier(block_, kAllTimes);
  model::SelectHints hints;
  hints.range = kAllTimes;
  const auto selection = querier.Select({}, hints).value();
  const auto cursor = selection->NewCursor(model::HistogramDetail::kFull);
  cursor->Seek(0, kAllTimes);
  while (cursor->Next()) continue;
  EXPECT_EQ(cursor->status().code(), absl::StatusCode::kDataLoss) << cursor->status();
}

}  // namespace
}  // namespace narthex::db
