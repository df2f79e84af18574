#include "db/merged_querier.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "narthex/model/histogram_view.h"
#include "tests/support/fake_queryable.h"
#include "tests/support/histograms.h"

namespace narthex::db {
namespace {

using model::CounterResetHint;
using model::TimeRange;
using narthex::testing::FakeQueryable;

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr TimeRange kAlways{.min_time_ms = INT64_MIN, .max_time_ms = INT64_MAX};

model::SelectHints Hints(TimeRange range) {
  model::SelectHints hints;
  hints.range = range;
  return hints;
}

struct Part {
  FakeQueryable storage;
  TimeRange range = kAlways;
};

std::unique_ptr<MergedQuerier> Merge(const std::vector<const Part*>& parts) {
  std::vector<QuerierSource> sources;
  for (const Part* part : parts) {
    sources.push_back({part->storage.NewQuerier(kAlways).value(), part->range});
  }
  return std::make_unique<MergedQuerier>(std::move(sources));
}

Labels LabelsOf(const model::Querier& querier, const model::SeriesSelection& selection,
                size_t index) {
  std::vector<model::SymbolLabel> symbols;
  selection.AppendLabels(index, &symbols);
  Labels labels;
  for (const model::SymbolLabel& label : symbols) {
    labels.emplace_back(querier.symbols().Text(label.name), querier.symbols().Text(label.value));
    EXPECT_EQ(querier.symbols().Find(labels.back().second), label.value);
  }
  return labels;
}

// A sample as text-free as can be: its time and the bits of its value or of its histogram's sum.
using Samples = std::vector<std::pair<int64_t, uint64_t>>;

Samples SamplesOf(model::SeriesCursor* cursor, size_t index, TimeRange range) {
  Samples samples;
  cursor->Seek(index, range);
  while (cursor->Next()) {
    const model::ColumnBatch& batch = cursor->batch();
    EXPECT_FALSE(batch.times_ms.empty());
    for (size_t i = 0; i < batch.times_ms.size(); ++i) {
      samples.emplace_back(
          batch.times_ms[i],
          std::bit_cast<uint64_t>(batch.kind == model::SampleKind::kFloat ? batch.values[i]
                                                                          : batch.sums[i]));
    }
  }
  EXPECT_TRUE(cursor->status().ok()) << cursor->status().ToString();
  return samples;
}

std::map<Labels, Samples> Read(const MergedQuerier& querier, TimeRange range) {
  std::map<Labels, Samples> all;
  const auto selection = querier.Select({}, Hints(range)).value();
  const auto cursor = selection->NewCursor(model::HistogramDetail::kFull);
  for (size_t i = 0; i < selection->size(); ++i) {
    Samples samples = SamplesOf(cursor.get(), i, range);
    const Labels labels = LabelsOf(querier, *selection, i);
    EXPECT_FALSE(all.contains(labels)) << "a label set came twice";
    if (!samples.empty()) all[labels] = std::move(samples);
  }
  return all;
}

TEST(MergedQuerierTest, ARandomOverlapGivesEveryTimeOnceTheFirstSourceWinning) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return random() % limit; };
    const size_t num_parts = 1 + below(4);
    std::vector<std::unique_ptr<Part>> parts;
    std::vector<const Part*> pointers;
    std::map<Labels, std::map<int64_t, uint64_t>> expected;
    for (size_t p = 0; p < num_parts; ++p) {
      const int64_t begin_ms = 40 * static_cast<int64_t>(p);
      parts.push_back(std::make_unique<Part>(Part{
          FakeQueryable(1 + below(7)), {.min_time_ms = begin_ms, .max_time_ms = begin_ms + 79}}));
      pointers.push_back(parts.back().get());
      for (uint32_t s = 0; s < 6; ++s) {
        if (below(4) == 0) continue;
        const Labels labels = {{"__name__", "m"}, {"s", std::to_string(s)}};
        std::vector<std::pair<int64_t, double>> samples;
        for (int64_t t = begin_ms; t <= begin_ms + 79; ++t) {
          if (below(3) != 0) continue;
          const auto value = static_cast<double>(below(1000000));
          samples.emplace_back(t, value);
          expected[labels].try_emplace(t, std::bit_cast<uint64_t>(value));
        }
        parts.back()->storage.AddFloats(labels, samples);
      }
    }
    const auto querier = Merge(pointers);
    for (const TimeRange range : {kAlways, TimeRange{.min_time_ms = 35, .max_time_ms = 90},
                                  TimeRange{.min_time_ms = 130, .max_time_ms = 130}}) {
      std::map<Labels, Samples> in_range;
      for (const auto& [labels, samples] : expected) {
        for (const auto& [time_ms, bits] : samples) {
          if (range.Contains(time_ms)) in_range[labels].emplace_back(time_ms, bits);
        }
      }
      EXPECT_EQ(Read(*querier, range), in_range);
    }
  }
}

TEST(MergedQuerierTest, ALaterSourceIsNotReadBeforeItsRangeBegins) {
  Part block{FakeQueryable(2), {.min_time_ms = 0, .max_time_ms = 99}};
  Part head{FakeQueryable(2), {.min_time_ms = 100, .max_time_ms = INT64_MAX}};
  block.storage.AddFloats({{"__name__", "m"}}, {{10, 1}, {20, 2}, {30, 3}});
  head.storage.AddFloats({{"__name__", "m"}}, {{100, 4}, {110, 5}});
  const auto querier = Merge({&head, &block});
  const auto selection = querier->Select({}, Hints(kAlways)).value();
  ASSERT_EQ(selection->size(), 1u);
  const auto cursor = selection->NewCursor(model::HistogramDetail::kFull);
  cursor->Seek(0, kAlways);
  std::vector<std::vector<int64_t>> batches;
  while (cursor->Next()) {
    batches.emplace_back(cursor->batch().times_ms.begin(), cursor->batch().times_ms.end());
  }
  EXPECT_EQ(batches, (std::vector<std::vector<int64_t>>{{10, 20}, {30}, {100, 110}}));
}

