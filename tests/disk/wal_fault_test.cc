// Durability of the log: the same scenario is broken at every operation in every way, and what is
// read afterwards is compared with what was acknowledged.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/disk/wal.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

using support::Fault;
using support::FaultFs;

constexpr char kDirectory[] = "data/wal";

WalWriterOptions Options() {
  WalWriterOptions options;
  options.directory = kDirectory;
  options.segment_bytes = 2 * kWalPageBytes;
  options.compression = WalCompression::kNone;
  return options;
}

// Batches whose records are told apart by their text; they fill several segments.
std::vector<std::vector<std::string>> Batches() {
  std::vector<std::vector<std::string>> batches;
  for (int i = 0; i < 24; ++i) {
    std::vector<std::string>& batch = batches.emplace_back();
    for (int j = 0; j <= i % 3; ++j) {
      std::string record = base::StrCat("batch ", i, " record ", j, " ");
      record.append(static_cast<size_t>(i * 531 + j * 4099) % 9001, static_cast<char>('a' + i));
      batch.push_back(std::move(record));
    }
  }
  return batches;
}

absl::Status LogBatch(WalWriter* writer, const std::vector<std::string>& batch) {
  const std::vector<std::string_view> views(batch.begin(), batch.end());
  return writer->Log(views);
}

struct Progress {
  std::vector<std::string> attempted;
  size_t num_acknowledged = 0;  // Of the attempted.
  size_t num_synced = 0;
};

// Logs all batches, syncing now and then, until something breaks.
Progress RunUntilBroken(FaultFs* fs) {
  Progress progress;
  auto writer = WalWriter::Open(Options(), fs);
  if (!writer.ok()) return progress;
  int index = 0;
  for (const std::vector<std::string>& batch : Batches()) {
    progress.attempted.insert(progress.attempted.end(), batch.begin(), batch.end());
    if (!LogBatch(writer->get(), batch).ok()) return progress;
    progress.num_acknowledged = progress.attempted.size();
    if (++index % 4 != 0) continue;
    if (!(*writer)->Sync().ok()) return progress;
    progress.num_synced = progress.num_acknowledged;
  }
  if ((*writer)->Close().ok()) progress.num_synced = progress.num_acknowledged;
  return progress;
}

// Reads the log as a starting server does, repairing it if need be.
std::vector<std::string> ReadAndRepair(FaultFs* fs) {
  auto reader = WalReader::Open(fs, kDirectory);
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<std::string> records;
  while ((*reader)->Next()) records.emplace_back((*reader)->record());
  EXPECT_TRUE((*reader)->status().ok());
  if (const auto& damage = (*reader)->damage(); damage.has_value()) {
    EXPECT_TRUE(RepairWal(fs, kDirectory, *damage).ok());
  }
  return records;
}

void ExpectPrefix(const std::vector<std::string>& got, const std::vector<std::string>& attempted,
                  size_t least) {
  ASSERT_LE(got.size(), attempted.size());
  EXPECT_GE(got.size(), least);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], attempted[i]);
}

// After a restart the log takes records again and gives back old and new ones.
void ExpectUsable(FaultFs* fs, std::vector<std::string> records) {
  auto writer = WalWriter::Open(Options(), fs).value();
  ASSERT_TRUE(writer->Log("after the restart").ok());
  records.push_back("after the restart");
  EXPECT_EQ(ReadAndRepair(fs), records);
}

uint64_t NumOperations() {
  FaultFs fs;
  RunUntilBroken(&fs);
  return fs.num_operations();
}

TEST(WalFaultTest, AKilledProcessLosesNothingAcknowledged) {
  const uint64_t num_operations = NumOperations();
  ASSERT_GT(num_operations, 40u);
  for (uint64_t k = 0; k < num_operations; ++k) {
    SCOPED_TRACE(k);
    FaultFs fs;
    fs.Arm(k, Fault::kDie);
    const Progress progress = RunUntilBroken(&fs);
    fs.Restart();
    const std::vector<std::string> got = ReadAndRepair(&fs);
    ExpectPrefix(got, progress.attempted, progress.num_acknowledged);
    ExpectUsable(&fs, got);
  }
}

TEST(WalFaultTest, APowerLossLosesNothingSynced) {
  const uint64_t num_operations = NumOperations();
  for (uint64_t k = 0; k < num_operations; ++k) {
    SCOPED_TRACE(k);
    FaultFs fs;
    fs.Arm(k, Fault::kDie);
    const Progress progress = RunUntilBroken(&fs);
    fs.LosePower();
    const std::vector<std::string> got = ReadAndRepair(&fs);
    ExpectPrefix(got, progress.attempted, progress.num_synced);
    ExpectUsable(&fs, got);
  }
}

