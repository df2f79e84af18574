// The real Prometheus judges: a log written here is put in a data directory, Prometheus is started
// on it, and its answers are compared with what was logged. Skipped unless NARTHEX_PEERS_DIR names
// a folder with the program `prometheus`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/strings.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"
#include "tests/disk/peers/peer_prometheus.h"

namespace narthex::disk {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;
constexpr int64_t kStepMs = 15'000;
constexpr int kNumSteps = 20;
constexpr int kNumSeries = 500;

model::Histogram HistogramAt(int step) {
  static const model::LayoutPtr layout = [] {
    auto made = std::make_shared<model::HistogramLayout>();
    made->schema = 3;
    made->zero_threshold = 0x1p-128;
    made->positive_spans = {{0, 2}, {3, 1}};
    return made;
  }();
  model::Histogram histogram;
  histogram.layout = layout;
  histogram.buckets = {step, 2 * step, 3 * step};
  histogram.zero_count = 1;
  histogram.count = static_cast<uint64_t>(6 * step + 1);
  histogram.sum = 2.5 * step;
  return histogram;
}

void WriteLog(const std::string& directory, WalCompression compression) {
  WalWriterOptions options;
  options.directory = directory;
  options.segment_bytes = 2 * kWalPageBytes;  // So that there are several segments.
  options.compression = compression;
  auto writer = WalWriter::Open(options, &base::PosixFs()).value();
  std::string record;
  for (int i = 0; i < kNumSeries; ++i) {
    const std::string number = base::StrCat(i);
    const model::Label labels[] = {{"__name__", "logged"}, {"series", number}};
    const SeriesToLog series{static_cast<uint64_t>(i + 1), labels};
    record.clear();
    EncodeSeries({&series, 1}, &record);
    ASSERT_TRUE(writer->Log(record).ok());
  }
  const model::Label labels[] = {{"__name__", "logged_histogram"}};
  const SeriesToLog series{kNumSeries + 1, labels};
  record.clear();
  EncodeSeries({&series, 1}, &record);
  ASSERT_TRUE(writer->Log(record).ok());
  for (int step = 0; step < kNumSteps; ++step) {
    const int64_t time_ms = kStartMs + step * kStepMs;
    std::vector<model::FloatSample> samples;
    for (int i = 0; i < kNumSeries; ++i) {
      samples.push_back({static_cast<uint64_t>(i + 1), time_ms, i + 0.5 * step});
    }
    std::string floats, exponential, custom;
    EncodeSamples(samples, &floats);
    const model::Histogram histogram = HistogramAt(step);
    const HistogramToLog<model::Histogram> to_log{kNumSeries + 1, time_ms, &histogram};
    EncodeHistograms({&to_log, 1}, &exponential, &custom);
    const std::string_view records[] = {floats, exponential};
    ASSERT_TRUE(writer->Log(records).ok());
  }
  // No Close(): as a killed process leaves it.
}

class WalPeersTest : public testing::TestWithParam<WalCompression> {};

INSTANTIATE_TEST_SUITE_P(Compressions, WalPeersTest,
                         testing::Values(WalCompression::kNone, WalCompression::kSnappy,
                                         WalCompression::kZstd));

TEST_P(WalPeersTest, PrometheusServesWhatWasLogged) {
  const char* const peers = std::getenv("NARTHEX_PEERS_DIR");
  if (peers == nullptr) GTEST_SKIP() << "NARTHEX_PEERS_DIR is unset";
  std::string data = testing::TempDir() + "/wal_peers_XXXXXX";
  ASSERT_NE(::mkdtemp(data.data()), nullptr);
  WriteLog(data + "/wal", GetParam());
  {
    const PeerPrometheus prometheus(base::StrCat(peers, "/prometheus"), data);
    ASSERT_TRUE(prometheus.WaitUntilReady());
    const auto expect = [&](const std::string& query, const std::string& value) {
      const std::string answer = prometheus.Query(query, kStartMs + (kNumSteps - 1) * kStepMs);
      EXPECT_NE(answer.find(base::StrCat(",\"", value, "\"]")), std::string::npos)
          << query << " gave " << answer;
    };
    expect("count(logged)", "500");
    expect("sum(logged)", "129500");  // 499 * 500 / 2 + 500 * 9.5
    expect("sum(count_over_time(logged[1h]))", "10000");
    expect("histogram_count(logged_histogram)", "115");
    expect("histogram_sum(logged_histogram)", "47.5");
    expect("count_over_time(logged_histogram[1h])", "20");
  }
  std::filesystem::remove_all(data);
}

}  // namespace
}  // namespace narthex::disk
