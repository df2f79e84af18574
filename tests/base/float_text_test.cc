#include "narthex/base/float_text.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace narthex::base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = 4.9406564584124654e-324;
constexpr double kLargest = std::numeric_limits<double>::max();

std::string Fixed(double value) {
  std::string out;
  AppendFloatFixed(&out, value);
  return out;
}
std::string Json(double value) {
  std::string out;
  AppendFloatJson(&out, value);
  return out;
}
std::string G(double value, int precision = -1) {
  std::string out;
  AppendFloatG(&out, value, precision);
  return out;
}
std::string OpenMetrics(double value) {
  std::string out;
  AppendFloatOpenMetrics(&out, value);
  return out;
}

TEST(FloatTextTest, SpecialValuesReadAlikeInEveryForm) {
  for (const auto form : {+[](double v) { return Fixed(v); }, +[](double v) { return Json(v); },
                          +[](double v) { return G(v); }, +[](double v) { return G(v, 3); },
                          +[](double v) { return OpenMetrics(v); }}) {
    EXPECT_EQ(form(kNan), "NaN");
    EXPECT_EQ(form(-kNan), "NaN");
    EXPECT_EQ(form(kInfinity), "+Inf");
    EXPECT_EQ(form(-kInfinity), "-Inf");
  }
}

TEST(FloatTextTest, NegativeZeroKeepsItsSign) {
  EXPECT_EQ(Fixed(0.0), "0");
  EXPECT_EQ(Fixed(-0.0), "-0");
  EXPECT_EQ(Json(-0.0), "-0");
  EXPECT_EQ(G(-0.0), "-0");
  EXPECT_EQ(G(-0.0, 2), "-0");
  EXPECT_EQ(OpenMetrics(-0.0), "-0.0");
}

TEST(FloatTextTest, FixedFormNeverHasAnExponentNorDigitsBeyondTheShortest) {
  EXPECT_EQ(Fixed(1), "1");
  EXPECT_EQ(Fixed(-1.5), "-1.5");
  EXPECT_EQ(Fixed(0.1), "0.1");
  EXPECT_EQ(Fixed(1e-7), "0.0000001");
  EXPECT_EQ(Fixed(123456789.125), "123456789.125");
  EXPECT_EQ(Fixed(1e23), "100000000000000000000000");
  EXPECT_EQ(Fixed(9007199254740993.0), "9007199254740992");
  EXPECT_EQ(Fixed(1e15), "1000000000000000");
  EXPECT_EQ(Fixed(999999999999999.0), "999999999999999");
  EXPECT_EQ(Fixed(18446744073709551616.0), "18446744073709552000");
  EXPECT_EQ(Fixed(kSmallest), "0." + std::string(323, '0') + "5");
  EXPECT_EQ(Fixed(kLargest), "17976931348623157" + std::string(292, '0'));
}

TEST(FloatTextTest, JsonFormTurnsToExponentsAtItsBorders) {
  EXPECT_EQ(Json(1e20), "100000000000000000000");
  EXPECT_EQ(Json(999999999999999868928.0), "999999999999999900000");
  EXPECT_EQ(Json(1e21), "1e+21");
  EXPECT_EQ(Json(-1e21), "-1e+21");
  EXPECT_EQ(Json(1.5e300), "1.5e+300");
  EXPECT_EQ(Json(1e-6), "0.000001");
  EXPECT_EQ(Json(1.25e-6), "0.00000125");
  EXPECT_EQ(Json(9.99e-7), "9.99e-07");
  EXPECT_EQ(Json(1e-7), "1e-07");
  EXPECT_EQ(Json(-1e-10), "-1e-10");
  EXPECT_EQ(Json(kSmallest), "5e-324");
  EXPECT_EQ(Json(2.2250738585072014e-308), "2.2250738585072014e-308");
  EXPECT_EQ(Json(kLargest), "1.7976931348623157e+308");
}

TEST(FloatTextTest, ShortestGTurnsToExponentsAtAMillionAndBelowATenThousandth) {
  EXPECT_EQ(G(100000), "100000");
  EXPECT_EQ(G(999999), "999999");
  EXPECT_EQ(G(999999.5), "999999.5");
  EXPECT_EQ(G(1e6), "1e+06");
  EXPECT_EQ(G(1234567), "1.234567e+06");
  EXPECT_EQ(G(-123456789), "-1.23456789e+08");
  EXPECT_EQ(G(1e20), "1e+20");
  EXPECT_EQ(G(1e21), "1e+21");
  EXPECT_EQ(G(0.0001), "0.0001");
  EXPECT_EQ(G(0.00012345), "0.00012345");
  EXPECT_EQ(G(0.00001), "1e-05");
  EXPECT_EQ(G(18446744073709551615.0), "1.8446744073709552e+19");
  EXPECT_EQ(G(kSmallest), "5e-324");
}

