#include "scrape/pool_config.h"

#include <gtest/gtest.h>

#include "scrape/family_of.h"

namespace narthex::scrape {
namespace {

PoolOptions Options() {
  PoolOptions options;
  options.job_name = "j";
  return options;
}

std::string ErrorOf(const PoolOptions& options) {
  return std::string(ValidatePoolOptions(options).message());
}

TEST(AcceptHeaderTest, IsPrometheussByteForByte) {
  EXPECT_EQ(AcceptHeader(DefaultScrapeProtocols(false), NameEscaping::kAllowUtf8),
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
            "application/openmetrics-text;version=0.0.1;q=0.5,"
            "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
            "text/plain;version=0.0.4;q=0.3,*/*;q=0.2");
  EXPECT_EQ(AcceptHeader(DefaultScrapeProtocols(true), NameEscaping::kUnderscores),
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited;q=0.6,"
            "application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.5,"
            "application/openmetrics-text;version=0.0.1;q=0.4,"
            "text/plain;version=1.0.0;escaping=underscores;q=0.3,"
            "text/plain;version=0.0.4;q=0.2,*/*;q=0.1");
}

TEST(MinFactorTest, PicksTheFinestSchemaAllowed) {
  EXPECT_EQ(SchemaOfMinFactor(0), 8);
  EXPECT_EQ(SchemaOfMinFactor(1), 8);
  EXPECT_EQ(SchemaOfMinFactor(1.0001), 8);
  EXPECT_EQ(SchemaOfMinFactor(1.1), 2);
  EXPECT_EQ(SchemaOfMinFactor(2), 0);
  EXPECT_EQ(SchemaOfMinFactor(3), -1);
  EXPECT_EQ(SchemaOfMinFactor(65536), -4);
  EXPECT_EQ(SchemaOfMinFactor(1e300), -4);
}

TEST(PoolOptionsTest, NamesAreRoundTrips) {
  for (const char* name : {"PrometheusProto", "PrometheusText0.0.4", "PrometheusText1.0.0",
                           "OpenMetricsText0.0.1", "OpenMetricsText1.0.0"}) {
    EXPECT_EQ(ScrapeProtocolName(ParseScrapeProtocol(name).value()), name);
  }
  EXPECT_EQ(ParseScrapeProtocol("OpenMetrics"), std::nullopt);
  for (const char* name : {"allow-utf-8", "underscores", "dots", "values"}) {
    EXPECT_EQ(NameEscapingName(ParseNameEscaping(name).value()), name);
  }
  EXPECT_EQ(ParseNameEscaping("utf8"), std::nullopt);
}

TEST(PoolOptionsTest, BadOptionsAreNamed) {
  EXPECT_EQ(ErrorOf(Options()), "");
  EXPECT_EQ(ErrorOf(PoolOptions()), "job_name is empty");
  PoolOptions options = Options();
  options.scrape_timeout_ms = options.scrape_interval_ms + 1;
  EXPECT_EQ(ErrorOf(options),
            "scrape timeout greater than scrape interval for scrape config with job name \"j\"");
  options = Options();
  options.protocols.clear();
  EXPECT_EQ(ErrorOf(options),
            "scrape config with job name \"j\": scrape_protocols cannot be empty");
  options.protocols = {ScrapeProtocol::kPrometheusProto, ScrapeProtocol::kPrometheusText0_0_4,
                       ScrapeProtocol::kPrometheusProto};
  EXPECT_EQ(ErrorOf(options),
            "scrape config with job name \"j\": duplicated protocol in scrape_protocols, got "
            "[PrometheusProto PrometheusText0.0.4 PrometheusProto]");
  options = Options();
  options.name_validation = model::NameValidation::kLegacy;
  EXPECT_EQ(ErrorOf(options),
            "scrape config with job name \"j\": utf8 metric names requested but validation scheme "
            "is not set to UTF8");
  options = Options();
  options.metric_relabel_configs = {{.action = "nonsense"}};
  EXPECT_EQ(ErrorOf(options),
            "scrape config with job name \"j\": unknown relabel action \"nonsense\"");
}

TEST(PoolOptionsTest, SomeChangesKeepTheSeries) {
  PoolOptions changed = Options();
  changed.scrape_interval_ms = 1'000;
  changed.sample_limit = 5;
  changed.http.username = "u";
  EXPECT_TRUE(SeriesStayTheSame(Options(), changed));
  changed.honor_labels = true;
  EXPECT_FALSE(SeriesStayTheSame(Options(), changed));
  changed = Options();
  changed.metric_relabel_configs = {{.regex = "a", .action = "labeldrop"}};
  EXPECT_FALSE(SeriesStayTheSame(Options(), changed));
}

TEST(FamilyTest, SuffixesBelongToTheirTypes) {
  using enum model::MetricType;
  EXPECT_TRUE(IsOfFamily("a_total", "a", kCounter));
  EXPECT_TRUE(IsOfFamily("a_total", "a_total", kCounter));
  EXPECT_TRUE(IsOfFamily("a_bucket", "a", kHistogram));
  EXPECT_TRUE(IsOfFamily("a", "a", kHistogram));
  EXPECT_TRUE(IsOfFamily("a_gsum", "a", kGaugeHistogram));
  EXPECT_TRUE(IsOfFamily("a_count", "a", kSummary));
  EXPECT_TRUE(IsOfFamily("a_info", "a", kInfo));
  EXPECT_FALSE(IsOfFamily("a_bucket", "a", kSummary));
  EXPECT_FALSE(IsOfFamily("a_total", "a", kGauge));
  EXPECT_FALSE(IsOfFamily("ab", "a", kGauge));
}

}  // namespace
}  // namespace narthex::scrape
