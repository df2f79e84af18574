#include "narthex/disk/block.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/disk/block_copy.h"
#include "tests/disk/block_fixture.h"
#include "tests/disk/hex.h"

namespace narthex::disk {
namespace {

class BlockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDirectories("data").ok());
    ASSERT_TRUE(WriteSmallBlock(&fs_).ok());
  }
  absl::StatusOr<std::shared_ptr<const Block>> Open() {
    return Block::Open(&fs_, SmallBlockDirectory());
  }
  std::string Path(const char* name) { return SmallBlockDirectory() + "/" + name; }

  // Every file cut at every byte, or with a flipped bit in every byte, reads as an error or, where
  // bytes say nothing (padding), as the same.
  template <typename Break>
  void BreakFile(const char* name, Break broken) {
    const std::string bytes = fs_.ReadFile(Path(name)).value();
    for (size_t i = 0; i < bytes.size(); ++i) {
      SCOPED_TRACE(i);
      Replace(&fs_, Path(name), broken(bytes, i));
      const auto block = Open();
      const absl::Status status = block.ok() ? ReadEverything(**block) : block.status();
      if (!status.ok()) {
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
        EXPECT_NE(base::Message(status).find(name), std::string_view::npos) << status;
      }
    }
    Replace(&fs_, Path(name), bytes);
  }

  support::FaultFs fs_;
};

TEST_F(BlockTest, WhatIsWrittenIsRead) {
  const auto block = Open();
  ASSERT_TRUE(block.ok()) << block.status();
  const BlockIndex& index = (*block)->index();
  EXPECT_EQ(index.version(), 2);
  EXPECT_EQ(index.LabelNames(), (std::vector<std::string_view>{"__name__", "job"}));
  Refs refs;
  ASSERT_TRUE(index.AppendAll(&refs).ok());
  ASSERT_EQ(refs.size(), 2u);
  SeriesEntry entry;
  ASSERT_TRUE(index.ReadSeries(refs[0], &entry).ok());
  EXPECT_EQ(index.Text(entry.labels[1].value), "a");
  ASSERT_EQ(entry.chunks.size(), 2u);
  EXPECT_EQ(entry.chunks[1].min_time_ms, 60);
  EXPECT_EQ(entry.chunks[1].max_time_ms, 90);
  EXPECT_EQ((*block)->chunks().Get(entry.chunks[1].ref).value().bytes, SmallChunk());
  EXPECT_EQ((*block)->meta().stats.num_samples, 9u);
  EXPECT_EQ((*block)->meta().stats.num_chunks, 3u);
  EXPECT_FALSE(index.FindList("job", "c").value().has_value());
  EXPECT_FALSE(index.Find("nobody").has_value());
}

// Pins the formats: docs/format/index.md and chunks-segments.md explain the bytes.
TEST_F(BlockTest, FilesHaveTheDocumentedBytes) {
  EXPECT_EQ(Hex(fs_.ReadFile(Path("chunks/000001")).value().substr(0, 30)),
            "85bd40dd01000000"
            "100100031e3ff00000000000000f309bffd0b1dc2da5");
  EXPECT_EQ(Hex(fs_.ReadFile(Path("index")).value()),
            "baaad70002"
            "000000190000000600085f5f6e616d655f5f01610162036a6f620275709d4add99"
            "00000000000000000000"
            "0c0201050402021e1e080f1e2ca52c2a43"
            "000000000000000000000000000000"
            "090201050403011e1e34500d033a"
            "0000"
            "0000000c000000020000000300000005bb33cbd4"
            "0000000c000000020000000300000005bb33cbd4"
            "000000080000000100000003a7692ed2"
            "00000008000000010000000581c8c93a"
            "00000028000000040200006002085f5f6e616d655f5f0275707402036a6f620161880102036a6f62016298"
            "01675899e0"
            "00000000000000050000000000000026000000000000005e00000000000000a8000000000000005e"
            "00000000000000a841516fdd");
}

TEST_F(BlockTest, AFileCutAtAnyByteIsAnErrorOrReads) {
  const auto cut = [](const std::string& bytes, size_t i) { return bytes.substr(0, i); };
  for (const char* const name : {"index", "chunks/000001", "tombstones", "meta.json"}) {
    BreakFile(name, cut);
  }
}

TEST_F(BlockTest, AFlippedBitInAnyByteIsAnErrorOrReads) {
  for (int bit = 0; bit < 8; ++bit) {
    const auto flip = [bit](std::string bytes, size_t i) {
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      return bytes;
    };
    for (const char* const name : {"index", "chunks/000001", "tombstones"}) BreakFile(name, flip);
  }
}

TEST_F(BlockTest, AnUnknownVersionIsNamedWithItsFile) {
  std::string bytes = fs_.ReadFile(Path("index")).value();
  bytes[4] = 9;
  Replace(&fs_, Path("index"), bytes);
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(base::Message(status).find("unknown version 9: " + Path("index")),
            std::string_view::npos)
      << status;
}

TEST_F(BlockTest, VersionThreeReadsAsVersionTwo) {
  std::string bytes = fs_.ReadFile(Path("index")).value();
  bytes[4] = 3;
  Replace(&fs_, Path("index"), bytes);
  const auto block = Open();
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_TRUE(ReadEverything(**block).ok());
}

TEST_F(BlockTest, TombstonesAreReplacedOverTheSameMappings) {
  const auto block = Open().value();
  Tombstones tombstones;
  tombstones.Add(3, {10, 20});
  const auto next = block->ReplaceTombstones(tombstones);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_TRUE(block->tombstones().empty());
  EXPECT_EQ(&(*next)->index(), &block->index());
  const auto reopened = Open().value();
  EXPECT_EQ(reopened->meta().stats.num_tombstones, 1u);
  EXPECT_EQ(FormatTombstones(reopened->tombstones()), FormatTombstones(tombstones));
}

