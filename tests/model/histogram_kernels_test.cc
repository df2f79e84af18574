#include "model/histogram_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "narthex/model/kahan.h"

namespace narthex::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Values of all sizes, with zeros among them, and if asked for infinities, NaNs and values near the
// largest.
std::vector<double> RandomRun(std::mt19937_64* random, size_t size, bool with_extremes) {
  std::vector<double> run(size);
  for (double& value : run) {
    switch ((*random)() % (with_extremes ? 10 : 7)) {
      case 0:
        value = (*random)() % 2 == 0 ? 0.0 : -0.0;
        break;
      case 7:
        value = (*random)() % 2 == 0 ? kInfinity : -kInfinity;
        break;
      case 8:
        value = std::nan("");
        break;
      case 9:
        value = std::numeric_limits<double>::max() / static_cast<double>((*random)() % 3);
        break;
      default:
        value =
            std::ldexp(static_cast<double>((*random)()), static_cast<int>((*random)() % 80) - 40);
        if ((*random)() % 2 == 0) value = -value;
    }
  }
  return run;
}

bool SameBits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

TEST(HistogramKernelsTest, RunsAgreeWithTheirPlainTwins) {
  std::mt19937_64 random(7);
  for (size_t round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const size_t size = round / 4;
    const bool with_extremes = round % 2 == 1;
    const std::vector<double> a = RandomRun(&random, size, with_extremes);
    const std::vector<double> b = RandomRun(&random, size, with_extremes);
    const std::vector<double> c = RandomRun(&random, size, with_extremes);
    std::vector<double> added = a, subtracted = a, sums = a, lost = c, multiplied = a, divided = a;
    AddRun(added, b);
    SubtractRun(subtracted, b);
    AddRunCompensated(sums, lost, b);
    MultiplyRun(multiplied, 1.7);
    DivideRun(divided, -3);
    bool any_less = false;
    bool any_zero = false;
    double largest = 0;
    for (size_t i = 0; i < size; ++i) {
      SCOPED_TRACE(i);
      EXPECT_TRUE(SameBits(added[i], a[i] + b[i]));
      EXPECT_TRUE(SameBits(subtracted[i], a[i] - b[i]));
      EXPECT_TRUE(SameBits(multiplied[i], a[i] * 1.7));
      EXPECT_TRUE(SameBits(divided[i], a[i] / -3));
      KahanSum sum{a[i], c[i]};
      sum.Add(b[i]);
      EXPECT_TRUE(SameBits(sums[i], sum.sum));
      EXPECT_TRUE(SameBits(lost[i], sum.compensation));
      any_less = any_less || a[i] < b[i];
      any_zero = any_zero || a[i] == 0;
      if (std::abs(a[i]) > largest) largest = std::abs(a[i]);
    }
    EXPECT_EQ(AnyLess(a, b), any_less);
    EXPECT_EQ(AnyZero(a), any_zero);
    EXPECT_EQ(LargestMagnitude(a), largest);
  }
}

TEST(KahanSumTest, KeepsWhatRoundingLoses) {
  KahanSum sum;
  for (const double value : {1.0, 1e100, 1.0, -1e100}) sum.Add(value);
  EXPECT_EQ(sum.value(), 2);
}

TEST(KahanSumTest, AnInfiniteSumHasNoCompensation) {
  KahanSum sum;
  for (const double value : {1e-9, 1.0, kInfinity, 1.0}) sum.Add(value);
  EXPECT_EQ(sum.value(), kInfinity);
  sum.Add(-kInfinity);
  EXPECT_TRUE(std::isnan(sum.value()));
}

}  // namespace
}  // namespace narthex::model
