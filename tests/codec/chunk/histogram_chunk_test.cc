#include "narthex/codec/chunk/histogram_chunk.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "narthex/model/stale.h"
#include "tests/codec/chunk/recorded.h"

namespace narthex::codec {
namespace {

using model::CounterResetHint;
using model::HistogramDetail;

// Appends as the head does: widening and cutting as the verdicts say.
template <typename H>
std::vector<std::string> AppendAll(const std::vector<std::pair<int64_t, H>>& samples) {
  std::vector<std::string> chunks;
  auto chunk = std::make_unique<std::string>();
  auto appender = BasicHistogramAppender<H>::Open(chunk.get()).value();
  for (const auto& [time_ms, sample] : samples) {
    const Verdict verdict = appender.Offer(sample);
    if (verdict.fit == Fit::kWiden) {
      appender.Widen(sample);
      EXPECT_EQ(appender.Offer(sample).fit, Fit::kAppend);
    } else if (verdict.fit == Fit::kCut) {
      chunks.push_back(*chunk);
      chunk->clear();
      appender = BasicHistogramAppender<H>::Open(chunk.get()).value();
    }
    appender.Append(time_ms, sample, verdict.next_header);
  }
  chunks.push_back(*chunk);
  return chunks;
}

template <typename H>
std::vector<std::pair<int64_t, H>> SamplesOf(const RecordedCase& one) {
  std::vector<std::pair<int64_t, H>> samples;
  for (const RecordedCase::HistogramSample& sample : one.histograms) {
    if constexpr (std::is_same_v<H, model::Histogram>) {
      samples.emplace_back(sample.time_ms, sample.integer);
    } else {
      samples.emplace_back(sample.time_ms, sample.number);
    }
  }
  return samples;
}

ChunkEncoding EncodingOf(const std::string& kind) {
  if (kind == "int") return ChunkEncoding::kHistogram;
  if (kind == "float") return ChunkEncoding::kFloatHistogram;
  return kind == "intst" ? ChunkEncoding::kHistogramSt : ChunkEncoding::kFloatHistogramSt;
}
bool IsHistogramKind(const std::string& kind) { return !kind.starts_with("xor"); }

template <typename Count, typename Bucket>
model::BasicHistogram<Count, Bucket> RowOf(const BasicHistogramColumns<Count, Bucket>& columns,
                                           size_t row) {
  model::BasicHistogram<Count, Bucket> histogram;
  const size_t width = columns.layout->num_buckets();
  histogram.layout = columns.layout;
  histogram.count = columns.counts[row];
  histogram.zero_count = columns.zero_counts[row];
  histogram.sum = columns.sums[row];
  histogram.buckets.assign(columns.buckets.begin() + static_cast<ptrdiff_t>(row * width),
                           columns.buckets.begin() + static_cast<ptrdiff_t>((row + 1) * width));
  return histogram;
}

// The buckets of `sample` as `layout` lays them out.
template <typename H>
H InLayout(const H& sample, const model::LayoutPtr& layout) {
  H spread = sample;
  spread.layout = layout;
  spread.buckets.resize(layout->num_buckets());
  using Bucket = typename decltype(H::buckets)::value_type;
  SpreadBuckets(*sample.layout, std::span<const Bucket>(sample.buckets), *layout,
                std::span(spread.buckets));
  return spread;
}

// Reads chunks back and compares with the samples that went in.
template <typename H, typename Columns>
void ExpectSamples(ChunkEncoding encoding, const std::vector<std::string>& chunks,
                   const std::vector<std::pair<int64_t, H>>& samples) {
  size_t next = 0;
  for (const std::string& chunk : chunks) {
    Columns columns;
    const absl::Status status =
        DecodeHistogramChunk(encoding, chunk, HistogramDetail::kFull, &columns);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t row = 0; row < columns.times_ms.size(); ++row, ++next) {
      ASSERT_LT(next, samples.size());
      EXPECT_EQ(columns.times_ms[row], samples[next].first);
      const H& sample = samples[next].second;
      EXPECT_EQ(std::bit_cast<uint64_t>(columns.sums[row]), std::bit_cast<uint64_t>(sample.sum));
      if (model::IsStaleNan(sample.sum)) continue;
      EXPECT_EQ(columns.counts[row], sample.count);
      EXPECT_EQ(columns.zero_counts[row], sample.zero_count);
      EXPECT_EQ(RowOf(columns, row).buckets, InLayout(sample, columns.layout).buckets);
      EXPECT_EQ(columns.layout->schema, sample.layout->schema);
      EXPECT_EQ(columns.layout->zero_threshold, sample.layout->zero_threshold);
      EXPECT_EQ(columns.layout->custom_bounds, sample.layout->custom_bounds);
    }
  }
  EXPECT_EQ(next, samples.size());
}

TEST(HistogramChunkTest, EncodesAndCutsExactlyAsPrometheusDoes) {
  size_t num_chunks = 0;
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != "int" && one.kind != "float") continue;
    SCOPED_TRACE(one.line);
    const std::vector<std::string> chunks = one.kind == "int"
                                                ? AppendAll(SamplesOf<model::Histogram>(one))
                                                : AppendAll(SamplesOf<model::FloatHistogram>(one));
    ASSERT_EQ(chunks.size(), one.chunks.size());
    for (size_t i = 0; i < chunks.size(); ++i) EXPECT_EQ(Hex(chunks[i]), Hex(one.chunks[i])) << i;
    num_chunks += chunks.size();
  }
  EXPECT_GT(num_chunks, 50u);
}

