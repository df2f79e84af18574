#include "codec/exposition/text_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double Value(std::string_view text) {
  double value = -77;
  EXPECT_EQ(ParseSampleValue(text, &value), NumberError::kNone) << text;
  return value;
}

NumberError ErrorOf(std::string_view text) {
  double value = 0;
  return ParseSampleValue(text, &value);
}

TEST(TextValueTest, ValuesReadAsGoReadsThem) {
  EXPECT_EQ(Value("0"), 0);
  EXPECT_EQ(Value("999999999999999"), 999999999999999.0);
  EXPECT_EQ(Value("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(Value("-1.5"), -1.5);
  EXPECT_EQ(Value("+1.5"), 1.5);
  EXPECT_EQ(Value(".5"), 0.5);
  EXPECT_EQ(Value("5."), 5);
  EXPECT_EQ(Value("1e3"), 1000);
  EXPECT_EQ(Value("1.7560473e+07"), 1.7560473e+07);
  EXPECT_EQ(Value("+Inf"), kInf);
  EXPECT_EQ(Value("-inf"), -kInf);
  EXPECT_EQ(Value("Infinity"), kInf);
  EXPECT_EQ(Value("1e-400"), 0);
  EXPECT_TRUE(std::signbit(Value("-0")));
}

TEST(TextValueTest, EveryNanIsTheNormalNan) {
  for (const std::string_view text : {"NaN", "nan", "NAN"}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(Value(text)), model::kNormalNanBits) << text;
  }
}

TEST(TextValueTest, WhatGoRefusesIsRefused) {
  for (const std::string_view text :
       {"", "-", "abc", "1e", "1..2", "1 ", "0x10", "nan(1)", "+nan", "1e5x", "infinite"}) {
    EXPECT_EQ(ErrorOf(text), NumberError::kSyntax) << text;
  }
  EXPECT_EQ(ErrorOf("0x1p3"), NumberError::kUnsupportedCharacter);
  EXPECT_EQ(ErrorOf("1_000"), NumberError::kUnsupportedCharacter);
  EXPECT_EQ(ErrorOf("1e999"), NumberError::kRange);
}

TEST(TextValueTest, SecondsAreCutToMilliseconds) {
  EXPECT_EQ(SecondsToMs(1520879607.789), 1520879607789);
  EXPECT_EQ(SecondsToMs(-1.9999), -1999);
  EXPECT_EQ(SecondsToMs(1e300), std::numeric_limits<int64_t>::min());
}

TEST(TextValueTest, OnlyKnownEscapesAreResolved) {
  EXPECT_EQ(UnescapeLabel(R"(a\\b\"c\nd\xe\)"), "a\\b\"c\nd\\xe\\");
  EXPECT_EQ(UnescapeHelp(R"(a\\b\"c\n)"), "a\\b\\\"c\n");
}

}  // namespace
}  // namespace narthex::codec
