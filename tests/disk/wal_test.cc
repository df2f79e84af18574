#include "narthex/disk/wal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"
#include "tests/disk/hex.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

constexpr char kDirectory[] = "data/wal";

std::string SegmentPath(uint64_t segment) {
  return base::StrCat(kDirectory, "/", WalSegmentName(segment));
}

class WalTest : public testing::TestWithParam<WalCompression> {
 protected:
  WalWriterOptions Options() const {
    WalWriterOptions options;
    options.directory = kDirectory;
    options.segment_bytes = 4 * kWalPageBytes;
    options.compression = GetParam();
    return options;
  }
  std::unique_ptr<WalWriter> OpenWriter() { return WalWriter::Open(Options(), &fs_).value(); }

  // All records; damage, if any, goes to `damage_`.
  std::vector<std::string> ReadAll() {
    auto reader = WalReader::Open(&fs_, kDirectory).value();
    std::vector<std::string> records;
    while (reader->Next()) records.emplace_back(reader->record());
    EXPECT_TRUE(reader->status().ok()) << reader->status();
    damage_ = reader->damage();
    return records;
  }
  void Overwrite(uint64_t segment, std::string_view bytes) {
    auto file = fs_.Create(SegmentPath(segment)).value();
    ASSERT_TRUE(file->Append(bytes).ok());
  }

  support::FaultFs fs_;
  std::optional<WalDamage> damage_;
};

// Records of all sizes around the page's, some compressible, and an empty one.
std::vector<std::string> VariedRecords() {
  std::vector<std::string> records;
  uint32_t state = 1;
  for (int i = 0; i < 60; ++i) {
    state = state * 1664525 + 1013904223;
    size_t size = (state >> 8) % 9000;
    if (i % 7 == 0) size *= 10;
    if (i % 11 == 0) size = kWalPageBytes - 7 - static_cast<size_t>(i) / 11;
    if (i == 6) size = 0;
    std::string record(size, '\0');
    for (size_t j = 0; j < size; ++j) {
      if (i % 3 == 0) state = state * 1664525 + 1013904223;
      record[j] = i % 3 == 0 ? static_cast<char>(state >> 24) : static_cast<char>(j / 16);
    }
    records.push_back(std::move(record));
  }
  return records;
}

INSTANTIATE_TEST_SUITE_P(Compressions, WalTest,
                         testing::Values(WalCompression::kNone, WalCompression::kSnappy,
                                         WalCompression::kZstd));

TEST_P(WalTest, RecordsComeBackInOrder) {
  const std::vector<std::string> records = VariedRecords();
  auto writer = OpenWriter();
  for (const std::string& record : records) ASSERT_TRUE(writer->Log(record).ok());
  EXPECT_EQ(ReadAll(), records);  // Also before the log is closed.
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(ReadAll(), records);
  EXPECT_FALSE(damage_.has_value());
}

TEST_P(WalTest, ABatchIsLoggedInOrder) {
  const std::vector<std::string> records = VariedRecords();
  const std::vector<std::string_view> views(records.begin(), records.end());
  auto writer = OpenWriter();
  ASSERT_TRUE(writer->Log(views).ok());
  EXPECT_EQ(ReadAll(), records);
}

TEST_P(WalTest, ANewWriterStartsANewSegment) {
  ASSERT_TRUE(OpenWriter()->Log("one").ok());
  auto writer = OpenWriter();
  EXPECT_EQ(writer->position(), (WalPosition{1, 0}));
  ASSERT_TRUE(writer->Log("two").ok());
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(ListWalSegments(&fs_, kDirectory).value(), (std::vector<uint64_t>{0, 1}));
}

TEST_P(WalTest, NoRecordCrossesASegmentAndNoSegmentIsTooLong) {
  auto writer = OpenWriter();
  for (const std::string& record : VariedRecords()) ASSERT_TRUE(writer->Log(record).ok());
  ASSERT_TRUE(writer->Close().ok());
  size_t num_records = 0;
  const std::vector<uint64_t> segments = ListWalSegments(&fs_, kDirectory).value();
  for (const uint64_t segment : segments) {
    EXPECT_LE(fs_.FileSize(SegmentPath(segment)).value(), Options().segment_bytes);
    EXPECT_EQ(fs_.FileSize(SegmentPath(segment)).value() % kWalPageBytes, 0u);
    auto reader = WalReader::OpenSegments(&fs_, kDirectory, segment, segment).value();
    while (reader->Next()) ++num_records;
    EXPECT_FALSE(reader->damage().has_value());
  }
  EXPECT_EQ(num_records, VariedRecords().size());
}

