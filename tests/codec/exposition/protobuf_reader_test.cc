#include <gtest/gtest.h>

#include <limits>

#include "tests/codec/exposition/entry_text.h"
#include "tests/codec/wire/wire_bytes.h"

namespace narthex::codec {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kCounter = 0, kGauge = 1, kSummary = 2, kHistogram = 4, kGaugeHistogram = 5;

std::string Read(std::string_view body, const ReaderOptions& options = {}) {
  return ReadAll(ExpositionFormat::kProtobuf, body, options);
}

ReaderOptions Native(bool classic_too = false) {
  ReaderOptions options;
  options.native_histograms = true;
  options.classic_with_native = classic_too;
  return options;
}

std::string BucketOf(double upper_bound, uint64_t count, std::string_view rest = "") {
  return Bytes(3, Varint(1, count) + Double(2, upper_bound) + std::string(rest));
}

TEST(ProtobufReaderTest, CountersHaveExemplarsAndStartTimes) {
  EXPECT_EQ(Read(Family("c_total", kCounter,
                        Bytes(4, Pair(1, "b", "2") + Pair(1, "a", "1") + Varint(6, 1234) +
                                     Bytes(3, Double(1, 7) +
                                                  Bytes(2, Pair(1, "id", "x") + Double(2, 0.5) +
                                                               Time(3, 9, 5'000'000)) +
                                                  Time(3, 1, 500'000'000))))),
            "help c_total Help.\n"
            "type c_total counter\n"
            "{__name__=\"c_total\", a=\"1\", b=\"2\"} 7 @1234 start=1500 #{id=\"x\"} 0.5 @9005\n");
}

TEST(ProtobufReaderTest, PinnedBytesOfAGauge) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(Read("\x14\x0a\x01g\x18\x01\x22\x0d\x0a\x00\x12\x09\x09\0\0\0\0\0\0\xf0\x3f"sv),
            "help g \ntype g gauge\n{__name__=\"g\"} 1\n");
}

TEST(ProtobufReaderTest, SummariesGiveCountSumAndQuantiles) {
  EXPECT_EQ(Read(Family("s", kSummary,
                        Bytes(4, Bytes(4, Varint(1, 3) + Double(2, 4.5) +
                                              Bytes(3, Double(1, 0.5) + Double(2, 1)) +
                                              Bytes(3, Double(1, 1) + Double(2, 2)))) +
                            Bytes(4, Pair(1, "a", "b") + Bytes(4, Varint(1, 1))))),
            "help s Help.\n"
            "type s summary\n"
            "{__name__=\"s_count\"} 3\n"
            "{__name__=\"s_sum\"} 4.5\n"
            "{__name__=\"s\", quantile=\"0.5\"} 1\n"
            "{__name__=\"s\", quantile=\"1.0\"} 2\n"
            "{__name__=\"s_count\", a=\"b\"} 1\n"
            "{__name__=\"s_sum\", a=\"b\"} 0\n");
}

TEST(ProtobufReaderTest, AMissingInfinityBucketIsMadeFromTheCount) {
  const std::string classic =
      Varint(1, 5) + Double(2, 2.5) + BucketOf(1, 3, Bytes(3, Pair(1, "x", "y") + Double(2, 0.1)));
  EXPECT_EQ(Read(Family("h", kHistogram, Bytes(4, Bytes(7, classic)))),
            "help h Help.\n"
            "type h histogram\n"
            "{__name__=\"h_count\"} 5\n"
            "{__name__=\"h_sum\"} 2.5\n"
            "{__name__=\"h_bucket\", le=\"1.0\"} 3 #{x=\"y\"} 0.1\n"
            "{__name__=\"h_bucket\", le=\"+Inf\"} 5\n");
  // What follows an infinity bucket is not read.
  EXPECT_EQ(Read(Family("h", kHistogram,
                        Bytes(4, Bytes(7, classic + BucketOf(kInf, 5) + BucketOf(9, 9))))),
            "help h Help.\n"
            "type h histogram\n"
            "{__name__=\"h_count\"} 5\n"
            "{__name__=\"h_sum\"} 2.5\n"
            "{__name__=\"h_bucket\", le=\"1.0\"} 3 #{x=\"y\"} 0.1\n"
            "{__name__=\"h_bucket\", le=\"+Inf\"} 5\n");
}

std::string NativeFields() {
  // Buckets 0..3 with counts 1, 0, 2, 3, and the negative bucket -2 with 4.
  return Varint(1, 12) + Double(2, 1.5) + Sint(5, 3) + Double(6, 0.001) + Varint(7, 2) +
         Span(9, -2, 1) + PackedSints(10, {4}) + Span(12, 0, 2) + Span(12, 0, 2) +
         PackedSints(13, {1, -1, 2, 1});
}