// A repair that is itself cut short by a crash can be repeated.
TEST(WalFaultTest, ARepairCutShortIsRepeated) {
  for (uint64_t k = 0; k < 8; ++k) {
    SCOPED_TRACE(k);
    FaultFs fs;
    const Progress progress = RunUntilBroken(&fs);
    std::string bytes = fs.ReadFile("data/wal/00000001").value();
    bytes[10] ^= 1;
    ASSERT_TRUE(fs.Create("data/wal/00000001").value()->Append(bytes).ok());

    auto reader = WalReader::Open(&fs, kDirectory).value();
    size_t num_good = 0;
    while (reader->Next()) ++num_good;
    ASSERT_TRUE(reader->damage().has_value());
    fs.Arm(k, Fault::kDie);
    const absl::Status repaired = RepairWal(&fs, kDirectory, *reader->damage());
    base::IgnoreError(repaired, "it is meant to be cut short");
    fs.Restart();
    const std::vector<std::string> got = ReadAndRepair(&fs);
    EXPECT_EQ(got.size(), num_good);
    ExpectPrefix(got, progress.attempted, num_good);
    ExpectUsable(&fs, got);
  }
}

// The disk is full for a moment: batches fail until the writer has recovered, and then the log
// holds exactly the acknowledged ones.
void FailOnceAndRecover(uint64_t k, Fault fault) {
  SCOPED_TRACE(k);
  FaultFs fs;
  auto writer = WalWriter::Open(Options(), &fs).value();
  fs.Arm(k, fault);
  std::vector<std::string> acknowledged;
  for (const std::vector<std::string>& batch : Batches()) {
    if (writer->poisoned()) {
      EXPECT_EQ(writer->Log("refused").code(), absl::StatusCode::kResourceExhausted);
      EXPECT_EQ(writer->Sync().code(), absl::StatusCode::kResourceExhausted);
      base::IgnoreError(writer->Recover(), "tried again before the next batch");
    }
    if (LogBatch(writer.get(), batch).ok()) {
      acknowledged.insert(acknowledged.end(), batch.begin(), batch.end());
    }
  }
  ASSERT_TRUE(writer->Recover().ok());
  // The late operations are those of closing; what it fails to do is padding and syncing.
  const bool hit_before = fs.num_operations() > k;
  const bool closed = writer->Close().ok();
  EXPECT_EQ(closed, hit_before || fs.num_operations() <= k);
  auto reader = WalReader::Open(&fs, kDirectory).value();
  std::vector<std::string> got;
  while (reader->Next()) got.emplace_back(reader->record());
  EXPECT_FALSE(reader->damage().has_value());
  EXPECT_EQ(got, acknowledged);
  EXPECT_GE(acknowledged.size() + 3, 48u);  // At most one batch was lost.
}

TEST(WalFaultTest, AFailedOperationLosesItsBatchOnly) {
  const uint64_t num_operations = NumOperations();
  for (uint64_t k = 0; k < num_operations; ++k) FailOnceAndRecover(k, Fault::kFail);
}

TEST(WalFaultTest, AWriteCutShortHarmsNoOtherRecord) {
  const uint64_t num_operations = NumOperations();
  for (uint64_t k = 0; k < num_operations; ++k) FailOnceAndRecover(k, Fault::kCut);
}

// Making a file works on a full disk, writing does not.
TEST(WalFaultTest, AFullDiskThatIsTriedOverAndOverGetsOneMoreSegment) {
  FaultFs fs;
  auto writer = WalWriter::Open(Options(), &fs).value();
  ASSERT_TRUE(writer->Log("kept").ok());
  for (int attempt = 0; attempt < 10; ++attempt) {
    ASSERT_TRUE(writer->Recover().ok());
    fs.Arm(0, Fault::kCut);
    EXPECT_FALSE(writer->Log("lost").ok());
  }
  EXPECT_EQ(ListWalSegments(&fs, kDirectory).value().size(), 2u);
  ASSERT_TRUE(writer->Recover().ok());
  ASSERT_TRUE(writer->Log("new").ok());
  auto reader = WalReader::Open(&fs, kDirectory).value();
  std::vector<std::string> got;
  while (reader->Next()) got.emplace_back(reader->record());
  EXPECT_FALSE(reader->damage().has_value());
  EXPECT_EQ(got, (std::vector<std::string>{"kept", "new"}));
}

// The disk stays full: recovery fails too and is tried again.
TEST(WalFaultTest, ARecoveryThatFailsIsTriedAgain) {
  for (uint64_t k = 0; k < 8; ++k) {
    SCOPED_TRACE(k);
    FaultFs fs;
    auto writer = WalWriter::Open(Options(), &fs).value();
    ASSERT_TRUE(writer->Log("kept").ok());
    fs.Arm(0, Fault::kCut);
    EXPECT_FALSE(writer->Log("lost").ok());
    fs.Arm(k, Fault::kFail);
    const bool at_once = writer->Recover().ok();
    EXPECT_EQ(at_once, fs.num_operations() <= k);
    fs.Arm(UINT64_MAX, Fault::kFail);
    ASSERT_TRUE(writer->Recover().ok());
    ASSERT_TRUE(writer->Log("new").ok());
    EXPECT_EQ(ReadAndRepair(&fs), (std::vector<std::string>{"kept", "new"}));
  }
}

}  // namespace
}  // namespace narthex::disk
