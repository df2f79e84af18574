#include "narthex/codec/chunk/float_chunk.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "narthex/model/stale.h"
#include "tests/codec/chunk/plain_chunks.h"
#include "tests/codec/chunk/recorded.h"

namespace narthex::codec {
namespace {

using Samples = std::vector<std::pair<int64_t, double>>;

std::string AppendOneByOne(const Samples& samples) {
  std::string chunk;
  XorAppender appender = XorAppender::Open(&chunk).value();
  for (const auto& [time_ms, value] : samples) appender.Append(time_ms, value);
  return chunk;
}

std::string EncodeAtOnce(const Samples& samples) {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
  for (const auto& [time_ms, value] : samples) {
    times_ms.push_back(time_ms);
    values.push_back(value);
  }
  std::string chunk = "replaced";
  EncodeXorChunk(times_ms, values, &chunk);
  return chunk;
}

void ExpectSamples(ChunkEncoding encoding, std::string_view chunk, const Samples& samples) {
  FloatColumns columns;
  ASSERT_TRUE(DecodeFloatChunk(encoding, chunk, &columns).ok());
  ASSERT_EQ(columns.times_ms.size(), samples.size());
  ASSERT_EQ(columns.values.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(columns.times_ms[i], samples[i].first) << i;
    EXPECT_EQ(std::bit_cast<uint64_t>(columns.values[i]),
              std::bit_cast<uint64_t>(samples[i].second))
        << i;
  }
}

// Samples of a random kind: steps and values from constant to wild.
Samples RandomSamples(std::mt19937_64& random) {
  Samples samples;
  const int step_kind = static_cast<int>(random() % 4);
  const int value_kind = static_cast<int>(random() % 6);
  auto time_ms = static_cast<int64_t>(random() % 2'000'000'000'000);
  double value = static_cast<double>(random() % 1000);
  const size_t count = 1 + random() % 240;
  for (size_t i = 0; i < count; ++i) {
    samples.emplace_back(time_ms, value);
    time_ms += 15'000;
    if (step_kind == 1) time_ms += static_cast<int64_t>(random() % 11) - 5;
    if (step_kind == 2) time_ms += static_cast<int64_t>(random() >> (random() % 44 + 20));
    if (step_kind == 3 && random() % 10 == 0) time_ms += 123'456;
    if (value_kind == 1) value += static_cast<double>(random() % 100);
    if (value_kind == 2) value = static_cast<double>(random() % 2'000'000) / 1000;
    if (value_kind == 3) value = std::bit_cast<double>(static_cast<uint64_t>(random()));
    if (value_kind == 4 && random() % 4 == 0) value += 1;
    if (value_kind == 5) {
      const uint64_t flips = random() >> (random() % 64);
      value = std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ flips);
    }
  }
  return samples;
}

uint64_t Seed() {
  const char* const seed = std::getenv("NARTHEX_TEST_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 7;
}

TEST(FloatChunkTest, EncodesExactlyWhatPrometheusDoes) {
  size_t num_cases = 0;
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != "xor") continue;
    SCOPED_TRACE(one.line);
    EXPECT_EQ(Hex(AppendOneByOne(one.floats)), Hex(one.chunks.at(0)));
    EXPECT_EQ(Hex(EncodeAtOnce(one.floats)), Hex(one.chunks.at(0)));
    ++num_cases;
  }
  EXPECT_GE(num_cases, 8u);
}

TEST(FloatChunkTest, DecodesWhatPrometheusEncoded) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    SCOPED_TRACE(one.line);
    if (one.kind == "xor") ExpectSamples(ChunkEncoding::kXor, one.chunks.at(0), one.floats);
    if (one.kind == "xor2") ExpectSamples(ChunkEncoding::kXor2, one.chunks.at(0), one.floats);
  }
}

// The worked example of docs/format/chunks.md.
TEST(FloatChunkTest, TheDocumentedExampleHasTheDocumentedBytes) {
  const Samples samples = {{15, 1}, {30, 1}, {45, 2.5}};
  EXPECT_EQ(Hex(AppendOneByOne(samples)), "00031e3ff00000000000000f309bffd0");
  ExpectSamples(ChunkEncoding::kXor, AppendOneByOne(samples), samples);
}