TEST(MergedQuerierTest, NamesAndValuesAreUnitedAndLimited) {
  Part a{FakeQueryable()};
  Part b{FakeQueryable()};
  a.storage.AddFloats({{"__name__", "m"}, {"x", "2"}}, {{1, 1}});
  b.storage.AddFloats({{"__name__", "m"}, {"x", "1"}, {"y", "1"}}, {{1, 1}});
  const auto querier = Merge({&a, &b});
  EXPECT_EQ(querier->LabelNames({}, 0).value(), (std::vector<std::string>{"__name__", "x", "y"}));
  EXPECT_EQ(querier->LabelValues("x", {}, 0).value(), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(querier->LabelValues("x", {}, 1).value(), (std::vector<std::string>{"1"}));
  model::SelectHints one = Hints(kAlways);
  one.limit = 1;
  EXPECT_EQ(querier->Select({}, one).value()->size(), 1u);
}

TEST(MergedQuerierTest, ATextIsKnownFromTheStartOrNever) {
  Part a{FakeQueryable()};
  Part b{FakeQueryable()};
  a.storage.AddFloats({{"__name__", "m"}}, {{1, 1}});
  b.storage.AddFloats({{"__name__", "n"}, {"only", "b"}}, {{1, 1}});
  const auto querier = Merge({&a, &b});
  const auto only = querier->symbols().Find("only");
  ASSERT_TRUE(only.has_value());
  EXPECT_EQ(querier->symbols().Text(*only), "only");
  EXPECT_FALSE(querier->symbols().Find("neither").has_value());
  EXPECT_EQ(querier->Select({}, Hints(kAlways)).value()->size(), 2u);
  EXPECT_EQ(querier->symbols().Find("only"), only);
}

model::FloatHistogram Counts(double first, double second) {
  return test::MakeHistogram({.sum = first, .positive = {{0, first}, {1, second}}});
}

std::vector<CounterResetHint> HintsOf(const MergedQuerier& querier, model::HistogramDetail detail) {
  model::SelectHints select = Hints(kAlways);
  select.detail = detail;
  const auto selection = querier.Select({}, select).value();
  const auto cursor = selection->NewCursor(detail);
  std::vector<CounterResetHint> hints;
  cursor->Seek(0, kAlways);
  while (cursor->Next()) {
    hints.insert(hints.end(), cursor->batch().hints.begin(), cursor->batch().hints.end());
  }
  EXPECT_TRUE(cursor->status().ok());
  return hints;
}

TEST(MergedQuerierTest, WhatASourceSaysOfResetsHoldsOnlyAfterItsOwnRow) {
  Part a{FakeQueryable(), {.min_time_ms = 0, .max_time_ms = 25}};
  Part b{FakeQueryable(), {.min_time_ms = 0, .max_time_ms = 40}};
  const Labels labels = {{"__name__", "h"}};
  a.storage.AddHistogram(labels, 10, Counts(1, 1));
  a.storage.AddHistogram(labels, 20, Counts(5, 1));  // Within a: no reset. After b's 15: none.
  b.storage.AddHistogram(labels, 15, Counts(2, 1));
  b.storage.AddHistogram(labels, 30, Counts(3, 1));  // Within b: no reset. After a's 20: a reset.
  b.storage.AddHistogram(labels, 40, Counts(4, 1));
  a.storage.SetHints(labels);
  b.storage.SetHints(labels);
  const auto querier = Merge({&a, &b});
  using enum CounterResetHint;
  EXPECT_EQ(HintsOf(*querier, model::HistogramDetail::kFull),
            (std::vector{kUnknown, kUnknown, kUnknown, kUnknown, kNotReset}));
  // A reader without buckets is told.
  EXPECT_EQ(HintsOf(*querier, model::HistogramDetail::kCountAndSum),
            (std::vector{kUnknown, kNotReset, kNotReset, kReset, kNotReset}));
}

TEST(MergedQuerierTest, TheNewestSampleIsToldWhereOneSourceAloneCanHaveIt) {
  Part head{FakeQueryable(), {.min_time_ms = 100, .max_time_ms = INT64_MAX}};
  Part block{FakeQueryable(), {.min_time_ms = 0, .max_time_ms = 99}};
  head.storage.AddFloats({{"__name__", "m"}}, {{110, 5}});
  block.storage.AddFloats({{"__name__", "m"}}, {{10, 1}});
  const auto querier = Merge({&head, &block});
  const auto selection = querier->Select({}, Hints(kAlways)).value();
  using Latest = model::SeriesSelection::Latest;
  model::LatestSample sample;
  EXPECT_EQ(selection->FindLatest(0, {.min_time_ms = 50, .max_time_ms = 200}, &sample),
            Latest::kAskCursor);
  const auto direct = head.storage.NewQuerier(kAlways).value()->Select({}, Hints(kAlways)).value();
  model::LatestSample of_head;
  const TimeRange newest{.min_time_ms = 105, .max_time_ms = 200};
  EXPECT_EQ(selection->FindLatest(0, newest, &sample), direct->FindLatest(0, newest, &of_head));
  EXPECT_EQ(sample.time_ms, of_head.time_ms);
}

}  // namespace
}  // namespace narthex::db
