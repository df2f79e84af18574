// Logs that Prometheus 3.5 wrote. The counts are those of Prometheus 3.14's own reader.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"
#include "tests/support/conformance.h"

namespace narthex::disk {
namespace {

struct Counts {
  size_t records = 0, series = 0, samples = 0, exemplars = 0, histograms = 0, float_histograms = 0,
         markers = 0;
  bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << "records=" << counts.records << " series=" << counts.series
       << " samples=" << counts.samples << " exemplars=" << counts.exemplars
       << " histograms=" << counts.histograms << " float_histograms=" << counts.float_histograms
       << " markers=" << counts.markers;
}

void CountRecord(std::string_view record, Counts* counts) {
  ++counts->records;
  switch (TypeOfRecord(record)) {
    case RecordType::kSeries: {
      SeriesBatch batch;
      ASSERT_TRUE(DecodeSeries(record, &batch).ok());
      counts->series += batch.series.size();
      break;
    }
    case RecordType::kSamples: {
      SampleBatch batch;
      ASSERT_TRUE(DecodeSamples(record, &batch).ok());
      counts->samples += batch.samples.size();
      std::string again;
      EncodeSamples(batch.samples, &again);
      EXPECT_EQ(again, record);
      break;
    }
    case RecordType::kExemplars: {
      std::vector<RefExemplar> exemplars;
      ASSERT_TRUE(DecodeExemplars(record, &exemplars).ok());
      counts->exemplars += exemplars.size();
      std::string again;
      EncodeExemplars(exemplars, &again);
      EXPECT_EQ(again, record);
      break;
    }
    case RecordType::kHistograms:
    case RecordType::kCustomHistograms: {
      HistogramBatch<model::Histogram> batch;
      ASSERT_TRUE(DecodeHistograms(record, &batch).ok());
      counts->histograms += batch.samples.size();
      break;
    }
    case RecordType::kFloatHistograms:
    case RecordType::kCustomFloatHistograms: {
      HistogramBatch<model::FloatHistogram> batch;
      ASSERT_TRUE(DecodeHistograms(record, &batch).ok());
      counts->float_histograms += batch.samples.size();
      break;
    }
    case RecordType::kMmapMarkers: {
      std::vector<MmapMarker> markers;
      ASSERT_TRUE(DecodeMmapMarkers(record, &markers).ok());
      counts->markers += markers.size();
      break;
    }
    default:
      ADD_FAILURE() << "unexpected type of record";
  }
}

Counts CountLog(const std::string& directory, std::optional<WalDamage>* damage) {
  Counts counts;
  auto reader = WalReader::Open(&base::PosixFs(), directory).value();
  while (reader->Next()) CountRecord(reader->record(), &counts);
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  *damage = reader->damage();
  return counts;
}

class WalConformanceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (support::ConformanceDirectory().empty()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is unset";
    root_ = support::ConformanceDirectory() + "/tsdb/";
  }
  std::string root_;
};

TEST_F(WalConformanceTest, RealLogsAreReadWhole) {
  const std::pair<const char*, Counts> logs[] = {
      {"raw-clean-a/data/wal", {2276, 1542, 165283, 448, 5202, 341, 0}},
      {"raw-killed-a/data/wal", {1814, 1533, 131062, 354, 4149, 271, 0}},
      {"raw-compacted-c/data/wal", {1194, 911, 53932, 241, 1605, 184, 0}},  // With a checkpoint.
      {"raw-compacted-c/data/wbl", {15, 0, 32, 0, 0, 0, 4}},
  };
  for (const auto& [path, want] : logs) {
    SCOPED_TRACE(path);
    std::optional<WalDamage> damage;
    EXPECT_EQ(CountLog(root_ + path, &damage), want);
    EXPECT_FALSE(damage.has_value());
  }
}

TEST_F(WalConformanceTest, ATornLogIsReadUpToItsDamageAndRepairedThere) {
  const Counts want = {1268, 1523, 91094, 249, 2882, 187, 0};
  const std::string copy = testing::TempDir() + "/narthex_torn_wal";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(root_ + "raw-torn-a/data/wal", copy);
  std::filesystem::permissions(copy + "/00000000", std::filesystem::perms::owner_all);
  std::optional<WalDamage> damage;
  EXPECT_EQ(CountLog(copy, &damage), want);
  ASSERT_TRUE(damage.has_value());
  EXPECT_EQ(damage->position.segment, 0u);
  EXPECT_LT(damage->position.offset, 712237u);  // Where it was cut.
  ASSERT_TRUE(RepairWal(&base::PosixFs(), copy, *damage).ok());
  EXPECT_EQ(CountLog(copy, &damage), want);
  EXPECT_FALSE(damage.has_value());
  std::filesystem::remove_all(copy);
}

}  // namespace
}  // namespace narthex::disk