TEST_P(WalTest, ARecordLongerThanASegmentMakesALongerSegment) {
  std::string record(Options().segment_bytes * 2, '\0');
  uint32_t state = 1;
  for (char& byte : record) byte = static_cast<char>((state = state * 1664525 + 1) >> 24);
  auto writer = OpenWriter();
  ASSERT_TRUE(writer->Log("small").ok());
  ASSERT_TRUE(writer->Log(record).ok());
  ASSERT_TRUE(writer->Log("small").ok());
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"small", record, "small"}));
  EXPECT_EQ(ListWalSegments(&fs_, kDirectory).value(), (std::vector<uint64_t>{0, 1, 2}));
}

TEST_P(WalTest, StartSegmentAndRemovalOfOldOnes) {
  auto writer = OpenWriter();
  ASSERT_TRUE(writer->Log("zero").ok());
  EXPECT_EQ(writer->StartSegment().value(), 1u);
  ASSERT_TRUE(writer->Log("one").ok());
  EXPECT_EQ(writer->StartSegment().value(), 2u);
  ASSERT_TRUE(writer->Log("two").ok());
  ASSERT_TRUE(writer->RemoveSegmentsBefore(1).ok());
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"one", "two"}));
  // The segment being written is kept whatever is asked.
  ASSERT_TRUE(writer->RemoveSegmentsBefore(100).ok());
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"two"}));
}

TEST_P(WalTest, PositionsAreWhereRecordsEnd) {
  auto writer = OpenWriter();
  std::vector<WalPosition> positions;
  for (const std::string& record : VariedRecords()) {
    ASSERT_TRUE(writer->Log(record).ok());
    positions.push_back(writer->position());
  }
  auto reader = WalReader::Open(&fs_, kDirectory).value();
  for (const WalPosition& position : positions) {
    ASSERT_TRUE(reader->Next());
    EXPECT_EQ(reader->position().segment, position.segment);
    // Full pages are filled at once, which the reader does not count to the record.
    EXPECT_LE(reader->position().offset, position.offset);
    EXPECT_LT(position.offset - reader->position().offset, 7u);
  }
}

