#include "narthex/disk/head_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "tests/disk/hex.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

constexpr char kDirectory[] = "data/chunks_head";

// A chunk told apart by its number; its bytes live with it.
struct OwnedChunk {
  explicit OwnedChunk(uint64_t number) {
    const std::vector<int64_t> times = {static_cast<int64_t>(number * 1000),
                                        static_cast<int64_t>(number * 1000 + 999)};
    std::vector<double> values = {1.5 * static_cast<double>(number), 2};
    codec::EncodeXorChunk(times, values, &bytes);
    chunk.series = number % 7 + 1;
    chunk.min_time_ms = times.front();
    chunk.max_time_ms = times.back();
    chunk.is_out_of_order = number % 3 == 0;
    chunk.bytes = bytes;
  }
  OwnedChunk(const OwnedChunk&) = delete;
  std::string bytes;
  HeadChunk chunk;
};

std::string Describe(const HeadChunk& chunk) {
  return base::StrCat("series=", chunk.series, " ", chunk.min_time_ms, "..", chunk.max_time_ms,
                      " encoding=", static_cast<int>(chunk.encoding),
                      chunk.is_out_of_order ? " ooo " : " ", Hex(chunk.bytes));
}

std::string Described(uint64_t number) { return Describe(OwnedChunk(number).chunk); }

using Found = std::vector<std::pair<HeadChunkRef, std::string>>;

class HeadChunksTest : public testing::Test {
 protected:
  static HeadChunkFilesOptions Options() {
    HeadChunkFilesOptions options;
    options.directory = kDirectory;
    options.file_bytes = 800;
    options.buffer_bytes = 200;
    return options;
  }
  // Opens the files; what they hold goes to `found_`.
  void Open(HeadChunkFilesOptions options = Options()) {
    found_.clear();
    auto files = HeadChunkFiles::Open(std::move(options), &fs_,
                                      [&](HeadChunkRef ref, const HeadChunk& chunk) {
                                        found_.emplace_back(ref, Describe(chunk));
                                        return true;
                                      });
    ASSERT_TRUE(files.ok()) << files.status();
    files_ = std::move(*files);
  }
  HeadChunkRef Write(uint64_t number) {
    const OwnedChunk owned(number);
    const auto ref = files_->Write(owned.chunk);
    EXPECT_TRUE(ref.ok()) << ref.status();
    return ref.value_or(HeadChunkRef());
  }
  std::string Get(HeadChunkRef ref) { return Get(files_.get(), ref); }
  static std::string Get(const HeadChunkFiles* files, HeadChunkRef ref) {
    HeadChunkReader reader(files);
    const auto chunk = reader.Get(ref);
    return chunk.ok() ? Describe(*chunk) : std::string(base::Message(chunk.status()));
  }
  static std::string Path(uint32_t file) { return base::StrCat(kDirectory, "/00000", file); }
  void Overwrite(uint32_t file, std::string_view bytes) {
    ASSERT_TRUE(fs_.CreateDirectories(kDirectory).ok());
    ASSERT_TRUE(fs_.Create(Path(file)).value()->Append(bytes).ok());
  }

  support::FaultFs fs_;
  std::unique_ptr<HeadChunkFiles> files_;
  Found found_;
};

// Pins the format.
TEST_F(HeadChunksTest, AFileHasTheDocumentedBytes) {
  Open();
  std::string bytes;
  codec::EncodeXorChunk(std::vector<int64_t>{15, 30, 45}, std::vector<double>{1, 1, 2.5}, &bytes);
  HeadChunk chunk;
  chunk.series = 5;
  chunk.min_time_ms = 15;
  chunk.max_time_ms = 45;
  chunk.bytes = bytes;
  EXPECT_EQ(files_->Write(chunk).value().packed(), 0x100000008);
  chunk.is_out_of_order = true;
  EXPECT_EQ(files_->Write(chunk).value().packed(), 0x100000036);
  ASSERT_TRUE(files_->Close().ok());
  EXPECT_EQ(Hex(fs_.ReadFile(Path(1)).value()),
            "0130bc9101000000"
            "0000000000000005000000000000000f000000000000002d"
            "011000031e3ff00000000000000f309bffd095382152"
            "0000000000000005000000000000000f000000000000002d"
            "811000031e3ff00000000000000f309bffd0383c7405");
}

TEST_F(HeadChunksTest, NothingIsWrittenBeforeTheFirstChunk) {
  Open();
  EXPECT_TRUE(fs_.List(kDirectory).value().empty());
  ASSERT_TRUE(files_->Flush().ok());
  ASSERT_TRUE(files_->Close().ok());
  EXPECT_TRUE(fs_.List(kDirectory).value().empty());
}

