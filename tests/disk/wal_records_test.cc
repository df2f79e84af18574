#include "narthex/disk/wal_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/disk/decode_any.h"
#include "tests/disk/hex.h"

namespace narthex::disk {
namespace {

using model::FloatSample;
using model::Label;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The records below are Prometheus 3.14's for the same input.
constexpr char kSeries[] =
    "01000000000000000102085f5f6e616d655f5f027570036a6f620161000000000000012c01085f5f6e616d655f5f01"
    "78";
constexpr char kSamples[] =
    "02000000000000000a0000018bcfe5680000003ff000000000000001024004000000000000d407cf0f7ff000000000"
    "0000d407cd0f401c000000000000";
constexpr char kSamplesV2[] =
    "0b1480a0abfef9628080f4f6905d3ff00000000000000102014004000000000000d607cf0f007ff000000000000000"
    "cd0f02e807401c000000000000";
constexpr char kTombstones[] =
    "03000000000000000309140000000000000003283c0000000000000004ffffffffffffffffff01feffffffffffffff"
    "ff01";
constexpr char kExemplars[] =
    "04000000000000000700000000000003e800003fe0000000000000010874726163655f69640361626301c7013ff800"
    "000000000002047370616e01310874726163655f69640164";
constexpr char kMetadata[] =
    "06ac02010204554e4954077365636f6e64730448454c500a536f6d652068656c702e02060204554e4954000448454c"
    "5000";
constexpr char kMarkers[] = "050000000000000008000000000000000000000000000000090000000100000008";
constexpr char kHistograms[] =
    "07000000000000000500000000000000640000020637f0000000000000020c40326666666666660200020202010501"
    "040204010001020401020637f0000000000000020c4032666666666666020002020201050104020401000102";
constexpr char kCustom[] =
    "0900000000000000060000000000000065000003690000000000000000000740080000000000000100030003040002"
    "00"
    "033fb999999999999a3ff00000000000004004000000000000";
constexpr char kHistogramsV2[] =
    "0c0ac80164020637f0000000000000020c403266666666666602000202020105010402040100010202020202036900"
    "0000000000000000074008000000000000010003000304000200033fb999999999999a3ff000000000000040040000"
    "00000000020100020637f0000000000000020c4032666666666666020002020201050104020401000102";
constexpr char kFloats[] =
    "08000000000000000500000000000000640000020637f0000000000000400000000000000040280000000000004032"
    "6666666666660200020202010501043ff0000000000000400800000000000040000000000000004000000000000000"
    "013ff00000000000000401020637f00000000000004000000000000000402800000000000040326666666666660200"
    "020202010501043ff0000000000000400800000000000040000000000000004000000000000000013ff00000000000"
    "00";
constexpr char kCustomFloats[] =
    "0a000000000000000600000000000000650000036900000000000000000000000000000000401c0000000000004008"
    "000000000000010003000340000000000000004000000000000000400800000000000000033fb999999999999a3ff0"
    "0000000000004004000000000000";
constexpr char kFloatsV2[] =
    "0d0ac80164020637f00000000000004000000000000000402800000000000040326666666666660200020202010501"
    "043ff0000000000000400800000000000040000000000000004000000000000000013ff00000000000000202020203"
    "6900000000000000000000000000000000401c00000000000040080000000000000100030003400000000000000040"
    "00000000000000400800000000000000033fb999999999999a3ff00000000000004004000000000000020100020637"
    "f00000000000004000000000000000402800000000000040326666666666660200020202010501043ff00000000000"
    "00400800000000000040000000000000004000000000000000013ff0000000000000";

const char* const kAllRecords[] = {
    kSeries,     kSamples, kSamplesV2,    kTombstones, kExemplars,    kMetadata, kMarkers,
    kHistograms, kCustom,  kHistogramsV2, kFloats,     kCustomFloats, kFloatsV2};

const std::vector<FloatSample>& FourSamples() {
  static const std::vector<FloatSample> samples = {{10, 1700000000000, 1},
                                                   {9, 1700000000001, 2.5},
                                                   {500, 1699999999000, kInfinity},
                                                   {500, 1699999999001, 7}};
  return samples;
}

model::Histogram Exponential() {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = 3;
  layout->zero_threshold = 0x1p-128;
  layout->positive_spans = {{0, 2}, {1, 2}};
  layout->negative_spans = {{-3, 1}};
  model::Histogram histogram;
  histogram.hint = model::CounterResetHint::kNotReset;
  histogram.layout = std::move(layout);
  histogram.count = 12;
  histogram.zero_count = 2;
  histogram.sum = 18.4;
  histogram.buckets = {1, 3, 2, 2, 1};
  return histogram;
}

model::Histogram Custom() {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = model::kCustomBucketsSchema;
  layout->positive_spans = {{0, 3}};
  layout->custom_bounds = {0.1, 1, 2.5};
  model::Histogram histogram;
  histogram.hint = model::CounterResetHint::kGauge;
  histogram.layout = std::move(layout);
  histogram.count = 7;
  histogram.sum = 3;
  histogram.buckets = {2, 2, 3};
  return histogram;
}

void ExpectSamples(const std::vector<FloatSample>& got, const std::vector<FloatSample>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].ref, want[i].ref);
    EXPECT_EQ(got[i].time_ms, want[i].time_ms);
    EXPECT_EQ(got[i].value, want[i].value);
  }
}