// All 64 bits differ: the width field has 6 bits and holds 0.
TEST(FloatChunkTest, SixtyFourSignificantBitsWrapToZero) {
  const double first = 0;
  const double second = std::bit_cast<double>(uint64_t{0x8000000000000001});
  const Samples samples = {{0, first}, {1, second}, {2, first}, {3, second}};
  const std::string chunk = AppendOneByOne(samples);
  // 11, leading 00000, width 000000, then the 64 bits.
  EXPECT_EQ(Hex(chunk.substr(0, 15)),
            "0004000000000000000000"
            "01"
            "c00400");
  ExpectSamples(ChunkEncoding::kXor, chunk, samples);
}

TEST(FloatChunkTest, DeltasAtTheEdgeOfEachWidthRoundTrip) {
  for (const int width : {14, 17, 20, 64}) {
    const int64_t half =
        width == 64 ? std::numeric_limits<int64_t>::max() / 4 : int64_t{1} << (width - 1);
    for (int64_t edge : {-half - 1, -half, -half + 1, half - 1, half, half + 1}) {
      SCOPED_TRACE(edge);
      // The third sample's delta of deltas is the edge.
      const Samples samples = {{0, 1}, {1'000'000, 1}, {2'000'000 + edge, 1}, {3'000'000, 2}};
      ExpectSamples(ChunkEncoding::kXor, AppendOneByOne(samples), samples);
    }
  }
}

TEST(FloatChunkTest, ExtremeTimesAndSpecialValuesRoundTrip) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Samples samples = {
      {kMin, model::StaleNan()}, {kMax, std::numeric_limits<double>::infinity()},   {0, -0.0},
      {-1, model::NormalNan()},  {kMax, std::numeric_limits<double>::denorm_min()}, {kMin, 0.0}};
  ExpectSamples(ChunkEncoding::kXor, AppendOneByOne(samples), samples);
}

TEST(FloatChunkTest, TheFastDecoderAgreesWithThePlainOne) {
  std::mt19937_64 random(Seed());
  RecordProperty("seed", std::to_string(Seed()));
  for (int round = 0; round < 2000; ++round) {
    const Samples samples = RandomSamples(random);
    const std::string chunk = EncodeAtOnce(samples);
    const auto plain = PlainXor(chunk);
    ASSERT_TRUE(plain.has_value());
    FloatColumns columns;
    ASSERT_TRUE(DecodeFloatChunk(ChunkEncoding::kXor, chunk, &columns).ok());
    ASSERT_EQ(columns.times_ms.size(), plain->size());
    for (size_t i = 0; i < plain->size(); ++i) {
      ASSERT_EQ(columns.times_ms[i], (*plain)[i].first) << "seed " << Seed();
      ASSERT_EQ(std::bit_cast<uint64_t>(columns.values[i]), (*plain)[i].second);
      ASSERT_EQ(columns.times_ms[i], samples[i].first);
    }
  }
}

// Damaged bytes too: both refuse, or both give the same samples.
TEST(FloatChunkTest, BothDecodersAgreeOnDamagedChunks) {
  std::mt19937_64 random(Seed() + 1);
  for (int round = 0; round < 200; ++round) {
    std::string chunk = EncodeAtOnce(RandomSamples(random));
    for (int flips = 0; flips < 20; ++flips) {
      std::string damaged = chunk.substr(0, 1 + random() % chunk.size());
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      const auto plain = PlainXor(damaged);
      FloatColumns columns;
      const bool ok = DecodeFloatChunk(ChunkEncoding::kXor, damaged, &columns).ok();
      if (!plain.has_value()) {
        EXPECT_FALSE(ok);
        continue;
      }
      // A varint of more than 64 bits is the one thing the plain decoder lets pass.
      if (!ok) continue;
      ASSERT_EQ(columns.times_ms.size(), plain->size());
      for (size_t i = 0; i < plain->size(); ++i) {
        EXPECT_EQ(std::bit_cast<uint64_t>(columns.values[i]), (*plain)[i].second);
      }
    }
  }
}