TEST(HistogramChunkTest, DecodesWhatPrometheusEncoded) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (!IsHistogramKind(one.kind)) continue;
    SCOPED_TRACE(one.line);
    const ChunkEncoding encoding = EncodingOf(one.kind);
    if (one.kind.starts_with("int")) {
      const auto samples = SamplesOf<model::Histogram>(one);
      ExpectSamples<model::Histogram, IntegerHistogramColumns>(encoding, one.chunks, samples);
      std::vector<std::pair<int64_t, model::FloatHistogram>> floats;
      for (const auto& [time_ms, sample] : samples) {
        floats.emplace_back(time_ms, model::ToFloat(sample));
      }
      ExpectSamples<model::FloatHistogram, HistogramColumns>(encoding, one.chunks, floats);
    } else {
      ExpectSamples<model::FloatHistogram, HistogramColumns>(encoding, one.chunks,
                                                             SamplesOf<model::FloatHistogram>(one));
    }
  }
}

TEST(HistogramChunkTest, CountAndSumOnlyGivesTheSameWithoutBuckets) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (!IsHistogramKind(one.kind)) continue;
    for (const std::string& chunk : one.chunks) {
      HistogramColumns full, narrow;
      ASSERT_TRUE(
          DecodeHistogramChunk(EncodingOf(one.kind), chunk, HistogramDetail::kFull, &full).ok());
      ASSERT_TRUE(
          DecodeHistogramChunk(EncodingOf(one.kind), chunk, HistogramDetail::kCountAndSum, &narrow)
              .ok());
      EXPECT_TRUE(narrow.buckets.empty());
      EXPECT_EQ(narrow.times_ms, full.times_ms);
      EXPECT_EQ(narrow.counts, full.counts);
      EXPECT_EQ(narrow.zero_counts, full.zero_counts);
      EXPECT_EQ(narrow.hints, full.hints);
      EXPECT_EQ(*narrow.layout, *full.layout);
      for (size_t i = 0; i < full.sums.size(); ++i) {
        EXPECT_EQ(std::bit_cast<uint64_t>(narrow.sums[i]), std::bit_cast<uint64_t>(full.sums[i]));
      }
    }
  }
}

