#include <gtest/gtest.h>

#include "narthex/base/strings.h"
#include "tests/codec/exposition/entry_text.h"

namespace narthex::codec {
namespace {

std::string Read(std::string_view body, const ReaderOptions& options = {}) {
  return ReadAll(ExpositionFormat::kText, body, options);
}

TEST(TextReaderTest, MetadataAndSamplesComeInOrder) {
  EXPECT_EQ(Read("# HELP requests_total Requests\\nso \\\\ far.\n"
                 "# TYPE requests_total counter\n"
                 "# just a remark\n"
                 "\n"
                 "requests_total{code=\"200\",method=\"get\",} 1027 1395066363000\n"
                 "up 1\n"),
            "help requests_total Requests\nso \\ far.\n"
            "type requests_total counter\n"
            "{__name__=\"requests_total\", code=\"200\", method=\"get\"} 1027 @1395066363000\n"
            "{__name__=\"up\"} 1\n");
}

TEST(TextReaderTest, BlanksBetweenTokensAreFree) {
  EXPECT_EQ(Read("#\tTYPE \t a  gauge\na {b = \"c\" d=\"e\" ,} \t 1 \t 2 \n"),
            "error: invalid metric type \" gauge\"\n");
  EXPECT_EQ(Read("a {b = \"c\" d=\"e\" ,} \t 1 \t 2 \n"),
            "{__name__=\"a\", b=\"c\", d=\"e\"} 1 @2\n");
  EXPECT_EQ(Read("a{b=\"c\"}1"), "{__name__=\"a\", b=\"c\"} 1\n");
}

TEST(TextReaderTest, NamesAndLabelsMayBeAnyUtf8InQuotes) {
  EXPECT_EQ(Read("{\"my.metric\",\"a b\"=\"\\\"x\\\"\\n\"} 1\n"),
            "{__name__=\"my.metric\", \"a b\"=\"\\\"x\\\"\\n\"} 1\n");
  EXPECT_EQ(Read("{a=\"b\",\"m\"} 1\n"), "{__name__=\"m\", a=\"b\"} 1\n");
  EXPECT_EQ(Read("{a=\"b\"} 1\n"),
            "error: metric name not set while parsing: \"{a=\\\"b\\\"} 1\"\n");
  EXPECT_EQ(Read("n{\"m\"} 1\n"),
            "error: metric name already set while parsing: \"n{\\\"m\\\"}\"\n");
}

TEST(TextReaderTest, BoundsAndQuantilesBecomeOpenMetricsNumbers) {
  EXPECT_EQ(Read("# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"1e6\"} 2\n"
                 "h_bucket{le=\"+Inf\"} 2\nh_bucket{le=\"x\"} 2\nh_sum{quantile=\"1\"} 0\n"
                 "# TYPE s summary\ns{quantile=\"1\"} 2\ns{le=\"1\"} 2\n"),
            "type h histogram\n"
            "{__name__=\"h_bucket\", le=\"1.0\"} 2\n"
            "{__name__=\"h_bucket\", le=\"1e+06\"} 2\n"
            "{__name__=\"h_bucket\", le=\"+Inf\"} 2\n"
            "{__name__=\"h_bucket\", le=\"x\"} 2\n"
            "{__name__=\"h_sum\", quantile=\"1\"} 0\n"
            "type s summary\n"
            "{__name__=\"s\", quantile=\"1.0\"} 2\n"
            "{__name__=\"s\", le=\"1\"} 2\n");
}

TEST(TextReaderTest, EmptyValuesVanishAndRepeatedNamesAreRefused) {
  EXPECT_EQ(Read("a{b=\"\"} 1\n"), "{__name__=\"a\"} 1\n");
  EXPECT_EQ(Read("a{b=\"1\",b=\"2\"} 1\n"), "label name \"b\" is not unique: invalid sample 1\n");
}

TEST(TextReaderTest, TypeAndUnitLabelsAreAddedOnDemand) {
  ReaderOptions options;
  options.type_and_unit_labels = true;
  EXPECT_EQ(Read("# TYPE a counter\na{__type__=\"x\",__unit__=\"y\"} 1\n", options),
            "type a counter\n{__name__=\"a\", __type__=\"counter\", __unit__=\"y\"} 1\n");
}

TEST(TextReaderTest, WhatCameBeforeAnErrorIsKept) {
  EXPECT_EQ(
      Read("a 1\nb\n"),
      "{__name__=\"a\"} 1\n"
      "error: expected value after metric, got \"\\n\" (\"INVALID\") while parsing: \"b\\n\"\n");
}

TEST(TextReaderTest, ErrorsHavePrometheussWords) {
  const auto error = [](std::string_view body) { return Read(body); };
  EXPECT_EQ(error("a{b=\"c\"} v\n"),
            "error: strconv.ParseFloat: parsing \"v\": invalid syntax while parsing: "
            "\"a{b=\\\"c\\\"} v\"\n");
  EXPECT_EQ(error("a 1 -1\n"),
            "error: expected timestamp or new record, got \"-\" (\"INVALID\") while parsing: "
            "\"a 1 -\"\n");
  EXPECT_EQ(error("a 1 99999999999999999999\n"),
            "error: strconv.ParseInt: parsing \"99999999999999999999\": value out of range while "
            "parsing: \"a 1 99999999999999999999\"\n");
  EXPECT_EQ(
      error("a 1 2 3\n"),
      "error: expected next entry after timestamp, got \"3\\n\" (\"TIMESTAMP\") while parsing: \"a "
      "1 2 3\\n\"\n");
  EXPECT_EQ(error("a{b!=\"c\"} 1\n"),
            "error: expected equal, got \"!\" (\"INVALID\") while parsing: \"a{b!\"\n");
  EXPECT_EQ(error("a{b=c} 1\n"),
            "error: expected label value, got \"c\" (\"INVALID\") while parsing: \"a{b=c\"\n");
  EXPECT_EQ(error("a{,} 1\n"),
            "error: expected label name, got \",}\" (\"COMMA\") while parsing: \"a{,}\"\n");
  EXPECT_EQ(error("0a 1\n"),
            "error: expected a valid start token, got \"0\" (\"INVALID\") while parsing: \"0\"\n");
  EXPECT_EQ(error("# TYPE a b\n"), "error: invalid metric type \"b\"\n");
  EXPECT_EQ(error("a{b=\"\xff\"} 1\n"), "error: invalid UTF-8 label value: \"\\\"\\xff\\\"\"\n");
  EXPECT_EQ(error("# HELP a \xff\n"), "error: help text \"\\xff\" is not a valid utf8 string\n");
}

TEST(TextReaderTest, ANulEndsTheBodyOutsideOfTexts) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(Read("a 1\n\0garbage"sv), "{__name__=\"a\"} 1\n");
  EXPECT_EQ(Read("a{b=\"c\0d\"} 1\n"sv), "{__name__=\"a\", b=\"c\\x00d\"} 1\n");
  EXPECT_EQ(Read("#\0\na 1\n"sv), "");
}

TEST(TextReaderTest, LongBodiesComeInBatchesWithoutLoss) {
  std::string body;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    base::StrAppend(&body, "a{i=\"", i, "\"} ", i, "\n");
    base::StrAppend(&expected, "{__name__=\"a\", i=\"", i, "\"} ", i, "\n");
  }
  EXPECT_EQ(Read(body), expected);
}

TEST(TextReaderTest, TheSeriesKeyIsTheSeriesAsWritten) {
  const std::string body = "a{b=\"c\"} 1\nd 2 3\n";
  const auto reader = NewExpositionReader(ExpositionFormat::kText, body, {});
  EntryBatch batch;
  ASSERT_TRUE(reader->NextBatch(&batch));
  ASSERT_EQ(batch.entries.size(), 2u);
  EXPECT_EQ(batch.entries[0].series_key, "a{b=\"c\"}");
  EXPECT_EQ(batch.entries[0].name, "a");
  EXPECT_EQ(batch.entries[1].series_key, "d");
}

}  // namespace
}  // namespace narthex::codec
