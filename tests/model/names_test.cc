#include <gtest/gtest.h>

#include "narthex/model/labels.h"

namespace narthex::model {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(&out, text);
  return out;
}

TEST(Utf8Test, TakesWhatGoTakes) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("ascii"));
  EXPECT_TRUE(IsValidUtf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"));
  EXPECT_TRUE(IsValidUtf8("\xf4\x8f\xbf\xbf"));  // U+10FFFF
}

TEST(Utf8Test, RefusesOverlongSurrogateTornAndTooLargeForms) {
  for (const char* text :
       {"\xff", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xc3", "\xe2\x82", "a\xf0\x9f\x94"}) {
    EXPECT_FALSE(IsValidUtf8(text)) << Quoted(text);
  }
}

TEST(NameTest, LegacyRulesDifferInColonsOnly) {
  for (const char* name : {"a", "_a", "A9", "a_b"}) {
    EXPECT_TRUE(IsValidMetricName(name, NameValidation::kLegacy)) << name;
    EXPECT_TRUE(IsValidLabelName(name, NameValidation::kLegacy)) << name;
  }
  EXPECT_TRUE(IsValidMetricName("a:b", NameValidation::kLegacy));
  EXPECT_FALSE(IsValidLabelName("a:b", NameValidation::kLegacy));
  for (const char* name : {"", "9a", "a.b", "a-b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsValidMetricName(name, NameValidation::kLegacy)) << name;
    EXPECT_FALSE(IsValidLabelName(name, NameValidation::kLegacy)) << name;
  }
}

TEST(NameTest, Utf8RulesTakeAnythingValidButNothing) {
  EXPECT_TRUE(IsValidMetricName("9 a.b", NameValidation::kUtf8));
  EXPECT_TRUE(IsValidLabelName("\xc3\xa4", NameValidation::kUtf8));
  EXPECT_FALSE(IsValidMetricName("", NameValidation::kUtf8));
  EXPECT_FALSE(IsValidLabelName("a\xff", NameValidation::kUtf8));
}

// Expectations are what Go's strconv.Quote gives.
TEST(QuoteTest, EscapesAsGoDoes) {
  EXPECT_EQ(Quoted("plain"), R"("plain")");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\x7f", 3)), R"("\x00\x1f\x7f")");
  EXPECT_EQ(Quoted("\xff"), R"("\xff")");
  EXPECT_EQ(Quoted("\xc3\xa4\xf0\x9f\x94\xa5"), "\"\xc3\xa4\xf0\x9f\x94\xa5\"");
  EXPECT_EQ(Quoted("\xc2\xa0"), R"("\u00a0")");              // No-break space.
  EXPECT_EQ(Quoted("\xe2\x80\x8b"), R"("\u200b")");          // Zero-width space.
  EXPECT_EQ(Quoted("\xf3\xa0\x80\x81"), R"("\U000e0001")");  // Language tag.
  EXPECT_EQ(Quoted("\xef\xbf\xbd"), "\"\xef\xbf\xbd\"");     // The replacement character itself.
}

}  // namespace
}  // namespace narthex::model
