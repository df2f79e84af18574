#include "head/float_column.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "narthex/model/stale.h"

namespace narthex::head {
namespace {

std::vector<uint64_t> Bits(const std::vector<double>& values) {
  std::vector<uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

class FloatColumnTest : public testing::Test {
 protected:
  // Appends one by one and compares everything after each.
  void AppendAll(const std::vector<double>& values) {
    std::vector<double> so_far;
    for (const double value : values) {
      AppendFloat(&arena_, &series_, so_far.size(), value);
      so_far.push_back(value);
      std::vector<double> decoded;
      DecodeFloats(arena_, series_, so_far.size(), &decoded);
      ASSERT_EQ(Bits(decoded), Bits(so_far)) << "after sample " << so_far.size();
      ASSERT_EQ(std::bit_cast<uint64_t>(NewestFloat(series_)), std::bit_cast<uint64_t>(value));
    }
  }
  void Drop() {
    DropFloats(&arena_, &series_);
    EXPECT_EQ(arena_.live_bytes(), 0u);
  }

  Arena arena_;
  Series series_;
};

TEST_F(FloatColumnTest, AConstantTakesNoBytesEvenWhenItEnds) {
  std::vector<double> values(100, 0.1 + 0.2);
  values.push_back(model::StaleNan());
  AppendAll(values);
  EXPECT_EQ(series_.kind, ColumnKind::kConstant);
  EXPECT_EQ(arena_.live_bytes(), 0u);
}

TEST_F(FloatColumnTest, ACounterTakesAByteOrTwoASample) {
  std::vector<double> values;
  for (int i = 0; i < 120; ++i) values.push_back(1e9 + i * 700 + i % 7);
  AppendAll(values);
  EXPECT_EQ(series_.kind, ColumnKind::kDecimal);
  EXPECT_LE(series_.column_size, 245);
}

TEST_F(FloatColumnTest, DecimalsAreWholeNumbersOfAPowerOfTen) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(std::round(41.5 * 100 + i * 3) / 100);
  AppendAll(values);
  EXPECT_EQ(series_.kind, ColumnKind::kDecimal);
  EXPECT_LE(series_.column_size, 70);
}

TEST_F(FloatColumnTest, EveryBitPatternSurvives) {
  const double inf = std::numeric_limits<double>::infinity();
  AppendAll({0, -0.0, 0, inf, -inf, model::NormalNan(), model::StaleNan(), 1,
             std::bit_cast<double>(uint64_t{0x7ff8dead0000beef}), 5e-324, -5e-324, 1.7e308, 0});
  EXPECT_EQ(series_.kind, ColumnKind::kXor);
  Drop();
  AppendAll({-0.0, -0.0, -0.0});
  EXPECT_EQ(series_.kind, ColumnKind::kConstant);
  AppendFloat(&arena_, &series_, 3, 0.0);
  std::vector<double> decoded;
  DecodeFloats(arena_, series_, 4, &decoded);
  EXPECT_EQ(Bits(decoded), Bits({-0.0, -0.0, -0.0, 0.0}));
}

TEST_F(FloatColumnTest, StaleMarkersInTheMiddleStay) {
  const double stale = model::StaleNan();
  AppendAll({1, stale, 1, stale, stale, 2, 3.25, stale, 3.25, stale});
  EXPECT_EQ(series_.kind, ColumnKind::kDecimal);
  Drop();
  AppendAll({M_PI, M_E, stale, stale, 1 / 3.0, stale});
  Drop();
  AppendAll({stale, stale, 1, stale});
  Drop();
  AppendAll({M_PI, stale, M_PI, stale, 1.0});
}

TEST_F(FloatColumnTest, SteppingThroughAllTokenSizes) {
  std::vector<double> values = {0};
  for (const double step : {1.0, 64.0, 65.0, 4000.0, 5000.0, 5e5, 6e5, 6e7, 8e7, 1e9, 1e12, 4e15}) {
    values.push_back(values.back() + step);
    values.push_back(values.back() - step);
    values.push_back(values.back());
  }
  AppendAll(values);
  EXPECT_EQ(series_.kind, ColumnKind::kDecimal);
}

TEST_F(FloatColumnTest, RandomSequencesOfAllSortsAreLossless) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values;
    double value = static_cast<double>(random() % 1000);
    const size_t count = 1 + random() % 150;
    const uint64_t sort = random() % 6;
    while (values.size() < count) {
      switch (random() % 20 == 0 ? random() % 6 : sort) {
        case 0:
          break;
        case 1:
          value += static_cast<double>(random() % 100'000);
          break;
        case 2:
          value = std::round(value * 1000 + static_cast<double>(random() % 50)) / 1000;
          break;
        case 3:
          value = std::bit_cast<double>(random());
          break;
        case 4:
          value = model::StaleNan();
          break;
        default:
          value = -static_cast<double>(random() % (uint64_t{1} << 53));
          break;
      }
      values.push_back(value);
      if (std::isnan(value) && random() % 2 == 0) value = 1;
    }
    ASSERT_NO_FATAL_FAILURE(AppendAll(values));
    Drop();
  }
}

}  // namespace
}  // namespace narthex::head