TEST_P(WalTest, AClosedWriterRefusesRecords) {
  auto writer = OpenWriter();
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(writer->Log("x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer->Recover().code(), absl::StatusCode::kFailedPrecondition);
}

// Whatever a crash left of the last segment: the records before are read, the rest is damage, and
// repair makes a clean log of what was read.
TEST_P(WalTest, ATailTornAtAnyByteIsReportedAndRepaired) {
  auto writer = OpenWriter();
  const std::vector<std::string> records = {"first", std::string(40, 'x'), "", "last"};
  std::vector<uint64_t> ends = {0};
  for (const std::string& record : records) {
    ASSERT_TRUE(writer->Log(record).ok());
    ends.push_back(writer->position().offset);
  }
  const std::string whole = fs_.ReadFile(SegmentPath(0)).value();
  for (size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    Overwrite(0, std::string_view(whole).substr(0, size));
    size_t num_whole = 0;
    while (num_whole < records.size() && ends[num_whole + 1] <= size) ++num_whole;
    const std::vector<std::string> want(records.begin(),
                                        records.begin() + static_cast<ptrdiff_t>(num_whole));
    EXPECT_EQ(ReadAll(), want);
    const bool clean = size == ends[num_whole];
    ASSERT_EQ(damage_.has_value(), !clean);
    if (clean) continue;
    EXPECT_EQ(damage_->position, (WalPosition{0, ends[num_whole]}));
    EXPECT_EQ(damage_->reason, "last record is torn");
    ASSERT_TRUE(RepairWal(&fs_, kDirectory, *damage_).ok());
    EXPECT_EQ(ReadAll(), want);
    EXPECT_FALSE(damage_.has_value());
  }
}

TEST_P(WalTest, AFlippedBitEndsTheLogBeforeItsRecord) {
  auto writer = OpenWriter();
  const std::vector<std::string> records = {"first", std::string(40, 'x'), "last"};
  for (const std::string& record : records) ASSERT_TRUE(writer->Log(record).ok());
  const uint64_t end = writer->position().offset;
  ASSERT_TRUE(writer->Close().ok());
  const std::string whole = fs_.ReadFile(SegmentPath(0)).value();
  for (size_t bit = 0; bit < end * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    Overwrite(0, flipped);
    const std::vector<std::string> got = ReadAll();
    // The type byte is not covered by the checksum: a changed compression bit may give another
    // text, and a zero type an early end. Everything else is noticed.
    ASSERT_LE(got.size(), records.size());
    if (!damage_.has_value()) continue;
    EXPECT_FALSE(damage_->in_checkpoint);
    ASSERT_TRUE(RepairWal(&fs_, kDirectory, *damage_).ok());
    EXPECT_EQ(ReadAll(), got);
    EXPECT_FALSE(damage_.has_value());
  }
}

TEST_P(WalTest, DamageInAnOlderSegmentTakesTheLaterOnesWithIt) {
  auto writer = OpenWriter();
  ASSERT_TRUE(writer->Log("zero").ok());
  ASSERT_TRUE(writer->Log("lost").ok());
  ASSERT_TRUE(writer->StartSegment().ok());
  ASSERT_TRUE(writer->Log("lost too").ok());
  ASSERT_TRUE(writer->StartSegment().ok());
  std::string bytes = fs_.ReadFile(SegmentPath(0)).value();
  bytes[4 + 7 + 7] ^= 1;  // The payload of the second record.
  Overwrite(0, bytes);
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"zero"}));
  ASSERT_TRUE(damage_.has_value());
  EXPECT_EQ(damage_->position, (WalPosition{0, 11}));
  EXPECT_EQ(damage_->reason, "bad crc");
  ASSERT_TRUE(RepairWal(&fs_, kDirectory, *damage_).ok());
  EXPECT_EQ(ListWalSegments(&fs_, kDirectory).value(), (std::vector<uint64_t>{0}));
  ASSERT_TRUE(OpenWriter()->Log("new").ok());
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"zero", "new"}));
}

TEST_P(WalTest, ANonZeroByteInAPadIsDamage) {
  auto writer = OpenWriter();
  ASSERT_TRUE(writer->Log("zero").ok());
  ASSERT_TRUE(writer->Close().ok());
  std::string bytes = fs_.ReadFile(SegmentPath(0)).value();
  bytes.back() = 1;
  Overwrite(0, bytes);
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"zero"}));
  ASSERT_TRUE(damage_.has_value());
  EXPECT_EQ(damage_->reason, "unexpected non-zero byte in padded page");
}

TEST_P(WalTest, ACheckpointStandsForTheSegmentsUpToItsNumber) {
  auto writer = OpenWriter();
  for (const char* record : {"zero", "one", "two"}) {
    ASSERT_TRUE(writer->Log(record).ok());
    ASSERT_TRUE(writer->StartSegment().ok());
  }
  for (const char* name :
       {"checkpoint.00000000", "checkpoint.00000001", "checkpoint.00000002.tmp"}) {
    WalWriterOptions options = Options();
    options.directory = base::StrCat(kDirectory, "/", name);
    auto checkpoint = WalWriter::Open(options, &fs_).value();
    ASSERT_TRUE(checkpoint->Log(name).ok());
    ASSERT_TRUE(checkpoint->Close().ok());
  }
  EXPECT_EQ(FindLastCheckpoint(&fs_, kDirectory).value()->last_segment, 1u);
  EXPECT_EQ(ReadAll(), (std::vector<std::string>{"checkpoint.00000001", "two"}));
  auto reader = WalReader::Open(&fs_, kDirectory).value();
  ASSERT_TRUE(reader->Next());
  EXPECT_TRUE(reader->in_checkpoint());
  ASSERT_TRUE(reader->Next());
  EXPECT_FALSE(reader->in_checkpoint());
  EXPECT_EQ(reader->position().segment, 2u);
}

