#include "server/api/params.h"

#include "gtest/gtest.h"
#include "narthex/base/status.h"

namespace narthex::server {
namespace {

TEST(ParseTimeTest, TakesSecondsAndRfc3339) {
  EXPECT_EQ(*ParseTimeMs("0"), 0);
  EXPECT_EQ(*ParseTimeMs("1435781451.781"), 1435781451781);
  EXPECT_EQ(*ParseTimeMs("-1.5"), -1500);
  EXPECT_EQ(*ParseTimeMs("2015-07-01T20:10:51.781Z"), 1435781451781);
  EXPECT_EQ(*ParseTimeMs("2015-07-01T22:10:51.781+02:00"), 1435781451781);
  EXPECT_EQ(*ParseTimeMs("1969-12-31T23:59:59Z"), -1000);
  EXPECT_EQ(*ParseTimeMs("2024-02-29T00:00:00Z"), 1709164800000);
}

TEST(ParseTimeTest, TakesTheTwoLiteralLimits) {
  EXPECT_EQ(*ParseTimeMs("-292273086-05-16T16:47:06Z"), kMinTimeMs);
  EXPECT_EQ(*ParseTimeMs("292277025-08-18T07:12:54.999999999Z"), kMaxTimeMs);
}

TEST(ParseTimeTest, RefusesTheRest) {
  for (const char* text : {"", "x", "1e300", "NaN", "Inf", "2023-02-29T00:00:00Z",
                           "2015-07-01T24:00:00Z", "2015-07-01 20:10:51Z", "2015-07-01T20:10:51",
                           "2015-07-01T20:10:51+2:00", "2015-07-01T20:10:51.Z"}) {
    EXPECT_FALSE(ParseTimeMs(text).ok()) << text;
  }
}

TEST(FormatRfc3339Test, LeavesOutTrailingZeroes) {
  EXPECT_EQ(FormatRfc3339(1435781451781), "2015-07-01T20:10:51.781Z");
  EXPECT_EQ(FormatRfc3339(1435781451700), "2015-07-01T20:10:51.7Z");
  EXPECT_EQ(FormatRfc3339(1435781451000), "2015-07-01T20:10:51Z");
  EXPECT_EQ(FormatRfc3339(-500), "1969-12-31T23:59:59.5Z");
}

TEST(ParamsTest, BodyValuesComeBeforeTheUrls) {
  net::HttpRequest request;
  request.method = "POST";
  request.raw_query = "a=url&b=1";
  request.headers = {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body = "a=body%20text&match[]=up";
  const auto params = Params::Of(request);
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(params->Get("a"), "body text");
  EXPECT_EQ(params->Get("b"), "1");
  EXPECT_EQ(params->All("a"), (std::vector<std::string>{"body text", "url"}));
}

TEST(ParamsTest, ABodyOfAnotherTypeIsNoForm) {
  net::HttpRequest request;
  request.method = "POST";
  request.body = "a=1";
  EXPECT_FALSE(Params::Of(request)->Has("a"));
}

TEST(ParamsTest, ErrorsNameTheParameter) {
  net::HttpRequest request;
  request.raw_query = "time=x&step=y&limit=-1&match[]=%7Ba%3D~%22.*%22%7D";
  const auto params = Params::Of(request);
  EXPECT_EQ(base::Message(params->TimeMs("time", 0).status()),
            "invalid parameter \"time\": cannot parse \"x\" to a valid timestamp");
  EXPECT_EQ(base::Message(params->DurationMs("step").status()),
            "invalid parameter \"step\": cannot parse \"y\" to a valid duration");
  EXPECT_EQ(base::Message(params->Limit("limit").status()),
            "invalid parameter \"limit\": limit must be non-negative");
  EXPECT_FALSE(params->Selectors().ok());
}

TEST(ParamsTest, DurationsAreSecondsOrUnits) {
  net::HttpRequest request;
  request.raw_query = "a=1.5&b=1h30m";
  const auto params = Params::Of(request);
  EXPECT_EQ(*params->DurationMs("a"), 1500);
  EXPECT_EQ(*params->DurationMs("b"), 5'400'000);
}

}  // namespace
}  // namespace narthex::server
