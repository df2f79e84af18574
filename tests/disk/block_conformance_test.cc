// Blocks that Prometheus wrote: read, and written again byte for byte.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "narthex/base/bytes.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/disk/block.h"
#include "tests/disk/block_copy.h"
#include "tests/support/conformance.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

namespace files = std::filesystem;

// All directories with a meta.json below the recorded data.
std::vector<std::string> RecordedBlocks() {
  std::vector<std::string> found;
  const std::string root = support::ConformanceDirectory();
  if (root.empty()) return found;
  for (const auto& entry : files::recursive_directory_iterator(root + "/tsdb")) {
    if (entry.path().filename() == "meta.json") found.push_back(entry.path().parent_path());
  }
  return found;
}

// Written by versions before 3.
bool IsOld(const std::string& directory) {
  return directory.find("index_format_v1") != std::string::npos ||
         directory.find("blocks-other") != std::string::npos;
}

// Where the sections of an index begin: symbols, series, label indices and their table, postings
// and their table.
std::array<uint64_t, 6> Contents(std::string_view index) {
  base::Reader reader(index.substr(index.size() - 52));
  std::array<uint64_t, 6> contents = {};
  for (uint64_t& place : contents) place = reader.U64();
  return contents;
}

// Prometheus 3.5 wrote label indices too, which later ones do not; all else is the same, except
// that what comes after them lies further back.
void ExpectSameSections(std::string_view mine, std::string_view recorded) {
  const std::array<uint64_t, 6> of_mine = Contents(mine);
  const std::array<uint64_t, 6> of_recorded = Contents(recorded);
  ASSERT_EQ(of_mine[2], of_recorded[2]);
  EXPECT_TRUE(mine.substr(0, of_mine[2]) == recorded.substr(0, of_recorded[2]));
  const uint64_t my_postings = (of_mine[4] + 3) / 4 * 4;
  const uint64_t recorded_postings = (of_recorded[4] + 3) / 4 * 4;
  EXPECT_TRUE(mine.substr(my_postings, of_mine[5] - my_postings) ==
              recorded.substr(recorded_postings, of_recorded[3] - recorded_postings));
  base::Reader my_table(mine.substr(of_mine[5] + 4));
  base::Reader recorded_table(recorded.substr(of_recorded[5] + 4));
  const uint32_t num_entries = my_table.U32();
  ASSERT_EQ(num_entries, recorded_table.U32());
  for (uint32_t i = 0; i < num_entries; ++i) {
    EXPECT_EQ(my_table.Uvarint(), recorded_table.Uvarint());
    EXPECT_EQ(my_table.LengthPrefixed(), recorded_table.LengthPrefixed());
    EXPECT_EQ(my_table.LengthPrefixed(), recorded_table.LengthPrefixed());
    EXPECT_EQ(my_table.Uvarint() - my_postings, recorded_table.Uvarint() - recorded_postings);
  }
}

size_t CountSamples(const BlockChunk& chunk) {
  if (codec::IsFloatEncoding(chunk.encoding)) {
    codec::FloatColumns columns;
    EXPECT_TRUE(codec::DecodeFloatChunk(chunk.encoding, chunk.bytes, &columns).ok());
    return columns.times_ms.size();
  }
  codec::HistogramColumns columns;
  EXPECT_TRUE(codec::DecodeHistogramChunk(chunk.encoding, chunk.bytes,
                                          model::HistogramDetail::kFull, &columns)
                  .ok());
  return columns.times_ms.size();
}

TEST(BlockConformanceTest, EveryRecordedBlockHasWhatItsMetaSays) {
  const std::vector<std::string> blocks = RecordedBlocks();
  if (blocks.empty()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  size_t num_read = 0;
  for (const std::string& directory : blocks) {
    SCOPED_TRACE(directory);
    const auto block = Block::Open(&base::PosixFs(), directory);
    if (directory.find("repair_index_version") != std::string::npos) {
      // The directory that Prometheus's tests call damaged: no known version.
      EXPECT_EQ(block.status().code(), absl::StatusCode::kDataLoss) << block.status();
      continue;
    }
    ASSERT_TRUE(block.ok()) << block.status();
    ++num_read;
    const BlockIndex& index = (*block)->index();
    size_t num_series = 0, num_chunks = 0, num_samples = 0;
    SeriesEntry entry;
    for (PostingsCursor all = index.AllSeries().value(); !all.done(); all.Next(), ++num_series) {
      ASSERT_TRUE(index.ReadSeries(all.ref(), &entry).ok());
      for (const ChunkMeta& meta : entry.chunks) {
        const auto chunk = (*block)->chunks().Get(meta.ref);
        ASSERT_TRUE(chunk.ok()) << chunk.status();
        num_samples += CountSamples(*chunk);
        ++num_chunks;
      }
      for (const model::SymbolLabel& label : entry.labels) {
        EXPECT_EQ(index.Find(index.Text(label.value)), label.value);
        const auto place = index.FindList(index.Text(label.name), index.Text(label.value)).value();
        ASSERT_TRUE(place.has_value());
        PostingsCursor list = index.List(*place).value();
        list.Seek(all.ref());
        ASSERT_FALSE(list.done());
        EXPECT_EQ(list.ref(), all.ref());
      }
    }
    EXPECT_EQ(num_series, (*block)->meta().stats.num_series);
    EXPECT_EQ(num_chunks, (*block)->meta().stats.num_chunks);
    EXPECT_EQ(num_samples, (*block)->meta().stats.num_samples);
  }
  EXPECT_GT(num_read, 3u);
}

TEST(BlockConformanceTest, ACopyHasTheSameBytes) {
  const std::vector<std::string> blocks = RecordedBlocks();
  if (blocks.empty()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is not set";
  for (const std::string& directory : blocks) {
    SCOPED_TRACE(directory);
    const auto block = Block::Open(&base::PosixFs(), directory);
    if (!block.ok()) continue;  // The test above knows why.
    support::FaultFs fs;
    ASSERT_TRUE(fs.CreateDirectories("data").ok());
    const auto meta =
        CopyBlock(**block, {.parent_directory = "data", .ulid = (*block)->meta().ulid}, &fs);
    ASSERT_TRUE(meta.ok()) << meta.status();
    const std::string copy = "data/" + (*block)->meta().ulid.ToString();
    const auto of_copy = [&](const char* name) { return fs.ReadFile(copy + name).value(); };
    const auto recorded = [&](const char* name) {
      return base::PosixFs().ReadFile(directory + name).value();
    };
    EXPECT_TRUE(of_copy("/chunks/000001") == recorded("/chunks/000001"));
    EXPECT_EQ(FormatTombstones(ReadTombstones(&fs, copy).value()),
              FormatTombstones((*block)->tombstones()));
    if (IsOld(directory)) continue;
    EXPECT_EQ(FormatBlockMeta((*block)->meta()), recorded("/meta.json"));
    ExpectSameSections(of_copy("/index"), recorded("/index"));
  }
}

}  // namespace
}  // namespace narthex::disk