TEST_P(WalTest, MissingSegmentsAreDataLoss) {
  auto writer = OpenWriter();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->StartSegment().ok());
  ASSERT_TRUE(fs_.Remove(SegmentPath(1)).ok());
  const absl::Status status = WalReader::Open(&fs_, kDirectory).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(base::Message(status).find("segments are not sequential"), std::string_view::npos);
}

TEST_P(WalTest, AMissingDirectoryIsAnEmptyLog) { EXPECT_TRUE(ReadAll().empty()); }

// The same records through Prometheus's own writer gave segments of these checksums; compressed
// ones depend on the library, so only the framing of uncompressed ones is compared.
TEST(WalFormatTest, SegmentsAreByteForBytePrometheuss) {
  support::FaultFs fs;
  WalWriterOptions options;
  options.directory = kDirectory;
  options.segment_bytes = 4 * kWalPageBytes;
  options.compression = WalCompression::kNone;
  auto writer = WalWriter::Open(options, &fs).value();
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  for (int i = 0; i < 40; ++i) {
    size_t size = (next() >> 8) % 9000;
    if (i % 7 == 0) size *= 10;
    if (i == 5) size = 32768 - 7;
    if (i == 6) size = 0;
    std::string record(size, '\0');
    for (char& byte : record) byte = static_cast<char>(next() >> 24);
    ASSERT_TRUE(writer->Log(record).ok());
  }
  ASSERT_TRUE(writer->Close().ok());
  std::vector<uint32_t> checksums;
  const std::vector<uint64_t> segments = ListWalSegments(&fs, kDirectory).value();
  for (const uint64_t segment : segments) {
    checksums.push_back(base::Crc32c(fs.ReadFile(SegmentPath(segment)).value()));
  }
  EXPECT_EQ(checksums,
            (std::vector<uint32_t>{0x24cb2042, 0x2a60020b, 0x220d1630, 0xec2f0a3e, 0x7ba3a4d6}));
}

// The worked example of docs/format/wal.md.
TEST(WalFormatTest, TheDocumentedExampleHasTheDocumentedBytes) {
  support::FaultFs fs;
  WalWriterOptions options;
  options.directory = kDirectory;
  options.compression = WalCompression::kNone;
  auto writer = WalWriter::Open(options, &fs).value();
  ASSERT_TRUE(writer->Log(Unhex("01000000000000000101085f5f6e616d655f5f027570")).ok());
  EXPECT_EQ(Hex(fs.ReadFile(SegmentPath(0)).value()),
            "010016"
            "391994f3"
            "01000000000000000101085f5f6e616d655f5f027570");
}

TEST(WalFormatTest, ASegmentSizeThatIsNoMultipleOfThePageIsRefused) {
  support::FaultFs fs;
  WalWriterOptions options;
  options.directory = kDirectory;
  options.segment_bytes = kWalPageBytes + 1;
  EXPECT_EQ(WalWriter::Open(options, &fs).status().code(), absl::StatusCode::kInvalidArgument);
}

// Claims of gigabytes in a few bytes of snappy.
TEST(WalFormatTest, AClaimedLengthBeyondReasonIsDamage) {
  support::FaultFs fs;
  ASSERT_TRUE(fs.CreateDirectories(kDirectory).ok());
  const std::string payload = Unhex("ffffffff0700");
  std::string segment = Unhex("090006");
  base::AppendU32(&segment, base::Crc32c(payload));
  ASSERT_TRUE(fs.Create(SegmentPath(0)).value()->Append(segment + payload).ok());
  auto reader = WalReader::Open(&fs, kDirectory).value();
  EXPECT_FALSE(reader->Next());
  ASSERT_TRUE(reader->damage().has_value());
  EXPECT_EQ(reader->damage()->reason, "record does not decompress");
  EXPECT_EQ(reader->damage()->position, (WalPosition{0, 0}));
}

}  // namespace
}  // namespace narthex::disk
