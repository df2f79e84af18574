#include "tool/promqltest/series_notation.h"

#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_text.h"
#include "narthex/model/stale.h"

namespace narthex::tool {
namespace {

std::string Text(const std::vector<SequenceValue>& values) {
  std::string out;
  for (const SequenceValue& value : values) {
    if (!out.empty()) out += ' ';
    if (value.omitted) {
      out += '_';
    } else if (value.histogram != nullptr) {
      out += model::ToTestNotation(*value.histogram);
    } else {
      out += model::IsStaleNan(value.value) ? "stale" : base::StrCat(value.value);
    }
  }
  return out;
}

std::string Values(std::string_view series) {
  const auto parsed = ParseSeriesDescription(series);
  return parsed.ok() ? Text(parsed->values) : std::string(base::Message(parsed.status()));
}

TEST(SeriesNotationTest, LabelsAreThoseOfASelector) {
  EXPECT_EQ(ParseSeriesDescription("up{b=\"x y\", a='}'} 1")->labels.ToString(),
            "{__name__=\"up\", a=\"}\", b=\"x y\"}");
  EXPECT_EQ(ParseSeriesDescription("{\"my.metric\", \"l.1\"=\"v\"} 1")->labels.Get("__name__"),
            "my.metric");
  EXPECT_TRUE(ParseSeriesDescription("{} 1")->labels.empty());
  EXPECT_FALSE(ParseSeriesDescription("up{a=~\"b\"} 1").ok());
  EXPECT_FALSE(ParseSeriesDescription("up{a=\"b\"").ok());
}

TEST(SeriesNotationTest, FloatsCountUpAndDown) {
  EXPECT_EQ(Values("m 1 -2 .5 1e3"), "1 -2 0.5 1000");
  EXPECT_EQ(Values("m 1+2x3"), "1 3 5 7");
  EXPECT_EQ(Values("m 1-2x2 7x1"), "1 -1 -3 7 7");

  EXPECT_EQ(Values("m _ _x2 stale 0x0"), "_ _ _ stale 0");
  EXPECT_EQ(Values("m"), "");
  const auto special = ParseSeriesDescription("m NaN Inf -Inf");
  ASSERT_TRUE(special.ok());
  EXPECT_TRUE(std::isnan(special->values[0].value));
  EXPECT_EQ(special->values[2].value, -std::numeric_limits<double>::infinity());
}

TEST(SeriesNotationTest, HistogramsAreReadAndAddedUp) {
  EXPECT_EQ(Values("m {{schema:1 count:3 sum:5 offset:-1 buckets:[1 2]}}"),
            "{{schema:1 count:3 sum:5 offset:-1 buckets:[1 2]}}");
  EXPECT_EQ(Values("m {{count:1}}x1 _"), "{{count:1}} {{count:1}} _");
  EXPECT_EQ(Values("m {{count:1 buckets:[1]}}+{{count:2 buckets:[2]}}x2"),
            "{{count:1 buckets:[1]}} {{count:3 buckets:[3]}} {{count:5 buckets:[5]}}");
  EXPECT_EQ(Values("m {{count:3}}-{{count:1}}x1"), "{{count:3}} {{count:2}}");
  EXPECT_EQ(Values("m {{schema:-53 sum:1 count:3 custom_values:[5 10] buckets:[1 2]}}"),
            "{{schema:-53 count:3 sum:1 custom_values:[5 10] buckets:[1 2]}}");
}

TEST(SeriesNotationTest, AHintThatIsGivenIsKnown) {
  const auto parsed =
      ParseSeriesDescription("m {{count:1}} {{count:1 counter_reset_hint:not_reset}}");
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->values[0].hint_given);
  EXPECT_TRUE(parsed->values[1].hint_given);
  EXPECT_EQ(parsed->values[1].histogram->hint, model::CounterResetHint::kNotReset);
}

TEST(SeriesNotationTest, WhatIsNoNotationIsRefused) {
  for (const std::string_view text :
       {"m 1x", "m 1+2", "m abc", "m 1 2;3", "m {{", "m {{foo:1}}", "m {{count:1 count:2}}",
        "m {{count:x}}", "m {{buckets:[1 2}}", "m {{count:1}}+{{count:1}}", "m 1x99999999999",
        "m {{schema:1}}+{{schema:0}}x2", "m {{counter_reset_hint:maybe}}", "m{} 1_"}) {
    EXPECT_FALSE(ParseSeriesDescription(text).ok()) << text;
  }
}

TEST(SeriesNotationTest, StartOffsetsAreDurations) {
  EXPECT_EQ(Text(ParseStartOffsets("_ -30s 0s -1mx1 -30s-1mx2 _x2").value()),
            "_ -30000 0 -60000 -60000 -30000 -90000 -150000 _ _");
  EXPECT_FALSE(ParseStartOffsets("5").ok());
  EXPECT_FALSE(ParseStartOffsets("-1m+1m").ok());
}

TEST(SeriesNotationTest, ATextCutAnywhereIsReadOrRefused) {
  const std::string text =
      "up{a=\"b\"} 1+2x3 _ stale {{schema:1 count:3 sum:5 buckets:[1 2]}}+{{count:1}}x2";
  for (size_t size = 0; size < text.size(); ++size) {
    const auto parsed = ParseSeriesDescription(std::string_view(text).substr(0, size));
    EXPECT_TRUE(parsed.ok() || parsed.status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace narthex::tool
