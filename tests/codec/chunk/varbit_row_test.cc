#include "codec/chunk/varbit_row.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/codec/chunk/plain_chunks.h"

namespace narthex::codec {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::string Write(const std::vector<int64_t>& numbers) {
  std::string bytes;
  BitWriter writer(&bytes, 0);
  for (const int64_t number : numbers) WriteVarbitSigned(&writer, number);
  writer.Finish();
  return bytes;
}

void ExpectReadBack(const std::vector<int64_t>& numbers) {
  const std::string bytes = Write(numbers);
  PlainBits plain(bytes);
  for (const int64_t number : numbers) ASSERT_EQ(plain.VarbitSigned(), number);
  ASSERT_FALSE(plain.failed());
  for (const VarbitRows rows : {VarbitRows::kSmall, VarbitRows::kLarge}) {
    BitReader reader(bytes);
    std::vector<int64_t> out(numbers.size() + kVarbitRowSlack);
    ReadVarbits(reader, rows, numbers.size(), out);
    out.resize(numbers.size());
    EXPECT_EQ(out, numbers);
    EXPECT_FALSE(reader.overrun());
    EXPECT_LT(reader.num_left(), 8u);
  }
  BitReader reader(bytes);
  SkipVarbits(reader, numbers.size());
  EXPECT_FALSE(reader.overrun());
  EXPECT_LT(reader.num_left(), 8u);
}

TEST(VarbitRowTest, NumbersAtTheEdgeOfEachWidthRoundTrip) {
  std::vector<int64_t> numbers = {0, kMin, kMin + 1, kMax, kMax - 1};
  for (int shift = 0; shift < 63; ++shift) {
    for (int64_t step = -2; step <= 2; ++step) {
      numbers.push_back((int64_t{1} << shift) + step);
      numbers.push_back(-(int64_t{1} << shift) + step);
    }
  }
  ExpectReadBack(numbers);
  for (const int64_t number : numbers) ExpectReadBack({number});
}

// The bits of the format's table: 0; 10 and 3 bits; 110 and 6 bits; ...
TEST(VarbitRowTest, WidthsAreTheFormats) {
  EXPECT_EQ(Write({0}), std::string(1, '\0'));
  EXPECT_EQ(Write({4}), "\xa0");                       // 10 100, though 4 has its sign bit set.
  EXPECT_EQ(Write({-3}), "\xa8");                      // 10 101
  EXPECT_EQ(Write({5}), std::string("\xc2\x80", 2));   // 110 000101
  EXPECT_EQ(Write({-4}), std::string("\xde\x00", 2));  // 110 111100
}

TEST(VarbitRowTest, UnsignedNumbersRoundTrip) {
  std::string bytes;
  BitWriter writer(&bytes, 0);
  std::vector<uint64_t> numbers;
  for (int shift = 0; shift < 64; ++shift) {
    for (const uint64_t step : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      numbers.push_back((uint64_t{1} << shift) + step);
    }
  }
  for (const uint64_t number : numbers) WriteVarbitUnsigned(&writer, number);
  writer.Finish();
  BitReader reader(bytes);
  PlainBits plain(bytes);
  for (const uint64_t number : numbers) {
    EXPECT_EQ(ReadVarbitUnsigned(reader), number);
    EXPECT_EQ(plain.VarbitUnsigned(), number);
  }
  EXPECT_FALSE(reader.overrun());
}

TEST(VarbitRowTest, RandomRowsReadTheSameInEveryWay) {
  const char* const given = std::getenv("NARTHEX_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 11;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> numbers(random() % 200);
    const int max_bits = 1 + static_cast<int>(random() % (round % 4 == 0 ? 64 : 10));
    for (int64_t& number : numbers) {
      const auto width = static_cast<int>(random() % static_cast<uint64_t>(max_bits));
      number = static_cast<int64_t>(random() & ((uint64_t{1} << width) - 1));
      if (random() % 2 == 0) number = -number;
    }
    ExpectReadBack(numbers);
    if (HasFailure()) return;
  }
}

TEST(VarbitRowTest, ReadingPastTheEndIsNoticed) {
  const std::string bytes = Write({5, 0, 0, -7});
  for (const VarbitRows rows : {VarbitRows::kSmall, VarbitRows::kLarge}) {
    BitReader reader(bytes);
    std::vector<int64_t> out(100 + kVarbitRowSlack);
    ReadVarbits(reader, rows, 100, out);
    EXPECT_TRUE(reader.overrun());
  }
  BitReader reader(bytes);
  SkipVarbits(reader, 100);
  EXPECT_TRUE(reader.overrun());
}

TEST(VarbitRowTest, AddRowSumsTwice) {
  std::vector<uint64_t> deltas = {1, 2, static_cast<uint64_t>(kMax)};
  std::vector<int64_t> buckets = {10, 20, kMax};
  AddRow(std::vector<int64_t>{3, -5, 1}, deltas, buckets);
  EXPECT_EQ(deltas, (std::vector<uint64_t>{4, static_cast<uint64_t>(-3), uint64_t{1} << 63}));
  EXPECT_EQ(buckets, (std::vector<int64_t>{14, 17, -1}));
}

}  // namespace
}  // namespace narthex::codec
