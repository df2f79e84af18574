#include <gtest/gtest.h>

#include "tests/codec/exposition/entry_text.h"

namespace narthex::codec {
namespace {

std::string Read(std::string_view body, const ReaderOptions& options = {}) {
  return ReadAll(ExpositionFormat::kOpenMetrics, body, options);
}

ReaderOptions WithStartTimes() {
  ReaderOptions options;
  options.parse_start_times = true;
  return options;
}

TEST(OpenMetricsReaderTest, MetadataSamplesAndExemplars) {
  EXPECT_EQ(
      Read("# TYPE a_seconds counter\n"
           "# UNIT a_seconds seconds\n"
           "# HELP a_seconds Say \\\"hi\\\".\n"
           "a_seconds_total{b=\"c\"} 17.0 1520879607.789 # {id=\"x\"} 0.67 1520879606.1\n"
           "a_seconds_total{b=\"d\"} 1 # {} 2\n"
           "# EOF\n"),
      "type a_seconds counter\n"
      "unit a_seconds seconds\n"
      "help a_seconds Say \"hi\".\n"
      "{__name__=\"a_seconds_total\", b=\"c\"} 17 @1520879607789 #{id=\"x\"} 0.67 @1520879606100\n"
      "{__name__=\"a_seconds_total\", b=\"d\"} 1 #{} 2\n");
}

TEST(OpenMetricsReaderTest, TheEndMarkIsNeededAndMustBeTheEnd) {
  EXPECT_EQ(Read("a 1\n"), "{__name__=\"a\"} 1\nerror: data does not end with # EOF\n");
  EXPECT_EQ(Read("# EOF"), "");
  EXPECT_EQ(Read("# EOF\n\n"), "error: unexpected data after # EOF\n");
}

TEST(OpenMetricsReaderTest, BlanksAreCounted) {
  EXPECT_EQ(
      Read("a  1\n# EOF\n"),
      "error: expected value after metric, got \"  \" (\"INVALID\") while parsing: \"a  \"\n");
  EXPECT_EQ(Read("a{b=\"c\" } 1\n# EOF\n"),
            "error: expected comma or brace close, got \" \" (\"INVALID\") while parsing: "
            "\"a{b=\\\"c\\\" \"\n");
  EXPECT_EQ(
      Read("\n# EOF\n"),
      "error: expected a valid start token, got \"\\n\" (\"INVALID\") while parsing: \"\\n\"\n");
}

TEST(OpenMetricsReaderTest, UnitsMustEndTheName) {
  EXPECT_EQ(Read("# UNIT a_bytes seconds\n# EOF\n"),
            "error: unit \"seconds\" not a suffix of metric \"a_bytes\"\n");
  EXPECT_EQ(Read("# UNIT aseconds seconds\n# EOF\n"),
            "error: unit \"seconds\" not a suffix of metric \"aseconds\"\n");
  EXPECT_EQ(Read("# UNIT a \n# EOF\n"), "unit a \n");
}

TEST(OpenMetricsReaderTest, TimesMustBeFinite) {
  EXPECT_EQ(Read("a 1 NaN\n# EOF\n"), "error: invalid timestamp NaN\n");
  EXPECT_EQ(Read("a 1 # {} 1 -Inf\n# EOF\n"), "error: invalid exemplar timestamp -Inf\n");
}

TEST(OpenMetricsReaderTest, CreatedLinesAreSamplesUnlessStartTimesAreWanted) {
  const std::string_view body =
      "# TYPE a counter\n"
      "a_total{b=\"c\"} 1\n"
      "a_created{b=\"c\"} 1.5\n"
      "a_total{b=\"d\"} 2\n"
      "a_created{b=\"e\"} 2.5\n"
      "# TYPE g gauge\n"
      "g 1\n"
      "g_created 9\n"
      "# EOF\n";
  EXPECT_EQ(Read(body),
            "type a counter\n"
            "{__name__=\"a_total\", b=\"c\"} 1\n"
            "{__name__=\"a_created\", b=\"c\"} 1.5\n"
            "{__name__=\"a_total\", b=\"d\"} 2\n"
            "{__name__=\"a_created\", b=\"e\"} 2.5\n"
            "type g gauge\n"
            "{__name__=\"g\"} 1\n"
            "{__name__=\"g_created\"} 9\n");
  EXPECT_EQ(Read(body, WithStartTimes()),
            "type a counter\n"
            "{__name__=\"a_total\", b=\"c\"} 1 start=1500\n"
            "{__name__=\"a_total\", b=\"d\"} 2\n"
            "type g gauge\n"
            "{__name__=\"g\"} 1\n"
            "{__name__=\"g_created\"} 9\n");
}

TEST(OpenMetricsReaderTest, AllSamplesOfAHistogramShareItsStartTime) {
  EXPECT_EQ(Read("# TYPE h histogram\n"
                 "h_bucket{a=\"1\",le=\"1.0\"} 1 # {x=\"y\"} 0.5\n"
                 "h_bucket{a=\"1\",le=\"+Inf\"} 1\n"
                 "h_count{a=\"1\"} 1\n"
                 "h_created{a=\"1\"} 7\n"
                 "h_sum{a=\"1\"} 1\n"
                 "h_bucket{a=\"2\",le=\"+Inf\"} 1\n"
                 "# TYPE s summary\n"
                 "s{quantile=\"0.5\"} 1\n"
                 "s_created 8\n"
                 "# EOF\n",
                 WithStartTimes()),
            "type h histogram\n"
            "{__name__=\"h_bucket\", a=\"1\", le=\"1.0\"} 1 start=7000 #{x=\"y\"} 0.5\n"
            "{__name__=\"h_bucket\", a=\"1\", le=\"+Inf\"} 1 start=7000\n"
            "{__name__=\"h_count\", a=\"1\"} 1 start=7000\n"
            "{__name__=\"h_sum\", a=\"1\"} 1 start=7000\n"
            "{__name__=\"h_bucket\", a=\"2\", le=\"+Inf\"} 1\n"
            "type s summary\n"
            "{__name__=\"s\", quantile=\"0.5\"} 1 start=8000\n");
}

TEST(OpenMetricsReaderTest, QuotedFamiliesHaveStartTimesToo) {
  EXPECT_EQ(Read("# TYPE \"a.b\" counter\n"
                 "{\"a.b_total\",c=\"d\"} 1\n"
                 "{\"a.b_created\",c=\"d\"} 3\n"
                 "# EOF\n",
                 WithStartTimes()),
            "type a.b counter\n"
            "{__name__=\"a.b_total\", c=\"d\"} 1 start=3000\n");
}

TEST(OpenMetricsReaderTest, TypeAndUnitLabelsAreAddedOnDemand) {
  ReaderOptions options;
  options.type_and_unit_labels = true;
  EXPECT_EQ(Read("# TYPE a_seconds gauge\n# UNIT a_seconds seconds\na_seconds 1\n# EOF\n", options),
            "type a_seconds gauge\nunit a_seconds seconds\n"
            "{__name__=\"a_seconds\", __type__=\"gauge\", __unit__=\"seconds\"} 1\n");
}

}  // namespace
}  // namespace narthex::codec