TEST(WalRecordsTest, SeriesHavePrometheussBytes) {
  const Label first[] = {{"__name__", "up"}, {"job", "a"}};
  const Label second[] = {{"__name__", "x"}};
  const SeriesToLog series[] = {{1, first}, {300, second}};
  std::string record;
  EncodeSeries(series, &record);
  EXPECT_EQ(Hex(record), kSeries);
  SeriesBatch batch;
  ASSERT_TRUE(DecodeSeries(record, &batch).ok());
  ASSERT_EQ(batch.series.size(), 2u);
  EXPECT_EQ(batch.series[0].ref, 1u);
  EXPECT_EQ(batch.series[1].ref, 300u);
  ASSERT_EQ(batch.LabelsOf(batch.series[0]).size(), 2u);
  EXPECT_EQ(batch.LabelsOf(batch.series[0])[1], (Label{"job", "a"}));
  ASSERT_EQ(batch.LabelsOf(batch.series[1]).size(), 1u);
  EXPECT_EQ(batch.LabelsOf(batch.series[1])[0], (Label{"__name__", "x"}));
}

TEST(WalRecordsTest, SamplesHavePrometheussBytes) {
  std::string record;
  EncodeSamples(FourSamples(), &record);
  EXPECT_EQ(Hex(record), kSamples);
  SampleBatch batch;
  ASSERT_TRUE(DecodeSamples(record, &batch).ok());
  ExpectSamples(batch.samples, FourSamples());
  EXPECT_TRUE(batch.start_times_ms.empty());
}

TEST(WalRecordsTest, SamplesWithStartTimesAreRead) {
  SampleBatch batch;
  ASSERT_TRUE(DecodeSamples(Unhex(kSamplesV2), &batch).ok());
  ExpectSamples(batch.samples, FourSamples());
  EXPECT_EQ(batch.start_times_ms,
            (std::vector<int64_t>{1600000000000, 1600000000000, 0, 1600000000500}));
}

TEST(WalRecordsTest, ManySamplesRoundTrip) {
  std::vector<FloatSample> samples;
  for (int i = 0; i < 5000; ++i) {
    const int64_t wild = i % 7 == 0 ? std::numeric_limits<int64_t>::min() : i;
    samples.push_back({static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u, wild, 0.5 * i});
  }
  std::string record;
  EncodeSamples(samples, &record);
  SampleBatch batch;
  ASSERT_TRUE(DecodeSamples(record, &batch).ok());
  ExpectSamples(batch.samples, samples);
}

TEST(WalRecordsTest, TombstonesHavePrometheussBytes) {
  const std::vector<Tombstone> tombstones = {
      {3, -5, 10},
      {3, 20, 30},
      {4, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}};
  std::string record;
  EncodeTombstones(tombstones, &record);
  EXPECT_EQ(Hex(record), kTombstones);
  std::vector<Tombstone> decoded;
  ASSERT_TRUE(DecodeTombstones(record, &decoded).ok());
  EXPECT_EQ(decoded, tombstones);
}

TEST(WalRecordsTest, ExemplarsHavePrometheussBytes) {
  std::vector<RefExemplar> exemplars(2);
  exemplars[0].ref = 7;
  exemplars[0].exemplar = {model::Labels::FromPairs({{"trace_id", "abc"}}), 0.5, true, 1000};
  exemplars[1].ref = 6;
  exemplars[1].exemplar = {model::Labels::FromPairs({{"trace_id", "d"}, {"span", "1"}}), 1.5, true,
                           900};
  std::string record;
  EncodeExemplars(exemplars, &record);
  EXPECT_EQ(Hex(record), kExemplars);
  std::vector<RefExemplar> decoded;
  ASSERT_TRUE(DecodeExemplars(record, &decoded).ok());
  ASSERT_EQ(decoded.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(decoded[i].ref, exemplars[i].ref);
    EXPECT_EQ(decoded[i].exemplar, exemplars[i].exemplar);
  }
}

