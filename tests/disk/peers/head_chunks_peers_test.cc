// The real Prometheus judges head chunk files: series are in a log, their samples only in files
// written here, and its answers show whether it took them. Skipped unless NARTHEX_PEERS_DIR names a
// folder with the program `prometheus`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/strings.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/disk/head_chunks.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"
#include "tests/disk/peers/peer_prometheus.h"

namespace narthex::disk {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;
constexpr int64_t kStepMs = 15'000;
constexpr int kSamplesPerChunk = 40;
constexpr int kNumSeries = 300;
constexpr int kChunksPerSeries = 3;

// Series and, in the log, one sample of each after those in chunks; without it Prometheus drops
// series that only have old chunks.
void WriteLog(const std::string& directory) {
  WalWriterOptions options;
  options.directory = directory;
  auto writer = WalWriter::Open(options, &base::PosixFs()).value();
  std::vector<model::FloatSample> samples;
  std::string record;
  for (int i = 0; i < kNumSeries; ++i) {
    const std::string number = base::StrCat(i);
    const model::Label labels[] = {{"__name__", "chunked"}, {"series", number}};
    const SeriesToLog series{static_cast<uint64_t>(i + 1), labels};
    record.clear();
    EncodeSeries({&series, 1}, &record);
    ASSERT_TRUE(writer->Log(record).ok());
    samples.push_back({static_cast<uint64_t>(i + 1),
                       kStartMs + kChunksPerSeries * kSamplesPerChunk * kStepMs, 7});
  }
  record.clear();
  EncodeSamples(samples, &record);
  ASSERT_TRUE(writer->Log(record).ok());
}

// Leaves the files as a killed process does.
void WriteChunks(const std::string& directory) {
  HeadChunkFilesOptions options;
  options.directory = directory;
  options.file_bytes = 64 << 10;  // So that there are several.
  auto files = HeadChunkFiles::Open(options, &base::PosixFs(), [](HeadChunkRef, const HeadChunk&) {
                 return true;
               }).value();
  std::string bytes;
  for (int i = 0; i < kChunksPerSeries; ++i) {
    for (int series = 0; series < kNumSeries; ++series) {
      std::vector<int64_t> times;
      std::vector<double> values;
      for (int j = 0; j < kSamplesPerChunk; ++j) {
        times.push_back(kStartMs + (i * kSamplesPerChunk + j) * kStepMs);
        values.push_back(series + 0.25 * j);
      }
      codec::EncodeXorChunk(times, values, &bytes);
      HeadChunk chunk;
      chunk.series = static_cast<uint64_t>(series + 1);
      chunk.min_time_ms = times.front();
      chunk.max_time_ms = times.back();
      chunk.bytes = bytes;
      ASSERT_TRUE(files->Write(chunk).ok());
    }
  }
  ASSERT_TRUE(files->Flush().ok());
  EXPECT_GE(files->end().file, 2U);
}

TEST(HeadChunksPeersTest, PrometheusServesChunksWrittenHere) {
  const char* const peers = std::getenv("NARTHEX_PEERS_DIR");
  if (peers == nullptr) GTEST_SKIP() << "NARTHEX_PEERS_DIR is unset";
  std::string data = testing::TempDir() + "/head_chunks_peers_XXXXXX";
  ASSERT_NE(::mkdtemp(data.data()), nullptr);
  WriteLog(data + "/wal");
  WriteChunks(data + "/chunks_head");
  {
    const PeerPrometheus prometheus(base::StrCat(peers, "/prometheus"), data);
    ASSERT_TRUE(prometheus.WaitUntilReady());
    const int64_t at = kStartMs + kChunksPerSeries * kSamplesPerChunk * kStepMs;
    const auto expect = [&](const std::string& query, const std::string& value) {
      const std::string answer = prometheus.Query(query, at);
      EXPECT_NE(answer.find(base::StrCat(",\"", value, "\"]")), std::string::npos)
          << query << " gave " << answer;
    };
    expect("count(chunked)", "300");
    expect("sum(count_over_time(chunked[2h]))", "36300");  // 300 * (3 * 40 + 1)
    // 120 * 300 * 299 / 2 + 300 * 3 * 0.25 * 40 * 39 / 2, and 300 * 7.
    expect("sum(sum_over_time(chunked[2h]))", "5559600");
    EXPECT_NE(prometheus.Metrics().find("\nprometheus_tsdb_mmap_chunk_corruptions_total 0\n"),
              std::string::npos);
  }
  std::filesystem::remove_all(data);
}

}  // namespace
}  // namespace narthex::disk
