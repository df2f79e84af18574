#include "narthex/base/duration.h"

#include "gtest/gtest.h"

namespace narthex::base {
namespace {

TEST(DurationTest, PartsAddUpInOrder) {
  EXPECT_EQ(*ParseDurationMs("0"), 0);
  EXPECT_EQ(*ParseDurationMs("15d"), 15ll * 86'400'000);
  EXPECT_EQ(*ParseDurationMs("1h30m"), 5'400'000);
  EXPECT_EQ(*ParseDurationMs("1s500ms"), 1'500);
  EXPECT_EQ(*ParseDurationMs("1y"), 365ll * 86'400'000);
}

TEST(DurationTest, BadDurationsAreNamed) {
  for (const char* text : {"", "1", "s", "1m1h", "1h1h", "-1s", "1.5h", "1 s", "5x", "1d\n"}) {
    EXPECT_FALSE(ParseDurationMs(text).ok()) << text;
  }
  EXPECT_EQ(std::string(ParseDurationMs("5x").status().message()),
            "not a valid duration string: \"5x\"");
  EXPECT_FALSE(ParseDurationMs("99999999999999999999s").ok());
  EXPECT_FALSE(ParseDurationMs("300000y").ok());
}

TEST(DurationTest, FormsAsPrometheusPrintsThem) {
  EXPECT_EQ(FormatDuration(0), "0s");
  EXPECT_EQ(FormatDuration(90'000), "1m30s");
  EXPECT_EQ(FormatDuration(3'600'000), "1h");
  EXPECT_EQ(FormatDuration(7ll * 86'400'000), "1w");
  EXPECT_EQ(FormatDuration(15ll * 86'400'000), "15d");
  EXPECT_EQ(FormatDuration(36ll * 3'600'000), "1d12h");
  EXPECT_EQ(FormatDuration(90ll * 86'400'000), "90d");
  EXPECT_EQ(FormatDuration(1'500), "1s500ms");
}

TEST(DurationTest, GoFormsKeepTheirZeroes) {
  EXPECT_EQ(FormatGoDuration(15'000), "15s");
  EXPECT_EQ(FormatGoDuration(60'000), "1m0s");
  EXPECT_EQ(FormatGoDuration(3'600'000), "1h0m0s");
  EXPECT_EQ(FormatGoDuration(500), "500ms");
  EXPECT_EQ(FormatGoDuration(1'050), "1.05s");
}

TEST(DurationTest, GoDurationsParse) {
  EXPECT_EQ(*ParseGoDurationMs("30s"), 30'000);
  EXPECT_EQ(*ParseGoDurationMs("1.5h"), 5'400'000);
  EXPECT_EQ(*ParseGoDurationMs("-1m30s"), -90'000);
  EXPECT_FALSE(ParseGoDurationMs("1d").ok());
  EXPECT_FALSE(ParseGoDurationMs("").ok());
}

TEST(SizeTest, UnitsArePowersOf1024) {
  EXPECT_EQ(*ParseSizeBytes("512MB"), 512ull << 20);
  EXPECT_EQ(*ParseSizeBytes("1GiB"), 1ull << 30);
  EXPECT_EQ(*ParseSizeBytes("0"), 0u);
  EXPECT_EQ(*ParseSizeBytes("1.5KB"), 1536u);
  EXPECT_FALSE(ParseSizeBytes("12").ok());
  EXPECT_FALSE(ParseSizeBytes("12XB").ok());
  EXPECT_EQ(FormatSizeBytes(512ull << 20), "512MiB");
  EXPECT_EQ(FormatSizeBytes(1500), "1500B");
}

}  // namespace
}  // namespace narthex::base
