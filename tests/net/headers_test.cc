#include "net/headers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "net/content_encoding.h"

namespace narthex::net {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(FormTest, PairsComeDecodedAndInOrder) {
  EXPECT_THAT(ParseForm("query=up%7Ba%3D%22b%22%7D&time=1&match[]=a&match[]=b+c&e=&f&=g").value(),
              ElementsAre(Pair("query", "up{a=\"b\"}"), Pair("time", "1"), Pair("match[]", "a"),
                          Pair("match[]", "b c"), Pair("e", ""), Pair("f", ""), Pair("", "g")));
  EXPECT_THAT(ParseForm("").value(), IsEmpty());
  EXPECT_THAT(ParseForm("&&a=b=c&").value(), ElementsAre(Pair("a", "b=c")));
  EXPECT_THAT(ParseForm("a=%00%ff").value(), ElementsAre(Pair("a", std::string("\0\xff", 2))));
}

TEST(FormTest, BadEscapesAreRefusedInGosWords) {
  EXPECT_EQ(base::Message(ParseForm("a=%zz").status()), "invalid URL escape \"%zz\"");
  EXPECT_EQ(base::Message(ParseForm("a=%").status()), "invalid URL escape \"%\"");
  EXPECT_EQ(base::Message(ParseForm("a%4=1").status()), "invalid URL escape \"%4\"");
  EXPECT_EQ(base::Message(ParseForm("a=1;b=2").status()), "invalid semicolon separator in query");
}

TEST(HeadersTest, NamesCompareInAnyCase) {
  const HeaderList headers = {{"Content-Type", "a"}, {"content-type", "b"}};
  EXPECT_EQ(FindHeader(headers, "CONTENT-TYPE"), "a");
  EXPECT_EQ(FindHeader(headers, "Content"), "");
}

TEST(HeadersTest, TokensAreFoundInLists) {
  EXPECT_TRUE(HasToken("keep-alive, Close", "close"));
  EXPECT_FALSE(HasToken("closed", "close"));
  EXPECT_FALSE(HasToken("", "close"));
}

TEST(HeadersTest, HeadersThatWouldEndTheHeaderAreInvalid) {
  EXPECT_TRUE(IsValidHeader("X-A", "b\tc é"));
  EXPECT_FALSE(IsValidHeader("", "b"));
  EXPECT_FALSE(IsValidHeader("X A", "b"));
  EXPECT_FALSE(IsValidHeader("X:", "b"));
  EXPECT_FALSE(IsValidHeader("X", "b\r\nY: c"));
}

TEST(HeadersTest, DatesAreInGreenwich) {
  EXPECT_EQ(HttpDate(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(HttpDate(784111777000), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(ContentEncodingTest, TheFirstKnownOneIsPicked) {
  EXPECT_EQ(PickEncoding("br, deflate, gzip"), ContentEncoding::kDeflate);
  EXPECT_EQ(PickEncoding("gzip"), ContentEncoding::kGzip);
  EXPECT_EQ(PickEncoding("gzip;q=0, deflate;q=0.5"), ContentEncoding::kDeflate);
  EXPECT_EQ(PickEncoding("gzip; q=0.0"), ContentEncoding::kIdentity);
  EXPECT_EQ(PickEncoding("*"), ContentEncoding::kIdentity);
  EXPECT_EQ(PickEncoding(""), ContentEncoding::kIdentity);
}

}  // namespace
}  // namespace narthex::net
