// Native histograms on their way through a scrape. Bodies are protobuf, written by hand.
#include <bit>

#include "tests/scrape/scrape_fixture.h"

namespace narthex::scrape {
namespace {

constexpr std::string_view kProtobuf =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
void AppendNumber(std::string* out, uint32_t field, uint64_t value) {
  AppendVarint(out, field << 3);
  AppendVarint(out, value);
}
void AppendBytes(std::string* out, uint32_t field, std::string_view bytes) {
  AppendVarint(out, field << 3 | 2);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}
void AppendDouble(std::string* out, uint32_t field, double value) {
  AppendVarint(out, field << 3 | 1);
  uint64_t bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) out->push_back(static_cast<char>(bits));
}

// A family "h" with one histogram of `num_buckets` buckets in a row, each counting 1, and a classic
// bucket le="1".
std::string Body(int schema, int num_buckets, uint64_t count) {
  std::string span;
  AppendNumber(&span, 1, ZigZag(0));
  AppendNumber(&span, 2, static_cast<uint64_t>(num_buckets));
  std::string deltas;
  for (int i = 0; i < num_buckets; ++i) AppendVarint(&deltas, ZigZag(i == 0 ? 1 : 0));
  std::string bucket;
  AppendNumber(&bucket, 1, count);
  AppendDouble(&bucket, 2, 1);
  std::string histogram;
  AppendNumber(&histogram, 1, count);
  AppendDouble(&histogram, 2, 2.5);
  AppendBytes(&histogram, 3, bucket);
  AppendNumber(&histogram, 5, ZigZag(schema));
  AppendBytes(&histogram, 12, span);
  AppendBytes(&histogram, 13, deltas);
  std::string metric;
  AppendBytes(&metric, 7, histogram);
  std::string family;
  AppendBytes(&family, 1, "h");
  AppendNumber(&family, 3, 4);
  AppendBytes(&family, 4, metric);
  std::string body;
  AppendVarint(&body, family.size());
  return body + family;
}

class NativeHistogramsTest : public ScrapeFixture {
 protected:
  NativeHistogramsTest() { options_.scrape_native_histograms = true; }

  const model::Histogram& Newest() {
    committed_ = storage_.Committed();
    return *committed_.at(0).samples.back().histogram;
  }

  std::vector<support::AppendedSeries> committed_;
};

TEST_F(NativeHistogramsTest, AreStoredAsOneSample) {
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 4), kProtobuf);
  EXPECT_EQ(Stored(), "h h4\n");
  EXPECT_EQ(Newest().layout->schema, 3);
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "1");
  FailScrape();
  EXPECT_EQ(Stored(), "h h4 stale\n");
}

TEST_F(NativeHistogramsTest, AreClassicOnesUnlessAskedFor) {
  options_.scrape_native_histograms = false;
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 4), kProtobuf);
  EXPECT_EQ(Stored(), "h_bucket{le=\"+Inf\"} 4\nh_bucket{le=\"1.0\"} 4\nh_count 4\nh_sum 2.5\n");
}

TEST_F(NativeHistogramsTest, ComeWithTheirClassicPartsWhenAskedFor) {
  options_.always_scrape_classic_histograms = true;
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 4), kProtobuf);
  EXPECT_EQ(Stored(),
            "h h4\nh_bucket{le=\"+Inf\"} 4\nh_bucket{le=\"1.0\"} 4\nh_count 4\nh_sum 2.5\n");
}

TEST_F(NativeHistogramsTest, AreMadeFromClassicOnesWhenAskedFor) {
  options_.convert_classic_histograms_to_nhcb = true;
  ASSERT_TRUE(Apply().ok());
  const std::string body =
      "# TYPE c histogram\nc_bucket{le=\"1\"} 2\nc_bucket{le=\"+Inf\"} 3\nc_sum 4\nc_count 3\n";
  Scrape(body);
  EXPECT_EQ(Stored(), "c h3\n");
  EXPECT_EQ(Newest().layout->schema, model::kCustomBucketsSchema);
  EXPECT_EQ(Newest().layout->custom_bounds, (std::vector<double>{1}));
  options_.static_groups[0].labels["__convert_classic_histograms_to_nhcb__"] = "false";
  ASSERT_TRUE(Apply().ok());
  Scrape(body);
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "1 4");
}

TEST_F(NativeHistogramsTest, ATargetsLabelOverrulesTheOption) {
  options_.static_groups[0].labels["__scrape_native_histograms__"] = "false";
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 4), kProtobuf);
  EXPECT_EQ(ReportOf("scrape_samples_scraped"), "4");
}

TEST_F(NativeHistogramsTest, LoseResolutionToKeepTheBucketLimit) {
  options_.native_histogram_bucket_limit = 5;
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 16, 16), kProtobuf);
  // Buckets 0..15 of schema 3 are 0..8 of schema 2 and 0..4 of schema 1.
  EXPECT_EQ(Newest().layout->schema, 1);
  EXPECT_EQ(Newest().buckets.size(), 5u);
  EXPECT_EQ(Newest().count, 16u);
}

TEST_F(NativeHistogramsTest, FailTheScrapeWhenTheBucketLimitCannotBeKept) {
  options_.native_histogram_bucket_limit = 1;
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 2000, 2000), kProtobuf);
  EXPECT_EQ(LastError(), "histogram bucket limit exceeded");
  EXPECT_EQ(Metric("prometheus_target_scrapes_exceeded_native_histogram_bucket_limit_total"), 1);
}

TEST_F(NativeHistogramsTest, AreReducedToTheMinimumBucketFactor) {
  options_.native_histogram_min_bucket_factor = 2;
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 16, 16), kProtobuf);
  EXPECT_EQ(Newest().layout->schema, 0);
}

TEST_F(NativeHistogramsTest, FinerThanSchema8AreReduced) {
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(10, 8, 8), kProtobuf);
  EXPECT_EQ(Newest().layout->schema, 8);
}

TEST_F(NativeHistogramsTest, OfAnUnknownSchemaFailTheScrape) {
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(53, 2, 2), kProtobuf);
  EXPECT_EQ(LastError(),
            "histogram has an unknown schema, which must be between -9 and 52 for exponential "
            "buckets, or -53 for custom buckets, got schema 53");
}

TEST_F(NativeHistogramsTest, ThatAreInvalidFailTheScrapeWithTheReason) {
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 7), kProtobuf);
  EXPECT_EQ(LastError(),
            "4 observations found in buckets, but the Count field is 7: histogram's observation "
            "count should equal the number of observations found in the buckets (in absence of "
            "NaN)");
  EXPECT_EQ(ReportOf("up"), "0");
}

// Half a message: the target is down, and only it.
TEST_F(NativeHistogramsTest, ATornBodyFailsTheScrapeWhereverItIsTorn) {
  ASSERT_TRUE(Apply().ok());
  const std::string body = Body(3, 4, 4);
  for (size_t size = 1; size < body.size(); ++size) {
    Scrape(body.substr(0, size), kProtobuf);
    ASSERT_NE(LastError(), "") << size;
  }
  EXPECT_EQ(Stored(), "");
  Scrape(body, kProtobuf);
  EXPECT_EQ(Stored(), "h h4\n");
}

TEST_F(NativeHistogramsTest, AreResolvedAgainWhenTheStorageLostThem) {
  ASSERT_TRUE(Apply().ok());
  Scrape(Body(3, 4, 4), kProtobuf);
  storage_.ForgetRefs();
  Scrape(Body(3, 4, 4), kProtobuf);
  EXPECT_EQ(Stored(), "h h4 h4\n");
}

}  // namespace
}  // namespace narthex::scrape