TEST(FloatChunkTest, AChunkCutAtAnyByteIsRefused) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != "xor" && one.kind != "xor2") continue;
    const ChunkEncoding encoding = one.kind == "xor" ? ChunkEncoding::kXor : ChunkEncoding::kXor2;
    for (size_t size = 0; size < one.chunks[0].size(); ++size) {
      FloatColumns columns;
      EXPECT_EQ(DecodeFloatChunk(encoding, one.chunks[0].substr(0, size), &columns).code(),
                absl::StatusCode::kDataLoss)
          << one.line << " cut at " << size;
      EXPECT_TRUE(columns.times_ms.empty() && columns.values.empty());
    }
  }
}

TEST(FloatChunkTest, AFlippedBitGivesAnErrorOrSamples) {
  for (const RecordedCase& one : ReadRecordedCases()) {
    if (one.kind != "xor" && one.kind != "xor2") continue;
    const ChunkEncoding encoding = one.kind == "xor" ? ChunkEncoding::kXor : ChunkEncoding::kXor2;
    for (size_t bit = 0; bit < one.chunks[0].size() * 8; ++bit) {
      std::string flipped = one.chunks[0];
      flipped[bit / 8] ^= static_cast<char>(0x80 >> bit % 8);
      FloatColumns columns;
      const absl::Status status = DecodeFloatChunk(encoding, flipped, &columns);
      if (status.ok()) {
        EXPECT_EQ(columns.times_ms.size(), NumChunkSamples(encoding, flipped));
      } else {
        EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

TEST(FloatChunkTest, OtherEncodingsAreRefused) {
  FloatColumns columns;
  EXPECT_EQ(DecodeFloatChunk(ChunkEncoding::kHistogram, "xxxxx", &columns).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FloatChunkTest, AChunkWithoutSamplesIsEmpty) {
  FloatColumns columns;
  columns.times_ms = {1};
  columns.values = {1};
  EXPECT_TRUE(DecodeFloatChunk(ChunkEncoding::kXor, std::string(2, '\0'), &columns).ok());
  EXPECT_TRUE(columns.times_ms.empty());
}

TEST(XorAppenderTest, AReopenedChunkGoesOnAsIfItHadNotBeenClosed) {
  std::mt19937_64 random(Seed() + 2);
  for (int round = 0; round < 50; ++round) {
    const Samples samples = RandomSamples(random);
    std::string chunk;
    for (const auto& [time_ms, value] : samples) {
      absl::StatusOr<XorAppender> appender = XorAppender::Open(&chunk);
      ASSERT_TRUE(appender.ok());
      appender->Append(time_ms, value);
      EXPECT_EQ(appender->last_time_ms(), time_ms);
      EXPECT_EQ(std::bit_cast<uint64_t>(appender->last_value()), std::bit_cast<uint64_t>(value));
    }
    EXPECT_EQ(Hex(chunk), Hex(EncodeAtOnce(samples)));
  }
}

TEST(XorAppenderTest, ATornOrPaddedChunkDoesNotOpen) {
  const std::string chunk = AppendOneByOne({{15, 1}, {30, 1}, {45, 2.5}});
  for (size_t size = 1; size < chunk.size(); ++size) {
    std::string torn = chunk.substr(0, size);
    EXPECT_EQ(XorAppender::Open(&torn).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  std::string padded = chunk + std::string(2, '\0');
  EXPECT_EQ(XorAppender::Open(&padded).status().code(), absl::StatusCode::kDataLoss);
}

// As older versions left it when the last sample ended with a byte.
TEST(XorAppenderTest, AFreeLastByteIsTakenBack) {
  std::string chunk = AppendOneByOne({{15, 1}});
  chunk.push_back('\0');
  XorAppender::Open(&chunk).value().Append(30, 2.5);
  EXPECT_EQ(Hex(chunk), Hex(AppendOneByOne({{15, 1}, {30, 2.5}})));
}

}  // namespace
}  // namespace narthex::codec
