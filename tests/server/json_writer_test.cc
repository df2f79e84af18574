#include "server/json_writer.h"

#include "gtest/gtest.h"

namespace narthex::server {
namespace {

TEST(JsonWriterTest, PlacesCommasByItself) {
  std::string out;
  JsonWriter(&out)
      .BeginObject()
      .Field("a", "x")
      .Key("b")
      .BeginArray()
      .Int(-1)
      .Unsigned(2)
      .Null()
      .BeginObject()
      .EndObject()
      .EndArray()
      .Field("c", true)
      .EndObject();
  EXPECT_EQ(out, R"({"a":"x","b":[-1,2,null,{}],"c":true})");
}

TEST(JsonWriterTest, EscapesWhatJsonForbids) {
  std::string out;
  AppendJsonString(&out, std::string_view("q\" b\\ n\n t\t nul\0 \x1f", 18));
  EXPECT_EQ(out, R"("q\" b\\ n\n t\t nul\u0000 \u001f")");
}

TEST(JsonWriterTest, KeepsUtf8AndReplacesOtherBytes) {
  std::string out;
  AppendJsonString(&out, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 \xff \xc3");
  EXPECT_EQ(out, "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5 \xef\xbf\xbd \xef\xbf\xbd\"");
}

}  // namespace
}  // namespace narthex::server
