// What goes when a head is cut off at its old end, and what must stay.
#include <gtest/gtest.h>

#include <thread>

#include "narthex/base/bytes.h"
#include "tests/head/head_fixture.h"
#include "tests/support/fault_fs.h"

namespace narthex::head {
namespace {

using model::AppendOutcome;

constexpr int64_t kHour = 3'600'000;
constexpr int64_t kStart = 1'700'006'400'000;  // Start of an aligned range.

HeadOptions WithFiles() {
  HeadOptions options;
  options.wal_directory = "db/wal";
  options.chunks_directory = "db/chunks_head";
  options.appender_patience_ms = 0;
  return options;
}

class HeadTruncateTest : public ::testing::Test {
 protected:
  // A sample a minute, from `first` up to but not including `last` minutes after the start.
  static void AddMinutes(HeadHarness* head, const Pairs& pairs, int64_t first, int64_t last) {
    for (int64_t minute = first; minute < last; ++minute) {
      ASSERT_EQ(head->Add(pairs, kStart + minute * 60'000, static_cast<double>(minute)),
                AppendOutcome::kAccepted);
    }
  }
  // The same of both series in step, `b_` up to `last_b`.
  void AddBoth(HeadHarness* head, int64_t last_a, int64_t last_b) const {
    for (int64_t minute = 0; minute < last_a; ++minute) {
      AddMinutes(head, a_, minute, minute + 1);
      if (minute < last_b) AddMinutes(head, b_, minute, minute + 1);
    }
  }
  static std::vector<std::string> Values(HeadHarness* head, std::string_view name) {
    auto querier = (*head)->NewQuerier(kAllTime);
    return *(*querier)->LabelValues(name, {}, 0);
  }

  const Pairs a_ = {{"__name__", "m"}, {"i", "a"}};
  const Pairs b_ = {{"__name__", "m"}, {"i", "b"}};
  support::FaultFs fs_;
};

TEST_F(HeadTruncateTest, ReadersSeeExactlyWhatIsNotBeforeTheCut) {
  HeadHarness head(WithFiles(), &fs_);
  AddMinutes(&head, a_, 0, 200);
  EXPECT_TRUE(head->IsCompactable());
  ASSERT_TRUE(head->Truncate(kStart + 2 * kHour).ok());
  EXPECT_FALSE(head->IsCompactable());
  const Contents contents = head.Read();
  ASSERT_EQ(contents.size(), 1u);
  EXPECT_EQ(contents.at(a_).begin()->first, kStart + 2 * kHour);
  EXPECT_EQ(contents.at(a_).size(), 80u);
  EXPECT_GE(head->min_time_ms(), kStart + 2 * kHour);
  EXPECT_EQ(head.Add(b_, kStart + kHour, 1), AppendOutcome::kOutOfBounds);
  EXPECT_GT(head.Metric("prometheus_tsdb_head_chunks_removed_total"), 0);
}

TEST_F(HeadTruncateTest, SeriesWithoutSamplesGoWithTheirNames) {
  HeadHarness head(WithFiles(), &fs_);
  AddMinutes(&head, a_, 0, 30);
  AddMinutes(&head, b_, 0, 200);
  auto appender = head->NewAppender();
  const model::SeriesRef old_ref = HeadHarness::Resolve(appender.get(), a_);
  const model::SeriesRef kept_ref = HeadHarness::Resolve(appender.get(), b_);
  appender->Rollback();
  appender.reset();

  ASSERT_TRUE(head->Truncate(kStart + 2 * kHour).ok());
  EXPECT_EQ(Values(&head, "i"), std::vector<std::string>{"b"});
  EXPECT_EQ(head->Stats(10).num_series, 1u);
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_series"), 1);
  EXPECT_EQ(head.Metric("prometheus_tsdb_head_series_removed_total"), 1);

  appender = head->NewAppender();
  const int64_t now = kStart + 200 * 60'000;
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), old_ref, now, 1),
            AppendOutcome::kUnknownSeries);
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), kept_ref, now, 1), AppendOutcome::kAccepted);
  const model::SeriesRef new_ref = HeadHarness::Resolve(appender.get(), a_);
  EXPECT_NE(new_ref, old_ref);
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), new_ref, now, 2), AppendOutcome::kAccepted);
  ASSERT_TRUE(appender->Commit().ok());
  EXPECT_EQ(head.Read().at(a_), (Samples{{now, Text(2.0)}}));
}

