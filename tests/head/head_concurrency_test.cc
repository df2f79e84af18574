// Appenders and queriers side by side: a reader sees every batch whole or not at all, and the
// batches of one writer without holes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "tests/head/head_fixture.h"
#include "tests/support/fault_fs.h"

namespace narthex::head {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;
constexpr int kWriters = 3;
constexpr int kReaders = 2;
constexpr int kSeriesPerWriter = 40;
constexpr int64_t kBatches = 400;

model::Histogram CounterHistogram(int64_t observations) {
  static const model::LayoutPtr layout = [] {
    model::HistogramLayout made;
    made.positive_spans = {{0, 3}};
    return std::make_shared<const model::HistogramLayout>(made);
  }();
  model::Histogram h;
  h.layout = layout;
  h.buckets = {observations, 2 * observations, 0};
  h.count = static_cast<uint64_t>(3 * observations);
  h.sum = static_cast<double>(observations);
  return h;
}

// Each batch gives all series of a writer the number of the batch, half of them as histograms.
void Write(Head* head, int writer) {
  for (int64_t batch = 1; batch <= kBatches; ++batch) {
    auto appender = head->NewAppender();
    for (int i = 0; i < kSeriesPerWriter; ++i) {
      const auto ref =
          HeadHarness::Resolve(appender.get(), {{"__name__", i % 2 == 0 ? "float" : "histogram"},
                                                {"i", std::to_string(i)},
                                                {"writer", std::to_string(writer)}});
      const int64_t time_ms = kStart + batch * 10;
      const model::AppendOutcome outcome =
          i % 2 == 0
              ? HeadHarness::AppendFloat(appender.get(), ref, time_ms, static_cast<double>(batch))
              : appender->AppendHistogram(ref, time_ms, CounterHistogram(batch));
      ASSERT_EQ(outcome, model::AppendOutcome::kAccepted);
    }
    ASSERT_TRUE(appender->Commit().ok());
  }
}

// The number of batches of `writer` that a querier shows; fails unless all series show the same.
int64_t SeenBatches(const model::Querier& querier, int writer) {
  const std::vector<model::Matcher> matchers = {
      Match(model::MatchType::kEqual, "writer", std::to_string(writer))};
  const Contents contents = ReadAll(querier, matchers);
  if (contents.empty()) return 0;
  EXPECT_EQ(contents.size(), static_cast<size_t>(kSeriesPerWriter));
  const size_t seen = contents.begin()->second.size();
  for (const auto& [pairs, samples] : contents) {
    EXPECT_EQ(samples.size(), seen);
    EXPECT_EQ(samples.begin()->first, kStart + 10);
    EXPECT_EQ(samples.rbegin()->first, kStart + static_cast<int64_t>(seen) * 10);
    const auto newest = static_cast<double>(seen);
    if (pairs[0].second == "float") {
      EXPECT_EQ(samples.rbegin()->second, Text(newest));
    }
  }
  return static_cast<int64_t>(seen);
}

void Read(Head* head, const std::atomic<bool>* done) {
  std::vector<int64_t> seen(kWriters, 0);
  while (!done->load()) {
    auto querier = head->NewQuerier(kAllTime);
    ASSERT_TRUE(querier.ok());
    for (int round = 0; round < 2; ++round) {
      for (int writer = 0; writer < kWriters; ++writer) {
        const int64_t now = SeenBatches(**querier, writer);
        int64_t& before = seen[static_cast<size_t>(writer)];
        // A later querier sees at least as much; the same one exactly as much.
        ASSERT_GE(now, before);
        if (round == 1) {
          ASSERT_EQ(now, before);
        }
        before = now;
      }
    }
    EXPECT_GT(head->Memory().Total(), 0u);
  }
}

void WriteAndRead(HeadHarness* head) {
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  std::vector<std::thread> writers;
  for (int i = 0; i < kReaders; ++i) readers.emplace_back(Read, head->get(), &done);
  for (int i = 0; i < kWriters; ++i) writers.emplace_back(Write, head->get(), i);
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  auto querier = (*head)->NewQuerier(kAllTime);
  for (int i = 0; i < kWriters; ++i) EXPECT_EQ(SeenBatches(**querier, i), kBatches);
}

TEST(HeadConcurrencyTest, ReadersSeeWholeBatchesInMemory) {
  HeadHarness head;
  WriteAndRead(&head);
}

TEST(HeadConcurrencyTest, ReadersSeeWholeBatchesWithALogAndAfterReplay) {
  support::FaultFs fs;
  HeadOptions options;
  options.wal_directory = "db/wal";
  options.wal_segment_bytes = 256 << 10;
  HeadHarness head(options, &fs);
  WriteAndRead(&head);
  head.Close();
  head.Open();
  auto querier = head->NewQuerier(kAllTime);
  for (int i = 0; i < kWriters; ++i) EXPECT_EQ(SeenBatches(**querier, i), kBatches);
}

// As Write(), but half of the series are new ones every twenty batches.
void WriteChurn(Head* head, int writer, std::atomic<int64_t>* progress) {
  for (int64_t batch = 1; batch <= kBatches; ++batch) {
    *progress = batch;
    auto appender = head->NewAppender();
    for (int i = 0; i < kSeriesPerWriter; ++i) {
      const auto ref = HeadHarness::Resolve(appender.get(),
                                            {{"__name__", i % 2 == 0 ? "stays" : "goes"},
                                             {"i", std::to_string(i)},
                                             {"part", std::to_string(i % 2 == 0 ? 0 : batch / 20)},
                                             {"writer", std::to_string(writer)}});
      ASSERT_EQ(HeadHarness::AppendFloat(appender.get(), ref, kStart + batch * 10,
                                         static_cast<double>(batch + i)),
                model::AppendOutcome::kAccepted);
    }
    ASSERT_TRUE(appender->Commit().ok());
  }
}

// A querier shows the same whenever it is asked, series without holes, and a writer's lasting
// series alike.
void ReadChurn(Head* head, const std::atomic<bool>* done) {
  while (!done->load()) {
    auto querier = head->NewQuerier(kAllTime);
    ASSERT_TRUE(querier.ok());
    const Contents contents = ReadAll(**querier);
    std::map<std::string, std::pair<int64_t, int64_t>> ranges;
    for (const auto& [pairs, samples] : contents) {
      const int64_t first = samples.begin()->first;
      const int64_t last = samples.rbegin()->first;
      ASSERT_EQ(static_cast<int64_t>(samples.size()), (last - first) / 10 + 1);
      ASSERT_EQ(samples.rbegin()->second,
                Text(static_cast<double>((last - kStart) / 10 + std::stoi(pairs[1].second))));
      if (pairs[0].second != "stays") continue;
      const auto range = ranges.try_emplace(pairs[3].second, first, last).first->second;
      ASSERT_EQ(range, std::pair(first, last));
    }
    ASSERT_EQ(ReadAll(**querier), contents);
  }
}

TEST(HeadConcurrencyTest, ReadersSeeNoHolesWhileWhatIsOldGoes) {
  support::FaultFs fs;
  HeadOptions options;
  options.wal_directory = "db/wal";
  options.chunks_directory = "db/chunks_head";
  options.samples_per_chunk = 8;
  HeadHarness head(options, &fs);
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  std::vector<std::thread> writers;
  for (int i = 0; i < kReaders; ++i) others.emplace_back(ReadChurn, head.get(), &done);
  std::array<std::atomic<int64_t>, kWriters> progress{};
  others.emplace_back([&] {
    while (!done.load()) {
      // Each is looked at once: one that runs on meanwhile must not pass for the slowest.
      int64_t slowest = kBatches;
      for (const std::atomic<int64_t>& one : progress) slowest = std::min(slowest, one.load());
      EXPECT_TRUE(head->Truncate(kStart + (slowest - 30) * 10).ok());
    }
  });
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back(WriteChurn, head.get(), i, &progress[static_cast<size_t>(i)]);
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& other : others) other.join();
  ASSERT_TRUE(head->Truncate(kStart + kBatches * 10).ok());
  // The lasting series, and those of the last part.
  EXPECT_EQ(head.Read().size(), static_cast<size_t>(kWriters * kSeriesPerWriter));
  EXPECT_EQ(head->Stats(1).num_series, static_cast<uint64_t>(kWriters * kSeriesPerWriter));
}

}  // namespace
}  // namespace narthex::head