TEST(FloatTextTest, PrecisionCountsSignificantDigits) {
  EXPECT_EQ(G(3.14159, 2), "3.1");
  EXPECT_EQ(G(100, 2), "1e+02");
  EXPECT_EQ(G(99.5, 2), "1e+02");
  EXPECT_EQ(G(99.4, 2), "99");
  EXPECT_EQ(G(100000.5, 10), "100000.5");
  EXPECT_EQ(G(1234567, 4), "1.235e+06");
  EXPECT_EQ(G(0.5, 0), "0.5");
  EXPECT_EQ(G(2.5, 1), "2");
  EXPECT_EQ(G(3.5, 1), "4");
  EXPECT_EQ(G(0.1, 30), "0.100000000000000005551115123126");
  EXPECT_EQ(G(0.00001, 4), "1e-05");
  EXPECT_EQ(G(1, 100'000), "1");
  EXPECT_EQ(G(kSmallest, 3), "4.94e-324");
}

TEST(FloatTextTest, OpenMetricsFormIsAlwaysVisiblyAFloat) {
  EXPECT_EQ(OpenMetrics(0), "0.0");
  EXPECT_EQ(OpenMetrics(1), "1.0");
  EXPECT_EQ(OpenMetrics(-17), "-17.0");
  EXPECT_EQ(OpenMetrics(0.005), "0.005");
  EXPECT_EQ(OpenMetrics(1e6), "1e+06");
  EXPECT_EQ(OpenMetrics(1e-9), "1e-09");
  std::string after_other_text = "le=1.5 ";
  AppendFloatOpenMetrics(&after_other_text, 2);
  EXPECT_EQ(after_other_text, "le=1.5 2.0");
}

TEST(FloatTextTest, EveryFormReadsBackExactly) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    for (const std::string& text : {Fixed(value), Json(value), G(value), G(value, 17)}) {
      const std::optional<double> back = ParseFloat(text);
      ASSERT_TRUE(back) << text;
      ASSERT_EQ(std::bit_cast<uint64_t>(*back), std::bit_cast<uint64_t>(value)) << text;
    }
  }
}

TEST(ParseFloatTest, ReadsDecimals) {
  EXPECT_EQ(ParseFloat("5."), 5);
  EXPECT_EQ(ParseFloat(".5"), 0.5);
  EXPECT_EQ(ParseFloat("+.5e1"), 5);
  EXPECT_EQ(ParseFloat("1E5"), 1e5);
  EXPECT_EQ(ParseFloat("1e05"), 1e5);
  EXPECT_EQ(ParseFloat("00012"), 12);
  EXPECT_EQ(ParseFloat("-12.5e-1"), -1.25);
  EXPECT_EQ(ParseFloat("1.7976931348623158e308"), kLargest);
  EXPECT_EQ(ParseFloat("4.9e-324"), kSmallest);
  EXPECT_EQ(ParseFloat("3e-324"), kSmallest);
  EXPECT_TRUE(std::signbit(ParseFloat("-0").value()));
}

TEST(ParseFloatTest, ReadsHexadecimals) {
  EXPECT_EQ(ParseFloat("0x1P-2"), 0.25);
  EXPECT_EQ(ParseFloat("0X1.8p1"), 3);
  EXPECT_EQ(ParseFloat("0x.8p1"), 1);
  EXPECT_EQ(ParseFloat("0x8.p1"), 16);
  EXPECT_EQ(ParseFloat("-0x1p+05"), -32);
  EXPECT_EQ(ParseFloat("0x1.fffffffffffff7p1023"), kLargest);
  EXPECT_EQ(ParseFloat("0x1.8p-1075"), kSmallest);
}

TEST(ParseFloatTest, ReadsSpecialValuesInAnyCase) {
  EXPECT_EQ(ParseFloat("Inf"), kInfinity);
  EXPECT_EQ(ParseFloat("+Inf"), kInfinity);
  EXPECT_EQ(ParseFloat("-inFInity"), -kInfinity);
  EXPECT_TRUE(std::isnan(ParseFloat("NaN").value()));
  EXPECT_TRUE(std::isnan(ParseFloat("nan").value()));
}

TEST(ParseFloatTest, ValuesOutOfRangeAreInfinitiesAndZeros) {
  EXPECT_EQ(ParseFloat("1e400"), kInfinity);
  EXPECT_EQ(ParseFloat("-1e400"), -kInfinity);
  EXPECT_EQ(ParseFloat("1.7976931348623159e308"), kInfinity);
  EXPECT_EQ(ParseFloat("0x1p2000"), kInfinity);
  EXPECT_EQ(ParseFloat("0x1.fffffffffffff8p1023"), kInfinity);
  EXPECT_EQ(ParseFloat("1e99999999999999999999"), kInfinity);
  EXPECT_EQ(ParseFloat("1e-400"), 0);
  EXPECT_EQ(ParseFloat("2e-324"), 0);
  EXPECT_EQ(ParseFloat("0x1p-1075"), 0);
  EXPECT_EQ(ParseFloat("1e-99999999999999999999"), 0);
  EXPECT_EQ(ParseFloat("0e99999999999"), 0);
  EXPECT_TRUE(std::signbit(ParseFloat("-1e-400").value()));
}

TEST(ParseFloatTest, RefusesEverythingElse) {
  for (const char* text :
       {"",        " 1",   "1 ",   "+",       "-",         "--1",    "+-1",     "-+1",    ".",
        "-.",      "1e",   "1e+",  "e5",      "1e5.0",     "1.2.3",  "1_000",   "1d",     "1f",
        "i",       "inf.", "infi", "infinit", "infinityx", "+nan",   "-nan",    "nan(1)", "nans",
        "0x",      "0x1",  "0x1p", "0xp1",    "0x-1p1",    "0x+1p1", "0xinfp1", "0xinf",  "0xnanp",
        "0x0x1p1", "0b1",  "0o7",  "0x1_0p0", "1,5",       "1e5p1",  "0x1e5"}) {
    EXPECT_EQ(ParseFloat(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseFloat(std::string_view("1\0", 2)), std::nullopt);
}

}  // namespace
}  // namespace narthex::base
