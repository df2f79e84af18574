// What the head's log brings back, whatever broke.
#include <gtest/gtest.h>

#include "narthex/base/status.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"
#include "tests/head/head_fixture.h"
#include "tests/support/fault_fs.h"

namespace narthex::head {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;

HeadOptions WithLog() {
  HeadOptions options;
  options.wal_directory = "db/wal";
  options.wal_segment_bytes = 32 << 10;
  options.chunks_directory = "db/chunks_head";
  options.samples_per_chunk = 4;
  return options;
}

// One batch: sample number `batch` of every series. False: it was refused.
bool AddBatch(Head* head, int64_t batch) {
  auto appender = head->NewAppender();
  for (int i = 0; i < 20; ++i) {
    const auto ref =
        HeadHarness::Resolve(appender.get(), {{"__name__", "m"}, {"i", std::to_string(i)}});
    const model::AppendOutcome outcome = HeadHarness::AppendFloat(
        appender.get(), ref, kStart + batch * 1000, static_cast<double>(batch) + i * 0.1);
    EXPECT_EQ(outcome, model::AppendOutcome::kAccepted);
  }
  return appender->Commit().ok();
}

// Batches 0 .. 39, a restart in the middle. Returns which were acknowledged.
std::vector<bool> Scenario(support::FaultFs* fs) {
  std::vector<bool> acknowledged;
  support::ManualClock clock;
  for (int life = 0; life < 2; ++life) {
    auto head = Head::Open(
        WithLog(), {.clock = &clock, .fs = fs, .logger = &base::NullLogger(), .registry = nullptr},
        nullptr);
    for (int64_t batch = life * 20; batch < life * 20 + 20; ++batch) {
      acknowledged.push_back(head.ok() && AddBatch(head->get(), batch));
    }
    if (head.ok()) base::IgnoreError((*head)->Close(), "a fault may be here too");
  }
  return acknowledged;
}

void ExpectAcknowledged(support::FaultFs* fs, const std::vector<bool>& acknowledged) {
  HeadHarness head(WithLog(), fs);
  const Contents contents = head.Read();
  for (size_t batch = 0; batch < acknowledged.size(); ++batch) {
    if (!acknowledged[batch]) continue;
    ASSERT_EQ(contents.size(), 20u);
    for (const auto& [pairs, samples] : contents) {
      const auto sample = samples.find(kStart + static_cast<int64_t>(batch) * 1000);
      ASSERT_NE(sample, samples.end()) << "batch " << batch;
      ASSERT_EQ(sample->second,
                Text(static_cast<double>(batch) + std::stoi(pairs[1].second) * 0.1));
    }
  }
  // And it takes new ones.
  ASSERT_TRUE(AddBatch(head.get(), 100));
  ASSERT_EQ(head.Read().begin()->second.count(kStart + 100'000), 1u);
}

class HeadWalFaultTest : public testing::TestWithParam<support::Fault> {};

TEST_P(HeadWalFaultTest, EveryAcknowledgedBatchOutlivesEveryFault) {
  support::FaultFs probe;
  const std::vector<bool> all = Scenario(&probe);
  ASSERT_EQ(std::count(all.begin(), all.end(), true), 40);
  const uint64_t num_operations = probe.num_operations();
  ASSERT_GT(num_operations, 40u);
  for (uint64_t k = 0; k < num_operations; ++k) {
    SCOPED_TRACE(testing::Message() << "operation " << k);
    support::FaultFs fs;
    fs.Arm(k, GetParam());
    const std::vector<bool> acknowledged = Scenario(&fs);
    if (GetParam() != support::Fault::kDie) {
      // One failed operation refuses what needed it; writing goes on by itself.
      EXPECT_GE(std::count(acknowledged.begin(), acknowledged.end(), true), 19);
    }
    fs.Restart();
    ASSERT_NO_FATAL_FAILURE(ExpectAcknowledged(&fs, acknowledged));
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, HeadWalFaultTest,
                         testing::Values(support::Fault::kFail, support::Fault::kCut,
                                         support::Fault::kDie),
                         [](const auto& one) {
                           return std::string(one.param == support::Fault::kFail  ? "Fail"
                                              : one.param == support::Fault::kCut ? "Cut"
                                                                                  : "Die");
                         });

TEST(HeadWalTest, ARefusedBatchIsNotSeenAndLaterOnesAre) {
  support::FaultFs fs;
  HeadHarness head(WithLog(), &fs);
  ASSERT_TRUE(AddBatch(head.get(), 0));
  fs.Arm(0, support::Fault::kCut);
  auto appender = head->NewAppender();
  const auto ref = HeadHarness::Resolve(appender.get(), {{"__name__", "m"}, {"i", "0"}});
  HeadHarness::AppendFloat(appender.get(), ref, kStart + 1000, 1);
  EXPECT_EQ(appender->Commit().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(head.Read().begin()->second.size(), 1u);
  ASSERT_TRUE(AddBatch(head.get(), 2));
  EXPECT_EQ(head.Read().begin()->second.size(), 2u);
  head.Close();
  head.Open();
  EXPECT_EQ(head.Read().begin()->second.size(), 2u);
}

TEST(HeadWalTest, ASeriesThatAnotherAppenderResolvedIsLoggedWithItsFirstSample) {
  support::FaultFs fs;
  HeadHarness head(WithLog(), &fs);
  auto first = head->NewAppender();
  const auto ref = HeadHarness::Resolve(first.get(), {{"__name__", "a"}});
  auto second = head->NewAppender();
  EXPECT_EQ(HeadHarness::Resolve(second.get(), {{"__name__", "a"}}), ref);
  HeadHarness::AppendFloat(second.get(), ref, kStart, 1);
  ASSERT_TRUE(second->Commit().ok());
  first->Rollback();
  head.Close();
  head.Open();
  EXPECT_EQ(head.Read().size(), 1u);
}

std::unique_ptr<disk::WalWriter> OpenLog(support::FaultFs* fs) {
  disk::WalWriterOptions options;
  options.directory = "db/wal";
  return disk::WalWriter::Open(options, fs).value();
}

// Writes a log as another process may have: numbers with holes, one label set under two numbers.
void WriteForeignLog(support::FaultFs* fs) {
  auto writer = OpenLog(fs);
  const model::Label a[] = {{"__name__", "a"}};
  const model::Label b[] = {{"__name__", "b"}};
  std::string record;
  const disk::SeriesToLog series[] = {{70, a}, {1'000'000, b}, {1'000'001, a}};
  disk::EncodeSeries(series, &record);
  ASSERT_TRUE(writer->Log(record).ok());
  record.clear();
  const model::FloatSample samples[] = {{70, kStart, 1},
                                        {1'000'000, kStart, 2},
                                        {1'000'001, kStart + 1, 3},
                                        {999, kStart, 4},
                                        {70, kStart + 2, 5}};
  disk::EncodeSamples(samples, &record);
  ASSERT_TRUE(writer->Log(record).ok());
  record = "\x63 of a type from the future";
  ASSERT_TRUE(writer->Log(record).ok());
  ASSERT_TRUE(writer->Close().ok());
}

TEST(HeadWalTest, ForeignNumbersAreKeptAndALabelSetOfTwoIsOneSeries) {
  support::FaultFs fs;
  WriteForeignLog(&fs);
  Contents expected = {
      {{{"__name__", "a"}}, {{kStart, Text(1.)}, {kStart + 1, Text(3.)}, {kStart + 2, Text(5.)}}},
      {{{"__name__", "b"}}, {{kStart, Text(2.)}}}};
  HeadHarness head(WithLog(), &fs);
  EXPECT_EQ(head.Read(), expected);
  EXPECT_EQ(head.Metric("prometheus_tsdb_wal_replay_unknown_refs_total", "samples"), 1);
  EXPECT_EQ(head.Metric("prometheus_tsdb_wal_replay_unknown_refs_total", "series"), 1);
  EXPECT_EQ(head.Metric("prometheus_tsdb_wal_corruptions_total"), 0);
  head.Add({{"__name__", "a"}}, kStart + 3, 6);
  head.Add({{"__name__", "c"}}, kStart + 3, 7);
  expected[{{"__name__", "a"}}][kStart + 3] = Text(6.);
  expected[{{"__name__", "c"}}][kStart + 3] = Text(7.);
  head.Close();
  head.Open();
  EXPECT_EQ(head.Read(), expected);
}

TEST(HeadWalTest, DamageIsCutOffCountedAndWrittenOver) {
  support::FaultFs fs;
  WriteForeignLog(&fs);
  auto writer = OpenLog(&fs);
  ASSERT_TRUE(writer->Log("\x01 a series record of nonsense").ok());
  std::string record;
  const model::FloatSample lost{70, kStart + 9, 1};
  disk::EncodeSamples({&lost, 1}, &record);
  ASSERT_TRUE(writer->Log(record).ok());
  ASSERT_TRUE(writer->Close().ok());

  HeadHarness head(WithLog(), &fs);
  EXPECT_EQ(head.Metric("prometheus_tsdb_wal_corruptions_total"), 1);
  EXPECT_EQ(head.Read().size(), 2u);
  EXPECT_EQ(head.Read().at({{"__name__", "a"}}).size(), 3u);
  head.Add({{"__name__", "a"}}, kStart + 10, 6);
  head.Close();
  head.Open();
  EXPECT_EQ(head.Metric("prometheus_tsdb_wal_corruptions_total"), 0);
  EXPECT_EQ(head.Read().at({{"__name__", "a"}}).size(), 4u);
}

}  // namespace
}  // namespace narthex::head