TEST_F(HeadTruncateTest, TheLogMustKnowGoneSeriesAsLongAsItHasTheirSamples) {
  HeadHarness head(WithFiles(), &fs_);
  AddMinutes(&head, a_, 0, 30);
  AddMinutes(&head, b_, 0, 200);
  const int64_t cut_ms = kStart + 2 * kHour;
  EXPECT_EQ(head->RefsTheLogNeeds(cut_ms), (std::vector<uint64_t>{1, 2}));
  ASSERT_TRUE(head->Truncate(cut_ms).ok());
  EXPECT_EQ(head->RefsTheLogNeeds(kStart), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(head->RefsTheLogNeeds(kStart + 3 * kHour), (std::vector<uint64_t>{2}));
  head->ForgetRefsBefore(kStart + 3 * kHour);
  EXPECT_EQ(head->RefsTheLogNeeds(kStart), (std::vector<uint64_t>{2}));
}

TEST_F(HeadTruncateTest, AnOpenAppenderKeepsTheSeriesItResolved) {
  HeadHarness head(WithFiles(), &fs_);
  AddMinutes(&head, b_, 0, 200);
  auto appender = head->NewAppender();
  const model::SeriesRef ref = HeadHarness::Resolve(appender.get(), a_);
  ASSERT_TRUE(head->Truncate(kStart + kHour).ok());
  EXPECT_EQ(head->Stats(10).num_series, 2u);
  EXPECT_EQ(HeadHarness::AppendFloat(appender.get(), ref, kStart + 3 * kHour, 1),
            AppendOutcome::kAccepted);
  ASSERT_TRUE(head->Truncate(kStart + kHour + 60'000).ok());
  ASSERT_TRUE(appender->Commit().ok());
  appender.reset();
  EXPECT_EQ(head.Read().at(a_), (Samples{{kStart + 3 * kHour, Text(1.0)}}));
  ASSERT_TRUE(head->Truncate(kStart + 2 * kHour).ok());
  EXPECT_EQ(head->Stats(10).num_series, 2u);
}

TEST_F(HeadTruncateTest, AnOpenReaderSeesItsSamplesToTheEnd) {
  HeadHarness head(WithFiles(), &fs_);
  AddMinutes(&head, a_, 0, 200);
  auto querier = head->NewQuerier(kAllTime);
  std::thread truncation([&] { EXPECT_TRUE(head->Truncate(kStart + 2 * kHour).ok()); });
  EXPECT_EQ(ReadAll(**querier).at(a_).size(), 200u);
  querier->reset();
  truncation.join();
  EXPECT_EQ(head.Read().at(a_).size(), 80u);
}

TEST_F(HeadTruncateTest, NumbersOfGoneSeriesServeNewOnes) {
  HeadHarness head;
  const auto name = [](int64_t round, int64_t i) {
    return Pairs{{"__name__", "churn"}, {"i", std::to_string(i)}, {"round", std::to_string(round)}};
  };
  uint64_t most = 0;
  for (int64_t round = 0; round < 12; ++round) {
    const int64_t time_ms = kStart + round * 2 * kHour;
    for (int64_t i = 0; i < 500; ++i) {
      ASSERT_EQ(head.Add(name(round, i), time_ms, static_cast<double>(i)),
                AppendOutcome::kAccepted);
    }
    // A reader of younger samples is no reason to wait.
    auto querier = head->NewQuerier({time_ms, time_ms});
    ASSERT_TRUE(head->Truncate(time_ms).ok());
    EXPECT_EQ(ReadAll(**querier).size(), 500u);
    const Contents contents = head.Read();
    ASSERT_EQ(contents.size(), 500u);
    for (int64_t i = 0; i < 500; ++i) {
      ASSERT_EQ(contents.at(name(round, i)), (Samples{{time_ms, Text(static_cast<double>(i))}}));
    }
    const uint64_t bytes = head->Memory().Total();
    if (round < 4) most = std::max(most, bytes);
    EXPECT_LE(bytes, most + most / 20) << "round " << round;
  }
}

TEST_F(HeadTruncateTest, ARestartReadsChunksFromFilesAndTheRestFromTheLog) {
  HeadHarness head(WithFiles(), &fs_);
  AddBoth(&head, 300, 170);
  const Contents before = head.Read();
  const uint64_t chunks = head->Stats(1).num_chunks;
  head.Close();
  head.Open();
  EXPECT_EQ(head.Read(), before);
  EXPECT_EQ(head->Stats(1).num_chunks, chunks);
  // The newest sample of `a_` is in the log, so it is known to be the same or not.
  EXPECT_EQ(head.Add(a_, kStart + 299 * 60'000, 299), AppendOutcome::kDuplicateSame);
  EXPECT_EQ(head.Add(a_, kStart + 299 * 60'000, 1), AppendOutcome::kDuplicate);
  EXPECT_EQ(head.Add(a_, kStart + 300 * 60'000, 300), AppendOutcome::kAccepted);
}

TEST_F(HeadTruncateTest, WhatIsInBlocksIsNotReadBack) {
  HeadHarness head(WithFiles(), &fs_);
  AddBoth(&head, 300, 100);
  head.Close();
  head.options()->min_valid_time_ms = kStart + 2 * kHour;
  head.Open();
  const Contents contents = head.Read();
  ASSERT_EQ(contents.size(), 1u);
  EXPECT_EQ(contents.at(a_).begin()->first, kStart + 2 * kHour);
  EXPECT_EQ(contents.at(a_).size(), 180u);
  EXPECT_EQ(head->min_time_ms(), kStart + 2 * kHour);
  EXPECT_EQ(Values(&head, "i"), std::vector<std::string>{"a"});
  EXPECT_EQ(head.Add(b_, kStart + kHour, 1), AppendOutcome::kOutOfBounds);
}

TEST_F(HeadTruncateTest, DamagedChunkFilesCostNoSample) {
  HeadHarness head(WithFiles(), &fs_);
  AddBoth(&head, 300, 300);
  const Contents before = head.Read();
  head.Close();
  const std::string path = "db/chunks_head/000001";
  std::string bytes = *fs_.ReadFile(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  auto file = fs_.Create(path);
  ASSERT_TRUE((*file)->Append(bytes).ok());
  ASSERT_TRUE((*file)->Close().ok());
  for (int restart = 0; restart < 2; ++restart) {
    head.Open();
    EXPECT_EQ(head.Read(), before);
    head.Close();
  }
}

}  // namespace
}  // namespace narthex::head