TEST(WalRecordsTest, MetadataHasPrometheussBytes) {
  const std::vector<RefMetadata> metadata = {
      {300, model::MetricType::kCounter, "seconds", "Some help."},
      {2, model::MetricType::kInfo, "", ""}};
  std::string record;
  EncodeMetadata(metadata, &record);
  EXPECT_EQ(Hex(record), kMetadata);
  std::vector<RefMetadata> decoded;
  ASSERT_TRUE(DecodeMetadata(record, &decoded).ok());
  EXPECT_EQ(decoded, metadata);
}

TEST(WalRecordsTest, UnknownMetadataFieldsAreSkippedAndUnknownTypesAreUnknown) {
  // One entry: ref 1, type 99, three fields of which the second is new.
  const std::string record = Unhex(
      "06"
      "01"
      "63"
      "03"
      "04554e4954"
      "0173"
      "034e4557"
      "03787878"
      "0448454c50"
      "0168");
  std::vector<RefMetadata> decoded;
  ASSERT_TRUE(DecodeMetadata(record, &decoded).ok());
  EXPECT_EQ(decoded, (std::vector<RefMetadata>{{1, model::MetricType::kUnknown, "s", "h"}}));
}

TEST(WalRecordsTest, MarkersHavePrometheussBytes) {
  const std::vector<MmapMarker> markers = {{8, {}}, {9, {1, 8}}};
  std::string record;
  EncodeMmapMarkers(markers, &record);
  EXPECT_EQ(Hex(record), kMarkers);
  std::vector<MmapMarker> decoded;
  ASSERT_TRUE(DecodeMmapMarkers(record, &decoded).ok());
  EXPECT_EQ(decoded, markers);
}

template <typename H>
void ExpectHistograms(const std::vector<std::string>& records, const std::vector<H>& want,
                      const std::vector<model::SeriesRef>& refs) {
  size_t next = 0;
  for (const std::string& record : records) {
    HistogramBatch<H> batch;
    ASSERT_TRUE(DecodeHistograms(record, &batch).ok());
    for (const auto& sample : batch.samples) {
      ASSERT_LT(next, want.size());
      EXPECT_EQ(sample.ref, refs[next]);
      EXPECT_EQ(sample.histogram.hint, want[next].hint);
      EXPECT_TRUE(model::Equals(sample.histogram, want[next]));
      EXPECT_EQ(*sample.histogram.layout, *want[next].layout);
      ++next;
    }
  }
  EXPECT_EQ(next, want.size());
}

TEST(WalRecordsTest, HistogramsHavePrometheussBytesAndCustomOnesARecordOfTheirOwn) {
  const model::Histogram exponential = Exponential();
  const model::Histogram custom = Custom();
  const HistogramToLog<model::Histogram> to_log[] = {
      {5, 100, &exponential}, {6, 101, &custom}, {7, 99, &exponential}};
  std::string record, custom_record;
  EncodeHistograms(to_log, &record, &custom_record);
  EXPECT_EQ(Hex(record), kHistograms);
  EXPECT_EQ(Hex(custom_record), kCustom);
  ExpectHistograms<model::Histogram>({record, custom_record}, {exponential, exponential, custom},
                                     {5, 7, 6});
  ExpectHistograms<model::Histogram>({Unhex(kHistogramsV2)}, {exponential, custom, exponential},
                                     {5, 6, 7});
}

TEST(WalRecordsTest, FloatHistogramsHavePrometheussBytes) {
  const model::FloatHistogram exponential = model::ToFloat(Exponential());
  const model::FloatHistogram custom = model::ToFloat(Custom());
  const HistogramToLog<model::FloatHistogram> to_log[] = {
      {5, 100, &exponential}, {6, 101, &custom}, {7, 99, &exponential}};
  std::string record, custom_record;
  EncodeHistograms(to_log, &record, &custom_record);
  EXPECT_EQ(Hex(record), kFloats);
  EXPECT_EQ(Hex(custom_record), kCustomFloats);
  ExpectHistograms<model::FloatHistogram>({record, custom_record},
                                          {exponential, exponential, custom}, {5, 7, 6});
  ExpectHistograms<model::FloatHistogram>({Unhex(kFloatsV2)}, {exponential, custom, exponential},
                                          {5, 6, 7});
}