TEST(HistogramChunkTest, OnlyLaterSamplesOfACounterChunkKnowThatTheyAreNoReset) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (!IsHistogramKind(one.kind)) continue;
    for (const std::string& chunk : one.chunks) {
      HistogramColumns columns;
      ASSERT_TRUE(
          DecodeHistogramChunk(EncodingOf(one.kind), chunk, HistogramDetail::kFull, &columns).ok());
      for (size_t row = 0; row < columns.hints.size(); ++row) {
        if (model::IsStaleNan(columns.sums[row])) continue;
        const CounterResetHint want = columns.header == CounterReset::kGauge
                                          ? CounterResetHint::kGauge
                                      : row == 0 ? CounterResetHint::kUnknown
                                                 : CounterResetHint::kNotReset;
        EXPECT_EQ(columns.hints[row], want);
      }
    }
  }
}

TEST(HistogramChunkTest, AChunkCutAtAnyByteIsRefused) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (!IsHistogramKind(one.kind)) continue;
    for (const std::string& chunk : one.chunks) {
      for (size_t size = 0; size < chunk.size(); ++size) {
        HistogramColumns columns;
        const absl::Status status = DecodeHistogramChunk(
            EncodingOf(one.kind), chunk.substr(0, size), HistogramDetail::kFull, &columns);
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << one.line << " cut at " << size;
        ASSERT_TRUE(columns.times_ms.empty() && columns.buckets.empty());
      }
    }
  }
}

