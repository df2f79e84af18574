#include "narthex/base/fs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "narthex/base/status.h"

namespace narthex::base {
namespace {

class FsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/fs_test_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { EXPECT_TRUE(fs_.RemoveAll(dir_).ok()); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Write(const std::string& name, std::string_view bytes) {
    auto file = fs_.Create(Path(name));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append(bytes).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }

  Fs& fs_ = PosixFs();
  std::string dir_;
};

TEST_F(FsTest, WhatIsWrittenIsReadBack) {
  std::string bytes(100'000, 'x');
  bytes[50'000] = '\0';
  Write("a", bytes);
  EXPECT_EQ(fs_.ReadFile(Path("a")).value(), bytes);
  EXPECT_EQ(fs_.FileSize(Path("a")).value(), bytes.size());
  EXPECT_EQ(fs_.Map(Path("a")).value()->bytes(), bytes);
}

TEST_F(FsTest, CreateTruncatesAndOpenForAppendGoesOn) {
  Write("a", "old");
  Write("a", "new");
  auto file = fs_.OpenForAppend(Path("a")).value();
  EXPECT_EQ(file->size(), 3u);
  EXPECT_TRUE(file->Append("er").ok());
  EXPECT_EQ(file->size(), 5u);
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(fs_.ReadFile(Path("a")).value(), "newer");
}

TEST_F(FsTest, AClosedFileRefusesEverything) {
  auto file = fs_.Create(Path("a")).value();
  EXPECT_TRUE(file->Close().ok());
  EXPECT_EQ(file->Append("x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_FALSE(file->Close().ok());
}

// /dev/full answers every write with ENOSPC.
TEST_F(FsTest, AFailedWritePoisonsTheFile) {
  auto file = fs_.OpenForAppend("/dev/full").value();
  EXPECT_EQ(file->Append("x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file->Append("").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file->Sync().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(file->size(), 0u);
}

TEST_F(FsTest, AnEmptyFileMapsToNothing) {
  Write("empty", "");
  EXPECT_EQ(fs_.Map(Path("empty")).value()->bytes(), "");
}

TEST_F(FsTest, AMappingOutlivesItsName) {
  Write("a", "bytes");
  auto map = fs_.Map(Path("a")).value();
  EXPECT_TRUE(fs_.Remove(Path("a")).ok());
  EXPECT_EQ(map->bytes(), "bytes");
}

TEST_F(FsTest, FilesOfUnknownSizeAreReadToTheirEnd) {
  EXPECT_NE(fs_.ReadFile("/proc/self/status").value(), "");
}

TEST_F(FsTest, DirectoriesAreMadeListedSortedAndRemoved) {
  EXPECT_TRUE(fs_.CreateDirectories(Path("d/e")).ok());
  EXPECT_TRUE(fs_.CreateDirectories(Path("d/e")).ok());
  Write("d/b", "");
  Write("d/a", "");
  EXPECT_EQ(fs_.List(Path("d")).value(), (std::vector<std::string>{"a", "b", "e"}));
  EXPECT_TRUE(fs_.SyncDirectory(Path("d")).ok());
  EXPECT_FALSE(fs_.Remove(Path("d")).ok());  // Not empty.
  EXPECT_TRUE(fs_.RemoveAll(Path("d")).ok());
  EXPECT_FALSE(fs_.Exists(Path("d")));
  EXPECT_TRUE(fs_.RemoveAll(Path("d")).ok());  // Nothing to do is no error.
}

TEST_F(FsTest, RenameReplacesAndTruncateCuts) {
  Write("a", "12345");
  Write("b", "old");
  EXPECT_TRUE(fs_.Rename(Path("a"), Path("b")).ok());
  EXPECT_FALSE(fs_.Exists(Path("a")));
  EXPECT_TRUE(fs_.Truncate(Path("b"), 2).ok());
  EXPECT_EQ(fs_.ReadFile(Path("b")).value(), "12");
}

TEST_F(FsTest, MissingFilesAreNotFoundAndNamed) {
  const absl::Status status = fs_.ReadFile(Path("missing")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(Message(status).find("missing"), std::string_view::npos);
  EXPECT_EQ(fs_.Map(Path("missing")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.FileSize(Path("missing")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.List(Path("missing")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.Remove(Path("missing")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fs_.Rename(Path("missing"), Path("x")).code(), absl::StatusCode::kNotFound);
}

TEST_F(FsTest, ALockIsExclusiveUntilItsDestruction) {
  auto lock = fs_.Lock(Path("lock"));
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(fs_.Lock(Path("lock")).status().code(), absl::StatusCode::kFailedPrecondition);
  lock->reset();
  EXPECT_TRUE(fs_.Lock(Path("lock")).ok());
}

}  // namespace
}  // namespace narthex::base
