// Head chunk files under faults: the same scenario is broken at every operation in every way. What
// was given a place stays readable, and a restart finds a run of whole chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/disk/head_chunks.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

using support::Fault;
using support::FaultFs;

HeadChunkFilesOptions Options(std::string directory) {
  HeadChunkFilesOptions options;
  options.directory = std::move(directory);
  options.file_bytes = 2000;
  options.buffer_bytes = 300;
  return options;
}

std::string BytesOf(uint64_t number) {
  std::string bytes = base::StrCat("chunk ", number, " ");
  bytes.append(number * 37 % 90, static_cast<char>('a' + number % 26));
  return bytes;
}

absl::StatusOr<HeadChunkRef> Write(HeadChunkFiles* files, uint64_t number) {
  const std::string bytes = BytesOf(number);
  HeadChunk chunk;
  chunk.series = number + 1;
  chunk.min_time_ms = chunk.max_time_ms = static_cast<int64_t>(number);
  chunk.bytes = bytes;
  return files->Write(chunk);
}

using Written = std::vector<std::pair<uint64_t, HeadChunkRef>>;

void ExpectReadable(const HeadChunkFiles* files, const Written& written) {
  HeadChunkReader reader(files);
  for (const auto& [number, ref] : written) {
    const auto chunk = reader.Get(ref);
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    EXPECT_EQ(chunk->series, number + 1);
    EXPECT_EQ(chunk->bytes, BytesOf(number));
  }
}

std::unique_ptr<HeadChunkFiles> Reopen(base::Fs* fs, const std::string& directory, Written* found) {
  auto files =
      HeadChunkFiles::Open(Options(directory), fs, [&](HeadChunkRef ref, const HeadChunk& chunk) {
        EXPECT_EQ(chunk.bytes, BytesOf(chunk.series - 1));
        found->emplace_back(chunk.series - 1, ref);
        return true;
      });
  EXPECT_TRUE(files.ok()) << files.status();
  return files.ok() ? std::move(*files) : nullptr;
}

// Writes chunks, removing old files on the way, and gives up those that are refused; recovers
// before each chunk if need be. Returns what has a place and was not removed.
Written RunScenario(HeadChunkFiles* files) {
  Written written;
  for (uint64_t i = 0; i < 80; ++i) {
    if (files->poisoned()) base::IgnoreError(files->Recover(), "tried again at the next chunk");
    if (const auto ref = Write(files, i); ref.ok()) written.emplace_back(i, *ref);
    if (i % 10 == 9) base::IgnoreError(files->Flush(), "poisons");
    if (i == 50 && !written.empty()) {
      const uint32_t first_kept = written[written.size() / 2].second.file;
      base::IgnoreError(files->RemoveFilesBefore(first_kept), "what is left is left");
      std::erase_if(written, [&](const auto& one) { return one.second.file < first_kept; });
    }
  }
  return written;
}

class HeadChunksFaultTest : public testing::TestWithParam<Fault> {};

INSTANTIATE_TEST_SUITE_P(Faults, HeadChunksFaultTest,
                         testing::Values(Fault::kFail, Fault::kCut, Fault::kDie));

TEST_P(HeadChunksFaultTest, WhatHasAPlaceStaysReadableAndARestartFindsARun) {
  const uint64_t num_operations = [] {
    FaultFs fs;
    Written found;
    auto files = Reopen(&fs, "chunks", &found);
    fs.Arm(UINT64_MAX, Fault::kFail);
    RunScenario(files.get());
    EXPECT_TRUE(files->Close().ok());
    return fs.num_operations();
  }();
  EXPECT_GT(num_operations, 30U);
  for (uint64_t k = 0; k < num_operations; ++k) {
    SCOPED_TRACE(k);
    FaultFs fs;
    Written found;
    auto files = Reopen(&fs, "chunks", &found);
    ASSERT_NE(files, nullptr);
    fs.Arm(k, GetParam());
    Written written = RunScenario(files.get());
    ExpectReadable(files.get(), written);
    const bool dies = GetParam() == Fault::kDie;
    const bool lives = files->Close().ok() && !dies;
    EXPECT_TRUE(lives || dies || k + 3 >= num_operations) << "closing failed";
    if (lives) {
      EXPECT_EQ(written.back().first, 79U) << "writing resumed";
    }
    files.reset();
    if (k % 2 == 1 && !lives) fs.LosePower();
    fs.Restart();
    files = Reopen(&fs, "chunks", &found);
    ASSERT_NE(files, nullptr);
    // Files that could not be removed may still be there before the run.
    std::erase_if(found, [&](const auto& one) {
      return !written.empty() && one.second < written.front().second;
    });
    if (lives) {
      EXPECT_FALSE(files->damage().has_value());
      EXPECT_EQ(found, written);
    } else {
      ASSERT_LE(found.size(), written.size());
      EXPECT_TRUE(std::equal(found.begin(), found.end(), written.begin()));
    }
    const auto ref = Write(files.get(), 1000);
    ASSERT_TRUE(ref.ok()) << ref.status();
    ExpectReadable(files.get(), {{1000, *ref}});
  }
}

