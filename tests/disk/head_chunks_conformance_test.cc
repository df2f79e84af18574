// Head chunk files that Prometheus 3.5 wrote. The counts are those of its own reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "narthex/base/fs.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/disk/head_chunks.h"
#include "tests/support/conformance.h"

namespace narthex::disk {
namespace {

// Times of a chunk's first and last sample, decoded.
std::pair<int64_t, int64_t> TimesOf(const HeadChunk& chunk) {
  if (codec::IsFloatEncoding(chunk.encoding)) {
    codec::FloatColumns columns;
    EXPECT_TRUE(codec::DecodeFloatChunk(chunk.encoding, chunk.bytes, &columns).ok());
    return {columns.times_ms.front(), columns.times_ms.back()};
  }
  codec::HistogramColumns columns;
  EXPECT_TRUE(codec::DecodeHistogramChunk(chunk.encoding, chunk.bytes,
                                          model::HistogramDetail::kFull, &columns)
                  .ok());
  return {columns.times_ms.front(), columns.times_ms.back()};
}

struct Recorded {
  const char* name;
  size_t num_chunks;
  size_t num_out_of_order;
  size_t num_samples;
};

class HeadChunksConformanceTest : public testing::TestWithParam<Recorded> {};

INSTANTIATE_TEST_SUITE_P(Directories, HeadChunksConformanceTest,
                         testing::Values(Recorded{"raw-clean-a", 167, 0, 10522},
                                         Recorded{"raw-killed-a", 0, 0, 0}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(HeadChunksConformanceTest, EveryChunkIsWhatItSays) {
  const std::string conformance = support::ConformanceDirectory();
  if (conformance.empty()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is unset";
  std::string directory = testing::TempDir() + "/head_chunks_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  std::filesystem::copy(base::StrCat(conformance, "/tsdb/", GetParam().name, "/data/chunks_head"),
                        directory, std::filesystem::copy_options::recursive);
  size_t num_chunks = 0, num_out_of_order = 0, num_samples = 0;
  HeadChunkFilesOptions options;
  options.directory = directory;
  const auto files =
      HeadChunkFiles::Open(options, &base::PosixFs(), [&](HeadChunkRef, const HeadChunk& chunk) {
        ++num_chunks;
        num_out_of_order += chunk.is_out_of_order ? 1 : 0;
        num_samples += codec::NumChunkSamples(chunk.encoding, chunk.bytes);
        EXPECT_EQ(TimesOf(chunk), std::pair(chunk.min_time_ms, chunk.max_time_ms));
        return true;
      });
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_FALSE((*files)->damage().has_value());
  EXPECT_EQ(num_chunks, GetParam().num_chunks);
  EXPECT_EQ(num_out_of_order, GetParam().num_out_of_order);
  EXPECT_EQ(num_samples, GetParam().num_samples);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace narthex::disk
