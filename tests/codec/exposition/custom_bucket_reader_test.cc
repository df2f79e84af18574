#include <gtest/gtest.h>

#include <algorithm>

#include "tests/codec/exposition/entry_text.h"
#include "tests/codec/wire/wire_bytes.h"

namespace narthex::codec {
namespace {

ReaderOptions Converting(bool keep_classic = false) {
  ReaderOptions options;
  options.native_histograms = true;
  options.parse_start_times = true;
  options.convert_classic_to_custom_buckets = true;
  options.classic_with_native = keep_classic;
  return options;
}

std::string Text(std::string_view body, bool keep_classic = false) {
  return ReadAll(ExpositionFormat::kText, body, Converting(keep_classic));
}

constexpr std::string_view kClassic =
    "# TYPE h histogram\n"
    "h_bucket{a=\"1\",le=\"0.5\"} 1\n"
    "h_bucket{a=\"1\",le=\"2\"} 4\n"
    "h_bucket{a=\"1\",le=\"+Inf\"} 5\n"
    "h_sum{a=\"1\"} 7.5\n"
    "h_count{a=\"1\"} 5\n";

constexpr std::string_view kConverted =
    "{__name__=\"h\", a=\"1\"} {{schema:-53 count:5 sum:7.5 zero:0/0 hint:0 spans: +0x3 bounds: "
    "0.5 2 buckets: 1 3 1}}\n";

TEST(CustomBucketReaderTest, TheSeriesOfAHistogramBecomeOneSample) {
  EXPECT_EQ(Text(kClassic), "type h histogram\n" + std::string(kConverted));
  // What follows comes after it.
  EXPECT_EQ(Text(std::string(kClassic) + "h_bucket{a=\"2\",le=\"+Inf\"} 1\n# TYPE g gauge\ng 1\n"),
            "type h histogram\n" + std::string(kConverted) +
                "{__name__=\"h\", a=\"2\"} {{schema:-53 count:1 sum:0 zero:0/0 hint:0 spans: +0x1 "
                "bounds: buckets: 1}}\n"
                "type g gauge\n{__name__=\"g\"} 1\n");
}

TEST(CustomBucketReaderTest, ClassicSeriesStayOnDemand) {
  EXPECT_EQ(Text(kClassic, true),
            "type h histogram\n"
            "{__name__=\"h_bucket\", a=\"1\", le=\"0.5\"} 1\n"
            "{__name__=\"h_bucket\", a=\"1\", le=\"2.0\"} 4\n"
            "{__name__=\"h_bucket\", a=\"1\", le=\"+Inf\"} 5\n"
            "{__name__=\"h_sum\", a=\"1\"} 7.5\n"
            "{__name__=\"h_count\", a=\"1\"} 5\n" +
                std::string(kConverted));
}

TEST(CustomBucketReaderTest, BoundsMayComeInAnyOrderAndTwice) {
  EXPECT_EQ(Text("# TYPE h histogram\n"
                 "h_bucket{le=\"+Inf\"} 5\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"2\"} 4\n"
                 "h_bucket{le=\"2\"} 5\n"),
            "type h histogram\n"
            "{__name__=\"h\"} {{schema:-53 count:5 sum:0 zero:0/0 hint:0 spans: +0x3 bounds: 0.5 2 "
            "buckets: 1 3 1}}\n");
}

TEST(CustomBucketReaderTest, AMissingInfinityBucketIsMadeFromTheCount) {
  EXPECT_EQ(Text("# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_count 3\n"),
            "type h histogram\n"
            "{__name__=\"h\"} {{schema:-53 count:3 sum:0 zero:0/0 hint:0 spans: +0x2 bounds: 1 "
            "buckets: 1 2}}\n");
}

TEST(CustomBucketReaderTest, FractionsMakeAFloatHistogram) {
  EXPECT_EQ(Text("# TYPE h histogram\nh_bucket{le=\"1\"} 0.5\nh_bucket{le=\"2\"} 0.5\n"
                 "h_bucket{le=\"+Inf\"} 2\n"),
            "type h histogram\n"
            "{__name__=\"h\"} {{schema:-53 count:2 sum:0 zero:0/0 hint:0 spans: +0x1 +1x1 bounds: "
            "1 2 buckets: 0.5 1.5}}\n");
}

TEST(CustomBucketReaderTest, LongRunsOfEmptyBucketsAreLeftOut) {
  EXPECT_EQ(Text("# TYPE h histogram\n"
                 "h_bucket{le=\"1\"} 0\nh_bucket{le=\"2\"} 1\nh_bucket{le=\"3\"} 1\n"
                 "h_bucket{le=\"4\"} 2\nh_bucket{le=\"5\"} 2\nh_bucket{le=\"6\"} 2\n"
                 "h_bucket{le=\"7\"} 2\nh_bucket{le=\"8\"} 3\nh_bucket{le=\"+Inf\"} 3\n"),
            "type h histogram\n"
            "{__name__=\"h\"} {{schema:-53 count:3 sum:0 zero:0/0 hint:0 spans: +1x3 +3x1 bounds: "
            "1 2 3 4 5 6 7 8 buckets: 1 0 1 1}}\n");
}

TEST(CustomBucketReaderTest, BadHistogramsAreDropped) {
  for (const std::string_view series :
       {"h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\n", "h_bucket{le=\"+Inf\"} 1\nh_count 2\n",
        "h_bucket{le=\"1\"} -1\n", "h_count -1\n"}) {
    EXPECT_EQ(Text("# TYPE h histogram\n" + std::string(series)), "type h histogram\n") << series;
  }
}

TEST(CustomBucketReaderTest, WhatIsNoHistogramPassesThrough) {
  EXPECT_EQ(Text("h_bucket{le=\"1\"} 2\n# TYPE h histogram\nx_bucket{le=\"1\"} 1\n"
                 "h_bucket 2\nh_bucket{le=\"x\"} 3\n"),
            "{__name__=\"h_bucket\", le=\"1\"} 2\n"
            "type h histogram\n"
            "{__name__=\"x_bucket\", le=\"1.0\"} 1\n"
            "{__name__=\"h_bucket\"} 2\n"
            "{__name__=\"h_bucket\", le=\"x\"} 3\n");
}

TEST(CustomBucketReaderTest, ExemplarsAndTimesAreTakenAlong) {
  EXPECT_EQ(ReadAll(ExpositionFormat::kOpenMetrics,
                    "# TYPE h histogram\n"
                    "h_bucket{le=\"1.0\"} 1 5 # {a=\"b\"} 0.5\n"
                    "h_bucket{le=\"+Inf\"} 1 6 # {c=\"d\"} 2 3\n"
                    "h_created 4\n"
                    "# EOF\n",
                    Converting()),
            "type h histogram\n"
            "{__name__=\"h\"} {{schema:-53 count:1 sum:0 zero:0/0 hint:0 spans: +0x1 bounds: 1 "
            "buckets: 1}} @6000 start=4000 #{a=\"b\"} 0.5 #{c=\"d\"} 2 @3000\n");
}

TEST(CustomBucketReaderTest, AnExponentialHistogramWins) {
  const std::string bucket = Bytes(3, Varint(1, 3) + Double(2, 1));
  const std::string native =
      Bytes(7, Varint(1, 3) + Span(12, 0, 1) + PackedSints(13, {3}) + bucket);
  const std::string classic = Bytes(7, Varint(1, 3) + bucket);
  EXPECT_EQ(
      ReadAll(ExpositionFormat::kProtobuf,
              Family("h", 4, Bytes(4, native) + Bytes(4, Pair(1, "a", "b") + classic)),
              Converting(true)),
      "help h Help.\n"
      "type h histogram\n"
      "{__name__=\"h\"} {{schema:0 count:3 sum:0 zero:0/0 hint:0 spans: +0x1 bounds: buckets: "
      "3}}\n"
      "{__name__=\"h_count\"} 3\n"
      "{__name__=\"h_sum\"} 0\n"
      "{__name__=\"h_bucket\", le=\"1.0\"} 3\n"
      "{__name__=\"h_bucket\", le=\"+Inf\"} 3\n"
      "{__name__=\"h_count\", a=\"b\"} 3\n"
      "{__name__=\"h_sum\", a=\"b\"} 0\n"
      "{__name__=\"h_bucket\", a=\"b\", le=\"1.0\"} 3\n"
      "{__name__=\"h_bucket\", a=\"b\", le=\"+Inf\"} 3\n"
      "{__name__=\"h\", a=\"b\"} {{schema:-53 count:3 sum:0 zero:0/0 hint:0 spans: +0x1 "
      "bounds: 1 buckets: 3}}\n");
}

TEST(CustomBucketReaderTest, HistogramsGoOnAcrossBatches) {
  std::string body = "# TYPE h histogram\n";
  for (int i = 1; i <= 600; ++i) {
    body += "h_bucket{le=\"" + std::to_string(i) + "\"} " + std::to_string(i) + "\n";
  }
  const std::string text = Text(body);
  EXPECT_TRUE(text.starts_with("type h histogram\n{__name__=\"h\"} {{schema:-53 count:600 sum:0 "))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

}  // namespace
}  // namespace narthex::codec