// As on a disk that stays full for a while: everything fails, then works again.
TEST(HeadChunksFullDiskTest, BufferedChunksAreWrittenOnceThereIsRoom) {
  FaultFs fs;
  Written found;
  auto files = Reopen(&fs, "chunks", &found);
  Written written;
  for (uint64_t i = 0; i < 5; ++i) written.emplace_back(i, Write(files.get(), i).value());
  fs.Arm(0, Fault::kCut);
  uint64_t next = 5;
  while (true) {
    const auto ref = Write(files.get(), next);
    if (!ref.ok()) {
      EXPECT_EQ(ref.status().code(), absl::StatusCode::kResourceExhausted);
      break;
    }
    written.emplace_back(next++, *ref);
  }
  EXPECT_TRUE(files->poisoned());
  EXPECT_EQ(Write(files.get(), next).status().code(), absl::StatusCode::kResourceExhausted);
  for (uint64_t k = 0; k < 3; ++k) {
    fs.Arm(k, Fault::kCut);
    EXPECT_FALSE(files->Recover().ok());
    EXPECT_TRUE(files->poisoned());
    ExpectReadable(files.get(), written);
  }
  ASSERT_TRUE(files->Recover().ok());
  ExpectReadable(files.get(), written);
  const uint32_t file = written.back().second.file;
  written.emplace_back(next, Write(files.get(), next).value());
  EXPECT_EQ(written.back().second, (HeadChunkRef{file + 1, 8}));
  ASSERT_TRUE(files->Close().ok());
  files = Reopen(&fs, "chunks", &found);
  EXPECT_EQ(found, written);
}

TEST(HeadChunksFullDiskTest, OldFilesCanBeRemovedWhilePoisoned) {
  FaultFs fs;
  Written found;
  auto files = Reopen(&fs, "chunks", &found);
  Written written;
  for (uint64_t i = 0; i < 60; ++i) written.emplace_back(i, Write(files.get(), i).value());
  ASSERT_GE(written.back().second.file, 2U);
  fs.Arm(0, Fault::kCut);
  ASSERT_FALSE(files->Flush().ok());
  ASSERT_TRUE(files->RemoveFilesBefore(UINT32_MAX).ok());
  std::erase_if(written,
                [&](const auto& one) { return one.second.file != written.back().second.file; });
  ExpectReadable(files.get(), written);
  EXPECT_EQ(fs.List("chunks").value().size(), 1U);
}

TEST(HeadChunksThreadsTest, ReadersSeeEveryChunkWhileOthersAreWrittenAndRemoved) {
  std::string directory = testing::TempDir() + "/head_chunks_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  Written found;
  const auto files = Reopen(&base::PosixFs(), directory, &found);
  constexpr uint64_t kNumChunks = 3000;
  std::vector<std::atomic<uint64_t>> refs(kNumChunks);
  std::atomic<uint64_t> num_written = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      uint64_t done = 0;
      while (done < kNumChunks) {
        HeadChunkReader reader(files.get());
        const uint64_t end = num_written.load();
        for (; done < end; done += 3 - static_cast<uint64_t>(i)) {
          const auto chunk = reader.Get(HeadChunkRef::FromPacked(refs[done].load()));
          if (chunk.status().code() == absl::StatusCode::kNotFound) continue;  // Removed.
          ASSERT_TRUE(chunk.ok()) << chunk.status();
          ASSERT_EQ(chunk->bytes, BytesOf(done));
        }
      }
    });
  }
  for (uint64_t i = 0; i < kNumChunks; ++i) {
    const HeadChunkRef ref = Write(files.get(), i).value();
    refs[i].store(ref.packed());
    num_written.store(i + 1);
    if (i % 500 == 499) {
      ASSERT_TRUE(files->RemoveFilesBefore(ref.file - 1).ok());
    }
    if (i % 300 == 299) files->DropMappings();
  }
  for (std::thread& reader : readers) reader.join();
  ASSERT_TRUE(files->Close().ok());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace narthex::disk