TEST_F(HeadChunksTest, AChunkIsReadableAtOnceAndAfterEveryStep) {
  Open();
  Found written;
  HeadChunkReader reader(files_.get());
  for (uint64_t i = 0; i < 60; ++i) {
    written.emplace_back(Write(i), Described(i));
    for (const auto& [ref, text] : written) {
      const auto chunk = reader.Get(ref);
      ASSERT_TRUE(chunk.ok()) << chunk.status();
      EXPECT_EQ(Describe(*chunk), text);
    }
  }
  EXPECT_GT(written.back().first.file, 2U);
  EXPECT_TRUE(std::is_sorted(written.begin(), written.end()));
  for (const auto& [ref, text] : written) EXPECT_EQ(Get(ref), text);
  ASSERT_TRUE(files_->Close().ok());
  for (const auto& [ref, text] : written) EXPECT_EQ(Get(ref), text);
  Open();
  EXPECT_EQ(found_, written);
  EXPECT_FALSE(files_->damage().has_value());
  for (const auto& [ref, text] : written) EXPECT_EQ(Get(ref), text);
  files_->DropMappings();
  for (const auto& [ref, text] : written) EXPECT_EQ(Get(ref), text);
  EXPECT_EQ(Write(60).file, written.back().first.file + 1);
}

TEST_F(HeadChunksTest, FilesKeepTheirLimit) {
  Open();
  for (uint64_t i = 0; i < 60; ++i) Write(i);
  const uint64_t num_bytes = files_->num_bytes();
  ASSERT_TRUE(files_->Close().ok());
  uint64_t sum = 0;
  const std::vector<std::string> names = fs_.List(kDirectory).value();
  for (const std::string& name : names) {
    const uint64_t size = fs_.FileSize(base::StrCat(kDirectory, "/", name)).value();
    EXPECT_LE(size, 800U);
    sum += size;
  }
  EXPECT_EQ(sum, num_bytes);
  EXPECT_EQ(files_->num_bytes(), num_bytes);
}

TEST_F(HeadChunksTest, AChunkLongerThanTheBufferIsWrittenAndOneLongerThanAFileIsNot) {
  Open();
  const HeadChunkRef small = Write(1);
  OwnedChunk owned(2);
  owned.bytes.append(500, 'x');
  owned.chunk.bytes = owned.bytes;
  const HeadChunkRef large = files_->Write(owned.chunk).value();
  EXPECT_EQ(Get(large), Describe(owned.chunk));
  EXPECT_EQ(Get(small), Described(1));
  owned.bytes.append(300, 'x');
  owned.chunk.bytes = owned.bytes;
  EXPECT_EQ(files_->Write(owned.chunk).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Get(Write(3)), Described(3));
}

TEST_F(HeadChunksTest, FlushedChunksOutliveTheProcess) {
  Open();
  const HeadChunkRef ref = Write(1);
  ASSERT_TRUE(files_->Flush().ok());
  Write(2);
  fs_.Restart();
  Open();
  EXPECT_EQ(found_, (Found{{ref, Described(1)}}));
}

