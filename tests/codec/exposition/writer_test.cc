#include "narthex/codec/exposition/writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/codec/exposition/entry_text.h"

namespace narthex::codec {
namespace {

base::FamilySnapshot FamilyOf(std::string name, std::string help, base::MetricType type) {
  base::FamilySnapshot family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  family.points.emplace_back();
  return family;
}

std::vector<base::FamilySnapshot> Families() {
  base::FamilySnapshot counter = FamilyOf("a_total", "Say \"hi\"\\\n.", base::MetricType::kCounter);
  counter.points[0].labels = {{"b", "c\"\\\n"}, {"d", "e"}};
  counter.points[0].value = 1e6;
  base::FamilySnapshot gauge = FamilyOf("g", "", base::MetricType::kGauge);
  gauge.points[0].value = 1.5;
  base::FamilySnapshot histogram = FamilyOf("h", "H.", base::MetricType::kHistogram);
  histogram.points[0].labels = {{"x", "y"}};
  base::HistogramData& data = histogram.points[0].histogram;
  data.upper_bounds = {0.1, 1};
  data.cumulative_counts = {2, 3};
  data.count = 1'000'000;
  data.sum = 4;
  data.has_native = true;
  data.native.schema = 3;
  data.native.zero_threshold = 0.001;
  data.native.zero_count = 1;
  data.native.positive = {{-3, 2}, {-1, 5}, {4, 1}};
  data.native.negative = {{0, 7}};
  base::FamilySnapshot summary = FamilyOf("s", "S.", base::MetricType::kSummary);
  summary.points[0].summary.quantiles = {{0.5, std::nan("")}, {1, 2}};
  summary.points[0].summary.count = 7;
  summary.points[0].summary.sum = 0.25;
  return {counter, gauge, histogram, summary};
}

TEST(ExpositionWriterTest, TextHasClientGolangsForm) {
  EXPECT_EQ(WriteExposition(Families(), WriteFormat::kText),
            "# HELP a_total Say \"hi\"\\\\\\n.\n"
            "# TYPE a_total counter\n"
            "a_total{b=\"c\\\"\\\\\\n\",d=\"e\"} 1e+06\n"
            "# HELP g \n"
            "# TYPE g gauge\n"
            "g 1.5\n"
            "# HELP h H.\n"
            "# TYPE h histogram\n"
            "h_bucket{x=\"y\",le=\"0.1\"} 2\n"
            "h_bucket{x=\"y\",le=\"1\"} 3\n"
            "h_bucket{x=\"y\",le=\"+Inf\"} 1e+06\n"
            "h_sum{x=\"y\"} 4\n"
            "h_count{x=\"y\"} 1e+06\n"
            "# HELP s S.\n"
            "# TYPE s summary\n"
            "s{quantile=\"0.5\"} NaN\n"
            "s{quantile=\"1\"} 2\n"
            "s_sum 0.25\n"
            "s_count 7\n");
}

TEST(ExpositionWriterTest, OpenMetricsNamesFamiliesAndNumbersItsOwnWay) {
  EXPECT_EQ(WriteExposition(Families(), WriteFormat::kOpenMetrics),
            "# HELP a Say \\\"hi\\\"\\\\\\n.\n"
            "# TYPE a counter\n"
            "a_total{b=\"c\\\"\\\\\\n\",d=\"e\"} 1e+06\n"
            "# HELP g \n"
            "# TYPE g gauge\n"
            "g 1.5\n"
            "# HELP h H.\n"
            "# TYPE h histogram\n"
            "h_bucket{x=\"y\",le=\"0.1\"} 2\n"
            "h_bucket{x=\"y\",le=\"1.0\"} 3\n"
            "h_bucket{x=\"y\",le=\"+Inf\"} 1000000\n"
            "h_sum{x=\"y\"} 4.0\n"
            "h_count{x=\"y\"} 1000000\n"
            "# HELP s S.\n"
            "# TYPE s summary\n"
            "s{quantile=\"0.5\"} NaN\n"
            "s{quantile=\"1.0\"} 2.0\n"
            "s_sum 0.25\n"
            "s_count 7\n"
            "# EOF\n");
}

TEST(ExpositionWriterTest, TextFormatsAreReadBack) {
  const std::string samples = "{__name__=\"a_total\", b=\"c\\\"\\\\\\n\", d=\"e\"} 1e+06\n";
  EXPECT_NE(ReadAll(ExpositionFormat::kText, WriteExposition(Families(), WriteFormat::kText))
                .find(samples),
            std::string::npos);
  const std::string open_metrics = ReadAll(ExpositionFormat::kOpenMetrics,
                                           WriteExposition(Families(), WriteFormat::kOpenMetrics));
  EXPECT_NE(open_metrics.find(samples), std::string::npos);
  EXPECT_EQ(open_metrics.find("error"), std::string::npos);
}

TEST(ExpositionWriterTest, ProtobufCarriesNativeHistograms) {
  ReaderOptions options;
  options.native_histograms = true;
  options.classic_with_native = true;
  EXPECT_EQ(ReadAll(ExpositionFormat::kProtobuf,
                    WriteExposition(Families(), WriteFormat::kProtobufDelimited), options),
            "help a_total Say \"hi\"\\\n.\n"
            "type a_total counter\n"
            "{__name__=\"a_total\", b=\"c\\\"\\\\\\n\", d=\"e\"} 1e+06\n"
            "help g \n"
            "type g gauge\n"
            "{__name__=\"g\"} 1.5\n"
            "help h H.\n"
            "type h histogram\n"
            "{__name__=\"h\", x=\"y\"} {{schema:3 count:1000000 sum:4 zero:1/0.001 hint:0 spans: "
            "+-3x1 +1x1 +4x1 -0x1 bounds: buckets: 2 5 1 7}}\n"
            "{__name__=\"h_count\", x=\"y\"} 1e+06\n"
            "{__name__=\"h_sum\", x=\"y\"} 4\n"
            "{__name__=\"h_bucket\", le=\"0.1\", x=\"y\"} 2\n"
            "{__name__=\"h_bucket\", le=\"1.0\", x=\"y\"} 3\n"
            "{__name__=\"h_bucket\", le=\"+Inf\", x=\"y\"} 1e+06\n"
            "help s S.\n"
            "type s summary\n"
            "{__name__=\"s_count\"} 7\n"
            "{__name__=\"s_sum\"} 0.25\n"
            "{__name__=\"s\", quantile=\"0.5\"} NaN\n"
            "{__name__=\"s\", quantile=\"1.0\"} 2\n");
}

TEST(ExpositionWriterTest, AnEmptyNativeHistogramStaysNative) {
  base::FamilySnapshot family = FamilyOf("h", "", base::MetricType::kHistogram);
  family.points[0].histogram.has_native = true;
  ReaderOptions options;
  options.native_histograms = true;
  const std::string text =
      ReadAll(ExpositionFormat::kProtobuf,
              WriteExposition({&family, 1}, WriteFormat::kProtobufDelimited), options);
  EXPECT_NE(text.find("{{schema:0 count:0"), std::string::npos) << text;
}

TEST(NegotiateFormatTest, PrometheusIsAnsweredAsItAnswersItself) {
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                            "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version="
                            "1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;"
                            "q=0.2")
                .content_type,
            "text/plain; version=0.0.4; charset=utf-8; escaping=allow-utf-8");
  const NegotiatedFormat protobuf = NegotiateFormat(
      "text/plain;version=0.0.4;q=0.2,application/vnd.google.protobuf;proto=io.prometheus.client."
      "MetricFamily;encoding=delimited;q=0.6,*/*;q=0.1");
  EXPECT_EQ(protobuf.format, WriteFormat::kProtobufDelimited);
  EXPECT_EQ(protobuf.content_type,
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited; escaping=underscores");
}

TEST(NegotiateFormatTest, OpenMetricsIsForThoseWhoWantNothingElse) {
  const NegotiatedFormat negotiated =
      NegotiateFormat("application/openmetrics-text; version=1.0.0; escaping=dots");
  EXPECT_EQ(negotiated.format, WriteFormat::kOpenMetrics);
  EXPECT_EQ(negotiated.content_type,
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=dots");
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text; version=9").format, WriteFormat::kText);
}

TEST(NegotiateFormatTest, EverythingElseGetsPlainText) {
  for (const std::string_view accept :
       {"", "*/*", "text/html,*/*;q=0.8", "text/plain", ",;=,", "text/plain;q=x"}) {
    EXPECT_EQ(NegotiateFormat(accept).content_type,
              "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
        << accept;
  }
}

}  // namespace
}  // namespace narthex::codec