TEST(HistogramChunkTest, AFlippedBitGivesAnErrorOrSamples) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (!IsHistogramKind(one.kind)) continue;
    const std::string& chunk = one.chunks[0];
    for (size_t bit = 0; bit < chunk.size() * 8; ++bit) {
      std::string flipped = chunk;
      flipped[bit / 8] ^= static_cast<char>(0x80 >> bit % 8);
      HistogramColumns columns;
      const absl::Status status =
          DecodeHistogramChunk(EncodingOf(one.kind), flipped, HistogramDetail::kFull, &columns);
      if (status.ok()) {
        const size_t num_rows = NumChunkSamples(EncodingOf(one.kind), flipped);
        EXPECT_EQ(columns.times_ms.size(), num_rows);
        EXPECT_EQ(columns.buckets.size(), num_rows * columns.layout->num_buckets());
      } else {
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

// A few bytes that claim billions of buckets, spans or bounds.
TEST(HistogramChunkTest, ClaimedSizesBeyondTheBytesAreRefused) {
  for (const char* hex : {
           "000100"
           "00"
           "7fffffffffffffffff80",  // 2^64-1 positive spans.
           "000100"
           "00"
           "5fffffffe0"
           "00000000",  // One span of 2^25-1 buckets.
           "ffff00"
           "00"
           "0"
           "0000000000000000000000000000",
       }) {
    HistogramColumns columns;
    EXPECT_EQ(DecodeHistogramChunk(ChunkEncoding::kHistogram, Unhex(hex), HistogramDetail::kFull,
                                   &columns)
                  .code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(HistogramChunkTest, WrongKindsAreRefused) {
  HistogramColumns columns;
  IntegerHistogramColumns integers;
  EXPECT_EQ(
      DecodeHistogramChunk(ChunkEncoding::kXor, "xxxx", HistogramDetail::kFull, &columns).code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeHistogramChunk(ChunkEncoding::kFloatHistogram, "xxxx", HistogramDetail::kFull,
                                 &integers)
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HistogramChunkTest, EqualLayoutsKeepTheirObject) {
  std::vector<RecordedCase> cases = ReadRecordedCases();
  for (const RecordedCase& one : cases) {
    if (one.kind != "int") continue;
    HistogramColumns columns;
    ASSERT_TRUE(DecodeHistogramChunk(ChunkEncoding::kHistogram, one.chunks[0],
                                     HistogramDetail::kFull, &columns)
                    .ok());
    const model::LayoutPtr before = columns.layout;
    ASSERT_TRUE(DecodeHistogramChunk(ChunkEncoding::kHistogram, one.chunks[0],
                                     HistogramDetail::kFull, &columns)
                    .ok());
    EXPECT_EQ(columns.layout, before);
  }
}

// A schema of a newer version: two buckets of schema 9 make one of schema 8.
TEST(HistogramChunkTest, SchemasAboveEightAreReducedOnReading) {
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = 9;
  layout->positive_spans = {{1, 4}};
  model::Histogram sample;
  sample.layout = layout;
  sample.count = 10;
  sample.sum = 1;
  sample.buckets = {1, 2, 3, 4};
  std::string chunk;
  HistogramAppender appender = HistogramAppender::Open(&chunk).value();
  appender.Append(1, sample);
  sample.count = 14;
  sample.buckets = {2, 3, 4, 5};
  appender.Append(2, sample);

  for (const HistogramDetail detail : {HistogramDetail::kFull, HistogramDetail::kCountAndSum}) {
    HistogramColumns columns;
    ASSERT_TRUE(DecodeHistogramChunk(ChunkEncoding::kHistogram, chunk, detail, &columns).ok());
    EXPECT_EQ(columns.layout->schema, 8);
    EXPECT_EQ(columns.layout->positive_spans, (std::vector<model::BucketSpan>{{1, 2}}));
    if (detail == HistogramDetail::kFull) {
      EXPECT_EQ(columns.buckets, (std::vector<double>{3, 7, 5, 9}));
    }
    EXPECT_EQ(columns.counts, (std::vector<double>{10, 14}));
  }
}

template <typename H>
class AppenderTest : public testing::Test {};
using Kinds = testing::Types<model::Histogram, model::FloatHistogram>;
TYPED_TEST_SUITE(AppenderTest, Kinds);

TYPED_TEST(AppenderTest, AReopenedChunkGoesOnAsIfItHadNotBeenClosed) {
  const std::string kind = std::is_same_v<TypeParam, model::Histogram> ? "int" : "float";
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != kind) continue;
    SCOPED_TRACE(one.line);
    std::vector<std::string> chunks(1);
    for (const auto& [time_ms, sample] : SamplesOf<TypeParam>(one)) {
      auto appender = BasicHistogramAppender<TypeParam>::Open(&chunks.back());
      ASSERT_TRUE(appender.ok()) << appender.status();
      const Verdict verdict = appender->Offer(sample);
      if (verdict.fit == Fit::kWiden) appender->Widen(sample);
      if (verdict.fit == Fit::kCut) {
        chunks.emplace_back();
        appender = BasicHistogramAppender<TypeParam>::Open(&chunks.back());
      }
      appender->Append(time_ms, sample, verdict.next_header);
      EXPECT_EQ(appender->last_time_ms(), time_ms);
    }
    ASSERT_EQ(chunks.size(), one.chunks.size());
    for (size_t i = 0; i < chunks.size(); ++i) EXPECT_EQ(Hex(chunks[i]), Hex(one.chunks[i]));
  }
}

TYPED_TEST(AppenderTest, AChunkTornAtAnyByteDoesNotOpen) {
  const std::string kind = std::is_same_v<TypeParam, model::Histogram> ? "int" : "float";
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != kind) continue;
    for (size_t size = 1; size < one.chunks[0].size(); ++size) {
      std::string torn = one.chunks[0].substr(0, size);
      EXPECT_EQ(BasicHistogramAppender<TypeParam>::Open(&torn).status().code(),
                absl::StatusCode::kDataLoss);
    }
  }
}

class HistogramAppenderTest : public testing::Test {
 protected:
  static model::Histogram Buckets(std::vector<int64_t> buckets) {
    auto layout = std::make_shared<model::HistogramLayout>();
    layout->positive_spans = {{0, static_cast<uint32_t>(buckets.size())}};
    model::Histogram histogram;
    histogram.layout = std::move(layout);
    for (const int64_t bucket : buckets) histogram.count += static_cast<uint64_t>(bucket);
    histogram.sum = 2.5;
    histogram.buckets = std::move(buckets);
    return histogram;
  }
  void SetUp() override { appender_.Append(/*time_ms=*/15, Buckets({1, 2})); }

  std::string chunk_;
  HistogramAppender appender_ = HistogramAppender::Open(&chunk_).value();
};

// The worked example of docs/format/chunks.md: pins the format.
TEST_F(HistogramAppenderTest, FirstSampleHasTheDocumentedBytes) {
  EXPECT_EQ(Hex(chunk_), "0001000046463e640040000000000008c4");
}

TEST_F(HistogramAppenderTest, AShrunkBucketCutsTheChunkAsAReset) {
  EXPECT_EQ(appender_.Offer(Buckets({9, 1})), (Verdict{Fit::kCut, CounterReset::kReset}));
}

TEST_F(HistogramAppenderTest, AMissingPopulatedBucketIsAReset) {
  EXPECT_EQ(appender_.Offer(Buckets({9})), (Verdict{Fit::kCut, CounterReset::kReset}));
}

TEST_F(HistogramAppenderTest, ANewBucketWidens) {
  EXPECT_EQ(appender_.Offer(Buckets({1, 2, 1})), (Verdict{Fit::kWiden, CounterReset::kNotReset}));
}

TEST_F(HistogramAppenderTest, AGaugeAfterACounterCuts) {
  model::Histogram gauge = Buckets({1, 2});
  gauge.hint = CounterResetHint::kGauge;
  EXPECT_EQ(appender_.Offer(gauge), (Verdict{Fit::kCut, CounterReset::kGauge}));
}

TEST_F(HistogramAppenderTest, AnotherSchemaCutsWithoutKnowingOfAReset) {
  model::Histogram other = Buckets({1, 2});
  auto layout = std::make_shared<model::HistogramLayout>(*other.layout);
  layout->schema = 1;
  other.layout = layout;
  EXPECT_EQ(appender_.Offer(other), (Verdict{Fit::kCut, CounterReset::kUnknown}));
}

TEST_F(HistogramAppenderTest, AStaleMarkerAlwaysFitsAndOnlyMarkersFollow) {
  model::Histogram stale;
  stale.sum = model::StaleNan();
  ASSERT_EQ(appender_.Offer(stale), (Verdict{Fit::kAppend, CounterReset::kNotReset}));
  appender_.Append(30, stale);
  EXPECT_EQ(appender_.Offer(Buckets({1, 2})), (Verdict{Fit::kCut, CounterReset::kUnknown}));
  EXPECT_EQ(appender_.Offer(stale).fit, Fit::kAppend);
  appender_.Append(45, stale);
  HistogramColumns columns;
  ASSERT_TRUE(
      DecodeHistogramChunk(ChunkEncoding::kHistogram, chunk_, HistogramDetail::kFull, &columns)
          .ok());
  EXPECT_EQ(columns.times_ms, (std::vector<int64_t>{15, 30, 45}));
  EXPECT_EQ(columns.buckets, (std::vector<double>{1, 2, 0, 0, 0, 0}));
}

TEST_F(HistogramAppenderTest, AChunkMayStartWithAStaleMarkerThatHasNoLayout) {
  std::string chunk;
  HistogramAppender appender = HistogramAppender::Open(&chunk).value();
  model::Histogram stale;
  stale.sum = model::StaleNan();
  appender.Append(1, stale);
  HistogramColumns columns;
  ASSERT_TRUE(
      DecodeHistogramChunk(ChunkEncoding::kHistogram, chunk, HistogramDetail::kFull, &columns)
          .ok());
  EXPECT_EQ(columns.layout->num_buckets(), 0u);
  EXPECT_TRUE(model::IsStaleNan(columns.sums.at(0)));
}

}  // namespace
}  // namespace narthex::codec
