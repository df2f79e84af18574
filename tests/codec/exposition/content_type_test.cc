#include <gtest/gtest.h>

#include "narthex/base/status.h"
#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {
namespace {

std::string ErrorOf(std::string_view content_type) {
  const auto format = FormatOfContentType(content_type, "");
  return format.ok() ? "" : std::string(base::Message(format.status()));
}

TEST(ContentTypeTest, KnownTypesPickTheFormatWhateverTheirParameters) {
  EXPECT_EQ(*FormatOfContentType("text/plain; version=0.0.4; charset=utf-8", ""),
            ExpositionFormat::kText);
  EXPECT_EQ(*FormatOfContentType("text/plain", ""), ExpositionFormat::kText);
  EXPECT_EQ(*FormatOfContentType("Application/OpenMetrics-Text;version=\"1.0.0\";", ""),
            ExpositionFormat::kOpenMetrics);
  EXPECT_EQ(*FormatOfContentType("application/vnd.google.protobuf; "
                                 "proto=io.prometheus.client.MetricFamily; encoding=delimited",
                                 ""),
            ExpositionFormat::kProtobuf);
}

TEST(ContentTypeTest, TheFallbackServesBlankUnknownAndBrokenTypes) {
  EXPECT_EQ(*FormatOfContentType("", "PrometheusProto"), ExpositionFormat::kProtobuf);
  EXPECT_EQ(*FormatOfContentType("text/html", "OpenMetricsText1.0.0"),
            ExpositionFormat::kOpenMetrics);
  EXPECT_EQ(*FormatOfContentType("text/", "PrometheusText0.0.4"), ExpositionFormat::kText);
  // It does not overrule a good type.
  EXPECT_EQ(*FormatOfContentType("text/plain", "PrometheusProto"), ExpositionFormat::kText);
}

TEST(ContentTypeTest, WithoutFallbackTheErrorSaysWhatCame) {
  EXPECT_EQ(ErrorOf(""),
            "non-compliant scrape target sending blank Content-Type and no "
            "fallback_scrape_protocol specified for target");
  EXPECT_EQ(ErrorOf("text/html"),
            "received unsupported Content-Type \"text/html\" and no fallback_scrape_protocol "
            "specified for target");
  EXPECT_EQ(ErrorOf("text/plain/x"),
            "cannot parse Content-Type \"text/plain/x\" and no fallback_scrape_protocol for "
            "target\nmime: unexpected content after media subtype");
  EXPECT_EQ(ErrorOf("text/plain; version"),
            "cannot parse Content-Type \"text/plain; version\" and no fallback_scrape_protocol "
            "for target\nmime: invalid media parameter");
}

TEST(ContentTypeTest, AParameterMayComeTwiceOnlyWithOneValue) {
  EXPECT_TRUE(FormatOfContentType("text/plain; a=1; a=1", "").ok());
  EXPECT_NE(ErrorOf("text/plain; a=1; a=2").find("mime: duplicate parameter name"),
            std::string::npos);
}

}  // namespace
}  // namespace narthex::codec
