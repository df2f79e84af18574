// The real promtool judges blocks: what it wrote is copied here byte for byte where both write the
// same sections, and what was written here it analyzes and dumps. Skipped unless
// NARTHEX_PEERS_DIR names a folder with the program `promtool`.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/strings.h"
#include "narthex/disk/block.h"
#include "tests/disk/block_copy.h"

namespace narthex::disk {
namespace {

// What a command prints; "" if it fails.
std::string OutputOf(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.append(buffer.data(), got);
  }
  return ::pclose(pipe) == 0 ? output : "";
}

std::string OpenMetrics() {
  std::string text = "# TYPE requests counter\n";
  for (int series = 0; series < 300; ++series) {
    for (int i = 0; i < 5; ++i) {
      base::StrAppend(&text, "requests_total{instance=\"host", series, "\",job=\"j", series % 3,
                      "\"} ", series + i * 2, " ", 1'700'000'000 + i * 60, "\n");
    }
  }
  return text + "# EOF\n";
}

TEST(BlockPeersTest, PromtoolReadsACopyAsItReadsItsOwnBlock) {
  const char* const peers = std::getenv("NARTHEX_PEERS_DIR");
  if (peers == nullptr) GTEST_SKIP() << "NARTHEX_PEERS_DIR is unset";
  std::string root = ::testing::TempDir() + "/block_peers_XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  base::Fs& fs = base::PosixFs();
  const std::string input = root + "/input.txt";
  ASSERT_TRUE(fs.Create(input).value()->Append(OpenMetrics()).ok());
  const std::string promtool = base::StrCat(peers, "/promtool");
  const std::string theirs = root + "/theirs";
  const std::string ours = root + "/ours";
  ASSERT_TRUE(fs.CreateDirectories(ours).ok());
  ASSERT_NE(
      OutputOf(base::StrCat(promtool, " tsdb create-blocks-from openmetrics ", input, " ", theirs)),
      "");
  size_t num_blocks = 0;
  const std::vector<std::string> names = fs.List(theirs).value();
  for (const std::string& name : names) {
    if (!Ulid::Parse(name)) continue;
    const auto block = Block::Open(&fs, base::StrCat(theirs, "/", name));
    ASSERT_TRUE(block.ok()) << block.status();
    BlockWriterOptions options;
    options.parent_directory = ours;
    options.ulid = (*block)->meta().ulid;
    const auto meta = CopyBlock(**block, options, &fs);
    ASSERT_TRUE(meta.ok()) << meta.status();
    const std::string chunks = base::StrCat("/", name, "/chunks/000001");
    EXPECT_TRUE(fs.ReadFile(theirs + chunks).value() == fs.ReadFile(ours + chunks).value());
    ++num_blocks;
  }
  EXPECT_GE(num_blocks, 1u);
  // To dump, promtool wants a log too.
  ASSERT_TRUE(fs.CreateDirectories(theirs + "/wal").ok());
  ASSERT_TRUE(fs.CreateDirectories(ours + "/wal").ok());
  // Up to what promtool lists in random order.
  const auto says = [&](const char* command, const std::string& data) {
    const std::string output = OutputOf(base::StrCat(promtool, " tsdb ", command, " ", data));
    EXPECT_FALSE(output.empty()) << command;
    return output.substr(0, output.find("Label pairs most"));
  };
  for (const char* const command : {"dump", "analyze --extended"}) {
    EXPECT_EQ(says(command, ours), says(command, theirs));
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace narthex::disk