TEST_F(BlockTest, ARemovedBlockIsGoneAndReadersGoOn) {
  const auto block = Open().value();
  ASSERT_TRUE(RemoveBlock(&fs_, SmallBlockDirectory()).ok());
  EXPECT_TRUE(fs_.List("data").value().empty());
  EXPECT_TRUE(ReadEverything(*block).ok());
}

TEST(BlockWriterTest, WhateverBreaksTheBlockIsThereWholeOrNotAtAll) {
  support::FaultFs dry;
  ASSERT_TRUE(dry.CreateDirectories("data").ok());
  const uint64_t before = dry.num_operations();
  ASSERT_TRUE(WriteSmallBlock(&dry).ok());
  const uint64_t num_operations = dry.num_operations() - before;
  for (const support::Fault fault :
       {support::Fault::kFail, support::Fault::kCut, support::Fault::kDie}) {
    for (uint64_t k = 0; k < num_operations; ++k) {
      SCOPED_TRACE(k);
      support::FaultFs fs;
      ASSERT_TRUE(fs.CreateDirectories("data").ok());
      ASSERT_TRUE(fs.SyncDirectory("data").ok());
      fs.Arm(k, fault);
      const absl::Status written = WriteSmallBlock(&fs);
      fs.LosePower();
      const auto block = Block::Open(&fs, SmallBlockDirectory());
      if (written.ok()) {
        ASSERT_TRUE(block.ok()) << block.status();
      }
      if (block.ok()) {
        EXPECT_TRUE(ReadEverything(**block).ok());
      }
      if (!block.ok()) {
        EXPECT_EQ(block.status().code(), absl::StatusCode::kNotFound);
      }
    }
  }
}

TEST(BlockWriterTest, WhatIsOutOfOrderIsRefused) {
  support::FaultFs fs;
  BlockWriterOptions options;
  options.parent_directory = "data";
  options.ulid = kSmallUlid;
  const auto writer = BlockWriter::Create(options, &fs).value();
  ASSERT_TRUE(writer->AddSymbol("a").ok());
  ASSERT_TRUE(writer->AddSymbol("b").ok());
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(writer->AddSymbol("b").status().code(), invalid);
  const std::string chunk = SmallChunk();
  const auto encoding = codec::ChunkEncoding::kXor;
  const auto add = [&](std::vector<model::SymbolLabel> labels, std::vector<ChunkToWrite> chunks) {
    return writer->AddSeries(labels, chunks).code();
  };
  EXPECT_EQ(add({{0, 1}}, {{15, 45, encoding, chunk}, {45, 60, encoding, chunk}}), invalid);
  EXPECT_EQ(add({{0, 1}}, {{45, 15, encoding, chunk}}), invalid);
  EXPECT_EQ(add({{0, 2}}, {}), invalid);
  EXPECT_EQ(add({{1, 0}, {0, 1}}, {}), invalid);
  EXPECT_EQ(add({{0, 1}}, {{15, 45, encoding, chunk}}), absl::StatusCode::kOk);
  EXPECT_EQ(add({{0, 1}}, {{15, 45, encoding, chunk}}), invalid);
  EXPECT_EQ(writer->AddSymbol("c").status().code(), invalid);
}

// Values beyond the sampling, lists in small batches, segments of few chunks.
TEST(BlockWriterTest, ManySeriesInManyBatchesAndSegments) {
  support::FaultFs fs;
  constexpr uint32_t kNumValues = 500;
  BlockWriterOptions options;
  options.parent_directory = "data";
  options.ulid = kSmallUlid;
  options.postings_batch_entries = 10;
  options.segment_bytes = 200;
  const auto writer = BlockWriter::Create(options, &fs).value();
  const auto value = [](uint32_t i) { return std::to_string(100000 + i); };
  for (uint32_t i = 0; i < kNumValues; ++i) ASSERT_TRUE(writer->AddSymbol(value(i)).ok());
  ASSERT_TRUE(writer->AddSymbol("a").ok());
  ASSERT_TRUE(writer->AddSymbol("b").ok());
  const std::string chunk = SmallChunk();
  for (uint32_t i = 0; i < kNumValues; ++i) {
    const std::vector<model::SymbolLabel> labels = {{kNumValues, i / 7}, {kNumValues + 1, i}};
    const std::vector<ChunkToWrite> chunks = {{15, 45, codec::ChunkEncoding::kXor, chunk}};
    ASSERT_TRUE(writer->AddSeries(labels, chunks).ok());
  }
  ASSERT_TRUE(writer->Finish({}).ok());
  const auto block = Block::Open(&fs, SmallBlockDirectory()).value();
  EXPECT_GT(block->chunks().num_segments(), 50u);
  EXPECT_TRUE(ReadEverything(*block).ok());
  const BlockIndex& index = block->index();
  for (uint32_t i = 0; i < kNumValues; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(index.Find(value(i)), i);
    const auto place = index.FindList("b", value(i)).value();
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(index.CountOf(*place), 1u);
    EXPECT_EQ(index.List(*place).value().num_left(), 1u);
  }
  EXPECT_FALSE(index.FindList("b", "0").value().has_value());
  EXPECT_FALSE(index.FindList("b", "100000x").value().has_value());
  EXPECT_FALSE(index.FindList("b", "z").value().has_value());
  size_t num_values = 0;
  ASSERT_TRUE(index.ForEachValue("a", [&](std::string_view, uint64_t) { ++num_values; }).ok());
  EXPECT_EQ(num_values, (kNumValues + 6) / 7);
}

}  // namespace
}  // namespace narthex::disk