TEST_F(HeadChunksTest, PlacesThatAreNoneAreErrors) {
  Open();
  const HeadChunkRef ref = Write(1);
  const auto code = [&](HeadChunkRef at) {
    HeadChunkReader reader(files_.get());
    return reader.Get(at).status().code();
  };
  EXPECT_EQ(code({0, 0}), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({2, 8}), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({1, 5000}), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({1, ref.offset + 1}), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(files_->Flush().ok());
  EXPECT_EQ(code({1, ref.offset + 1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code({1, 0}), absl::StatusCode::kDataLoss);
}

TEST_F(HeadChunksTest, OldFilesAreRemovedAndReadersKeepWhatTheySaw) {
  Open();
  Found written;
  for (uint64_t i = 0; i < 60; ++i) written.emplace_back(Write(i), Described(i));
  HeadChunkReader reader(files_.get());
  const HeadChunk seen = reader.Get(written[0].first).value();
  const HeadChunkRef middle = written[30].first;
  EXPECT_EQ(files_->FirstFileSince(30'999), middle.file);
  EXPECT_EQ(files_->FirstFileSince(1'000'000), written.back().first.file + 1);
  ASSERT_TRUE(files_->RemoveFilesBefore(middle.file).ok());
  EXPECT_EQ(Describe(seen), written[0].second);
  EXPECT_EQ(Describe(reader.Get(written[0].first).value()), written[0].second);
  EXPECT_EQ(Get(written[0].first), "head chunks: no such file: file=1");
  EXPECT_EQ(Get(middle), written[30].second);
  EXPECT_EQ(Write(60).file, written.back().first.file + 1) << "the current file was completed";
  ASSERT_TRUE(files_->RemoveFilesBefore(UINT32_MAX).ok());
  EXPECT_TRUE(fs_.List(kDirectory).value().empty());
  EXPECT_EQ(files_->num_bytes(), 0U);
  EXPECT_EQ(Write(61).file, written.back().first.file + 2) << "numbers are not used again";
  EXPECT_EQ(Get(files_->end()).substr(0, 27), "head chunks: beyond the end");
}

TEST_F(HeadChunksTest, WritesAfterCloseFail) {
  Open();
  Write(1);
  ASSERT_TRUE(files_->Close().ok());
  EXPECT_TRUE(files_->Close().ok());
  EXPECT_EQ(files_->Write(OwnedChunk(2).chunk).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(files_->Recover().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(HeadChunksTest, ZeroesEndAFile) {
  Open();
  const HeadChunkRef ref = Write(1);
  ASSERT_TRUE(files_->Close().ok());
  const std::string bytes = fs_.ReadFile(Path(1)).value();
  for (const size_t num_zeroes : {1, 20, 24, 33, 34, 200}) {
    SCOPED_TRACE(num_zeroes);
    Overwrite(1, bytes + std::string(num_zeroes, '\0'));
    Open();
    EXPECT_EQ(found_, (Found{{ref, Described(1)}}));
    EXPECT_FALSE(files_->damage().has_value());
    EXPECT_EQ(Get(ref), Described(1));
  }
}

TEST_F(HeadChunksTest, ALastFileThatWasNeverWrittenIsNoDamage) {
  const std::string header = Unhex("0130bc9101000000");
  for (const std::string& bytes :
       {std::string(), header.substr(0, 3), header.substr(0, 7), std::string(100, '\0')}) {
    Overwrite(1, header);
    Overwrite(2, bytes);
    Open();
    EXPECT_FALSE(files_->damage().has_value());
    EXPECT_EQ(fs_.List(kDirectory).value(), std::vector<std::string>{"000001"});
    EXPECT_EQ(Write(1).file, 2U);
    files_.reset();
  }
}

TEST_F(HeadChunksTest, AnotherFormatVersionIsRefused) {
  Overwrite(1, Unhex("0130bc9102000000"));
  const auto files =
      HeadChunkFiles::Open(Options(), &fs_, [](HeadChunkRef, const HeadChunk&) { return true; });
  EXPECT_EQ(files.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(base::Message(files.status()).find("data/chunks_head/000001"), std::string::npos);
  EXPECT_TRUE(fs_.Exists(Path(1)));
}

class DamagedHeadChunksTest : public HeadChunksTest {
 protected:
  void SetUp() override {
    Open();
    for (uint64_t i = 0; i < 60; ++i) written_.emplace_back(Write(i), Described(i));
    ASSERT_TRUE(files_->Close().ok());
    names_ = fs_.List(kDirectory).value();
    for (const std::string& name : names_) {
      contents_.push_back(fs_.ReadFile(base::StrCat(kDirectory, "/", name)).value());
    }
    ASSERT_GE(names_.size(), 4U);
  }
  void Restore() {
    files_.reset();
    ASSERT_TRUE(fs_.RemoveAll(kDirectory).ok());
    for (uint32_t i = 0; i < contents_.size(); ++i) Overwrite(i + 1, contents_[i]);
  }
  // What comes before a place.
  Found Before(HeadChunkRef place) const {
    Found before;
    for (const auto& one : written_) {
      if (one.first < place) before.push_back(one);
    }
    return before;
  }
  // After damage was cut off: the same chunks again, without damage, and new ones fit in.
  void ExpectRepaired() {
    const Found kept = found_;
    Open();
    EXPECT_FALSE(files_->damage().has_value());
    EXPECT_EQ(found_, kept);
    for (const auto& [ref, text] : kept) EXPECT_EQ(Get(ref), text);
    EXPECT_EQ(Get(Write(99)), Described(99));
  }

  Found written_;
  std::vector<std::string> names_, contents_;
};

TEST_F(DamagedHeadChunksTest, AFlippedBitInAnyByteCostsThatChunkAndLaterOnes) {
  for (size_t i = 0; i < contents_[1].size(); ++i) {
    SCOPED_TRACE(i);
    Restore();
    std::string bytes = contents_[1];
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    Overwrite(2, bytes);
    if (i == 4) continue;  // The version, which is refused.
    Open();
    if (i >= 5 && i < 8) {  // Padding, which nobody looks at.
      EXPECT_EQ(found_, written_);
      continue;
    }
    ASSERT_TRUE(files_->damage().has_value());
    const HeadChunkRef at = files_->damage()->at;
    EXPECT_EQ(at.file, 2U);
    EXPECT_LE(at.offset, i);
    EXPECT_GE(files_->damage()->num_files_removed, names_.size() - 2);
    EXPECT_EQ(found_, Before(at));
    ExpectRepaired();
  }
}

TEST_F(DamagedHeadChunksTest, ATornLastFileKeepsItsWholeChunks) {
  const auto last = static_cast<uint32_t>(contents_.size());
  for (uint32_t size = 0; size < contents_.back().size(); ++size) {
    SCOPED_TRACE(size);
    Restore();
    Overwrite(last, contents_.back().substr(0, size));
    Open();
    // The chunk that ends where the file does is whole, but not followed by the next one.
    HeadChunkRef end = {last, 0};
    for (const auto& [ref, text] : written_) {
      if (ref.file == last && ref.offset <= size) end = ref;
    }
    // A rest of zeroes is no damage.
    const bool is_whole = size <= 8 || contents_.back().substr(0, size).find_first_not_of(
                                           '\0', end.offset) == std::string::npos;
    EXPECT_EQ(files_->damage().has_value(), !is_whole);
    EXPECT_EQ(found_, Before(end));
    ExpectRepaired();
  }
}

TEST_F(DamagedHeadChunksTest, ATornFileBeforeTheLastTakesLaterFilesAway) {
  for (const uint32_t size : {0U, 4U, 8U, 24U, 30U, 400U}) {
    SCOPED_TRACE(size);
    Restore();
    Overwrite(2, contents_[1].substr(0, size));
    Open();
    if (size == 8) {  // As if nothing had been written to it.
      EXPECT_FALSE(files_->damage().has_value());
      continue;
    }
    ASSERT_TRUE(files_->damage().has_value());
    EXPECT_EQ(found_, Before(files_->damage()->at));
    EXPECT_EQ(files_->damage()->at.file, 2U);
    ExpectRepaired();
  }
}

TEST_F(DamagedHeadChunksTest, AHoleOfZeroesIsDamage) {
  const HeadChunkRef at = written_[30].first;
  std::string bytes = contents_[at.file - 1];
  std::fill_n(bytes.begin() + at.offset, 60, '\0');
  Overwrite(at.file, bytes);
  Open();
  EXPECT_EQ(files_->damage()->at, at);
  EXPECT_EQ(found_, Before(at));
  ExpectRepaired();
}

TEST_F(DamagedHeadChunksTest, AMissingFileTakesLaterFilesAway) {
  ASSERT_TRUE(fs_.Remove(Path(2)).ok());
  Open();
  ASSERT_TRUE(files_->damage().has_value());
  EXPECT_EQ(files_->damage()->reason, "files are not sequential");
  EXPECT_EQ(files_->damage()->at, (HeadChunkRef{3, 0}));
  EXPECT_EQ(found_, Before({2, 0}));
  EXPECT_EQ(fs_.List(kDirectory).value(), std::vector<std::string>{"000001"});
  ExpectRepaired();
}

TEST_F(DamagedHeadChunksTest, ARefusedChunkIsDamage) {
  size_t num_shown = 0;
  auto files = HeadChunkFiles::Open(
      Options(), &fs_, [&](HeadChunkRef, const HeadChunk&) { return ++num_shown < 31; });
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ((*files)->damage()->at, written_[30].first);
  files->reset();
  Open();
  EXPECT_EQ(found_, Before(written_[30].first));
}

TEST_F(DamagedHeadChunksTest, AnUnknownEncodingIsDamage) {
  Open();
  OwnedChunk owned(1);
  owned.chunk.encoding = static_cast<codec::ChunkEncoding>(7);
  const HeadChunkRef ref = files_->Write(owned.chunk).value();
  ASSERT_TRUE(files_->Close().ok());
  Open();
  EXPECT_EQ(files_->damage()->reason, "unknown chunk encoding");
  EXPECT_EQ(files_->damage()->at, ref);
  EXPECT_EQ(found_, written_);
}

}  // namespace
}  // namespace narthex::disk