TEST(WalRecordsTest, NoRecordIsWrittenForHistogramsThatAreNotThere) {
  const model::Histogram custom = Custom();
  const HistogramToLog<model::Histogram> to_log[] = {{6, 101, &custom}};
  std::string record, custom_record;
  EncodeHistograms(to_log, &record, &custom_record);
  EXPECT_EQ(record, "");
  EXPECT_NE(custom_record, "");
}

TEST(WalRecordsTest, HistogramsOfARecordShareEqualLayouts) {
  HistogramBatch<model::Histogram> batch;
  ASSERT_TRUE(DecodeHistograms(Unhex(kHistograms), &batch).ok());
  ASSERT_EQ(batch.samples.size(), 2u);
  EXPECT_EQ(batch.samples[0].histogram.layout, batch.samples[1].histogram.layout);
}

TEST(WalRecordsTest, UnknownSchemasAreLeftOutAndCounted) {
  model::Histogram strange = Exponential();
  auto layout = std::make_shared<model::HistogramLayout>(*strange.layout);
  layout->schema = 77;
  strange.layout = layout;
  const model::Histogram plain = Exponential();
  const HistogramToLog<model::Histogram> to_log[] = {{1, 1, &strange}, {2, 1, &plain}};
  std::string record, custom_record;
  EncodeHistograms(to_log, &record, &custom_record);
  HistogramBatch<model::Histogram> batch;
  ASSERT_TRUE(DecodeHistograms(record, &batch).ok());
  ASSERT_EQ(batch.samples.size(), 1u);
  EXPECT_EQ(batch.samples[0].ref, 2u);
  EXPECT_EQ(batch.num_unknown_schemas, 1u);
}

TEST(WalRecordsTest, SchemasAboveEightAreReduced) {
  model::Histogram fine = Exponential();
  auto layout = std::make_shared<model::HistogramLayout>(*fine.layout);
  layout->schema = 9;
  fine.layout = layout;
  const HistogramToLog<model::Histogram> to_log[] = {{1, 1, &fine}};
  std::string record, custom_record;
  EncodeHistograms(to_log, &record, &custom_record);
  HistogramBatch<model::Histogram> batch;
  ASSERT_TRUE(DecodeHistograms(record, &batch).ok());
  EXPECT_EQ(batch.samples.at(0).histogram.layout->schema, 8);
}

TEST(WalRecordsTest, ARecordCutInsideAnEntryIsRefused) {
  for (const char* hex : kAllRecords) {
    const std::string record = Unhex(hex);
    ASSERT_TRUE(DecodeAny(record));
    size_t num_refused = 0;
    for (size_t size = 0; size < record.size(); ++size) {
      num_refused += DecodeAny(record.substr(0, size)) ? 0 : 1;
    }
    // What may pass: a cut after the type byte, after the base ref and time, and between the up to
    // four entries.
    EXPECT_GE(num_refused + 5, record.size()) << hex;
  }
}

TEST(WalRecordsTest, AFlippedBitGivesAnErrorOrARecord) {
  for (const char* hex : kAllRecords) {
    std::string record = Unhex(hex);
    for (size_t bit = 0; bit < record.size() * 8; ++bit) {
      record[bit / 8] ^= static_cast<char>(1 << bit % 8);
      DecodeAny(record);
      record[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
    EXPECT_TRUE(DecodeAny(record));
  }
}

// Counts of 2^40 in records of a few bytes.
TEST(WalRecordsTest, ClaimedCountsAreNotTrusted) {
  const std::string huge = "808080808020";
  for (const std::string& hex : {"010000000000000001" + huge, "0601010" + std::string("2") + huge,
                                 "04" + std::string(32, '0') + "0000" + std::string(16, '0') + huge,
                                 "07" + std::string(32, '0') + "0000" + "00" + "00" +
                                     std::string(16, '0') + "0000" + std::string(16, '0') + huge}) {
    EXPECT_FALSE(DecodeAny(Unhex(hex))) << hex;
  }
}

TEST(WalRecordsTest, AWrongTypeIsRefused) {
  SampleBatch samples;
  EXPECT_EQ(DecodeSamples(Unhex(kSeries), &samples).code(), absl::StatusCode::kDataLoss);
  HistogramBatch<model::Histogram> histograms;
  EXPECT_EQ(DecodeHistograms(Unhex(kFloats), &histograms).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(TypeOfRecord(""), RecordType::kUnknown);
  EXPECT_EQ(TypeOfRecord("\x0e"), RecordType::kUnknown);
}

}  // namespace
}  // namespace narthex::disk