TEST(ProtobufReaderTest, NativeHistogramsAreAbsoluteAndCompact) {
  const std::string body =
      Family("n", kHistogram, Bytes(4, Bytes(7, NativeFields() + BucketOf(1, 3))));
  EXPECT_EQ(Read(body, Native()),
            "help n Help.\n"
            "type n histogram\n"
            "{__name__=\"n\"} {{schema:3 count:12 sum:1.5 zero:2/0.001 hint:0 spans: +0x1 +1x2 "
            "--2x1 bounds: buckets: 1 2 3 4}}\n");
  EXPECT_EQ(Read(body, Native(true)),
            "help n Help.\n"
            "type n histogram\n"
            "{__name__=\"n\"} {{schema:3 count:12 sum:1.5 zero:2/0.001 hint:0 spans: +0x1 +1x2 "
            "--2x1 bounds: buckets: 1 2 3 4}}\n"
            "{__name__=\"n_count\"} 12\n"
            "{__name__=\"n_sum\"} 1.5\n"
            "{__name__=\"n_bucket\", le=\"1.0\"} 3\n"
            "{__name__=\"n_bucket\", le=\"+Inf\"} 12\n");
  EXPECT_EQ(Read(body),
            "help n Help.\n"
            "type n histogram\n"
            "{__name__=\"n_count\"} 12\n"
            "{__name__=\"n_sum\"} 1.5\n"
            "{__name__=\"n_bucket\", le=\"1.0\"} 3\n"
            "{__name__=\"n_bucket\", le=\"+Inf\"} 12\n");
}

TEST(ProtobufReaderTest, FloatGaugeHistogramsKeepFractionsAndTheHint) {
  EXPECT_EQ(Read(Family("n", kGaugeHistogram,
                        Bytes(4, Bytes(7, Double(4, 2.5) + Sint(5, -1) + Span(12, 5, 2) +
                                              PackedDoubles(14, {0.5, 2})))),
                 Native()),
            "help n Help.\n"
            "type n gaugehistogram\n"
            "{__name__=\"n\"} {{schema:-1 count:2.5 sum:0 zero:0/0 hint:3 spans: +5x2 bounds: "
            "buckets: 0.5 2}}\n");
}

TEST(ProtobufReaderTest, ASpanOfNothingMakesAHistogramNative) {
  EXPECT_EQ(
      Read(Family("n", kHistogram, Bytes(4, Bytes(7, Span(12, 0, 0)))), Native()),
      "help n Help.\n"
      "type n histogram\n"
      "{__name__=\"n\"} {{schema:0 count:0 sum:0 zero:0/0 hint:0 spans: bounds: buckets:}}\n");
}

TEST(ProtobufReaderTest, NativeExemplarsNeedATime) {
  const std::string timed = Pair(1, "a", "1") + Double(2, 1) + Time(3, 5, 0);
  const std::string untimed = Pair(1, "a", "2") + Double(2, 2);
  const auto exemplars_of = [](std::string_view fields) {
    const std::string text =
        Read(Family("n", kHistogram, Bytes(4, Bytes(7, Span(12, 0, 0) + std::string(fields)))),
             Native());
    const size_t at = text.find('#');
    return at == std::string::npos ? "" : text.substr(at);
  };
  EXPECT_EQ(exemplars_of(Bytes(16, untimed) + Bytes(16, timed)), "#{a=\"1\"} 1 @5000\n");
  EXPECT_EQ(exemplars_of(BucketOf(1, 1, Bytes(3, timed)) + BucketOf(2, 1, Bytes(3, untimed))),
            "#{a=\"1\"} 1 @5000\n");
  EXPECT_EQ(exemplars_of(Bytes(16, untimed) + BucketOf(1, 1, Bytes(3, timed))), "");
}

TEST(ProtobufReaderTest, BadFamiliesAreRefusedWithPrometheussWords) {
  EXPECT_EQ(Read(Family("", kGauge, Bytes(4, ""))), "error: invalid metric name: \n");
  EXPECT_EQ(Read(Family("a", 6, Bytes(4, ""))), "error: unknown metric type for metric \"a\": 6\n");
  EXPECT_EQ(Read(Family("a", kGauge, Bytes(4, Pair(1, "", "x")))),
            "help a Help.\ntype a gauge\nerror: invalid label name: \n");
  EXPECT_EQ(Read(Family("n", kHistogram, Bytes(4, Bytes(7, Span(12, 0, 3) + PackedSints(13, {1})))),
                 Native()),
            "help n Help.\ntype n histogram\n"
            "error: histogram \"n\": positive side: spans require 3 buckets, have 1\n");
  EXPECT_EQ(Read("\xff\xff\xff\xff\xff\x01"), "error: clientpb: invalid varint encountered\n");
  EXPECT_EQ(Read("\x05"),
            "error: clientpb: insufficient length of buffer, expected at least 6 bytes, got 1 "
            "bytes\n");
}

TEST(ProtobufReaderTest, FamiliesWithoutMetricsAreSkipped) {
  EXPECT_EQ(Read(Family("", 77, "") + Family("g", kGauge, Bytes(4, Bytes(2, Double(1, 2))))),
            "help g Help.\ntype g gauge\n{__name__=\"g\"} 2\n");
}

TEST(ProtobufReaderTest, AMetricLargerThanABatchGoesOnInTheNext) {
  std::string buckets;
  std::string expected =
      "help h Help.\ntype h histogram\n{__name__=\"h_count\", a=\"b\"} 0\n{__name__=\"h_sum\", "
      "a=\"b\"} 0\n";
  for (int i = 0; i < 1000; ++i) {
    buckets += BucketOf(i, static_cast<uint64_t>(i));
    expected += "{__name__=\"h_bucket\", a=\"b\", le=\"" + std::to_string(i) + ".0\"} " +
                std::to_string(i) + "\n";
  }
  expected += "{__name__=\"h_bucket\", a=\"b\", le=\"+Inf\"} 0\n";
  EXPECT_EQ(Read(Family("h", kHistogram, Bytes(4, Pair(1, "a", "b") + Bytes(7, buckets)))),
            expected);
}

}  // namespace
}  // namespace narthex::codec
