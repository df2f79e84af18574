#include "promql/functions/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace narthex::promql {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kQuery = "sum(\n  rate(foo[5m])\n)";
constexpr uint32_t kFoo = 12;

struct Texts {
  std::vector<std::string> warnings, infos;
};

Texts Render(const Annotations& annotations) {
  Texts texts;
  annotations.Render(kQuery, &texts.warnings, &texts.infos);
  return texts;
}

TEST(NoteSetTest, HoldsBits) {
  NoteSet notes;
  EXPECT_TRUE(notes.empty());
  notes.Add(Note::kNotGauge);
  NoteSet more;
  more.Add(Note::kMixedSchemas);
  notes.Merge(more);
  EXPECT_TRUE(notes.Has(Note::kNotGauge));
  EXPECT_TRUE(notes.Has(Note::kMixedSchemas));
  EXPECT_FALSE(notes.Has(Note::kNotCounter));
  notes.Clear();
  EXPECT_TRUE(notes.empty());
}

TEST(AnnotationsTest, PositionsAreLineAndColumn) {
  EXPECT_EQ(PositionText(kQuery, 0), "1:1");
  EXPECT_EQ(PositionText(kQuery, 4), "1:5");
  EXPECT_EQ(PositionText(kQuery, 5), "2:1");
  EXPECT_EQ(PositionText(kQuery, kFoo), "2:8");
  EXPECT_EQ(PositionText(kQuery, 100), "invalid position");
}

TEST(AnnotationsTest, EveryNoteHasItsText) {
  NoteSet notes;
  for (uint8_t i = 0; i < static_cast<uint8_t>(Note::kNumNotes); ++i) notes.Add(Note{i});
  Annotations annotations;
  annotations.AddAll(notes, kFoo, "foo");
  const Texts texts = Render(annotations);
  EXPECT_THAT(
      texts.warnings,
      ElementsAre(
          "PromQL warning: encountered a mix of histograms and floats for metric name \"foo\" "
          "(2:8)",
          "PromQL warning: this native histogram metric is not a counter: \"foo\" (2:8)",
          "PromQL warning: this native histogram metric is not a gauge: \"foo\" (2:8)",
          "PromQL warning: vector contains a mix of histograms with exponential and custom buckets "
          "schemas for metric name \"foo\" (2:8)",
          "PromQL warning: conflicting counter resets during histogram addition (2:8)",
          "PromQL warning: conflicting counter resets during histogram subtraction (2:8)",
          "PromQL warning: conflicting counter resets during histogram aggregation (2:8)",
          "PromQL warning: encountered a mix of histograms and floats for aggregation (2:8)",
          "PromQL warning: vector contains a mix of classic and native histograms for metric name "
          "\"foo\" (2:8)",
          "PromQL warning: sort is ineffective for range queries since results are always ordered "
          "by labels (2:8)"));
  EXPECT_THAT(
      texts.infos,
      ElementsAre(
          "PromQL info: ignored histograms in a range containing both floats and histograms for "
          "metric name \"foo\" (2:8)",
          "PromQL info: mismatched custom buckets were reconciled during addition (2:8)",
          "PromQL info: mismatched custom buckets were reconciled during subtraction (2:8)",
          "PromQL info: mismatched custom buckets were reconciled during aggregation (2:8)",
          "PromQL info: input to histogram_quantile has NaN observations, result is NaN for metric "
          "name \"foo\" (2:8)",
          "PromQL info: input to histogram_quantile has NaN observations, result is skewed higher "
          "for metric name \"foo\" (2:8)",
          "PromQL info: input to histogram_fraction has NaN observations, which are excluded from "
          "all fractions for metric name \"foo\" (2:8)",
          "PromQL info: metric might not be a counter, name does not end in "
          "_total/_sum/_count/_bucket: \"foo\" (2:8)"));
}

TEST(AnnotationsTest, NamesThatAreNotGivenAreLeftOutWhereTheyMayBe) {
  Annotations annotations;
  annotations.Add(Note::kMixedClassicNative, 0);
  annotations.Add(Note::kNotCounter, 0);
  EXPECT_THAT(Render(annotations).warnings,
              ElementsAre("PromQL warning: vector contains a mix of classic and native histograms "
                          "(1:1)",
                          "PromQL warning: this native histogram metric is not a counter: \"\" "
                          "(1:1)"));
}

TEST(AnnotationsTest, TextsWithValues) {
  Annotations annotations;
  annotations.AddInvalidQuantile(1.5, 0);
  annotations.AddInvalidRatio(-2, -1, 0);
  annotations.AddBadBucketLabel("x\"y", 0);
  annotations.AddBadBucketLabel("", 0, "foo");
  annotations.AddNonCounterType("foo", "gauge", 0);
  annotations.AddIncompatibleTypes("+", "histogram", "float", 0);
  annotations.AddIncompatibleLayout("-", 0);
  annotations.AddIgnoredInAggregation("topk", 0);
  const Texts texts = Render(annotations);
  EXPECT_THAT(
      texts.warnings,
      ElementsAre("PromQL warning: quantile value should be between 0 and 1, got 1.5 (1:1)",
                  "PromQL warning: ratio value should be between -1 and 1, got -2, capping to -1 "
                  "(1:1)",
                  "PromQL warning: bucket label \"le\" is missing or has a malformed value of "
                  "\"x\\\"y\" (1:1)",
                  "PromQL warning: bucket label \"le\" is missing or has a malformed value of \"\" "
                  "for metric name \"foo\" (1:1)",
                  "PromQL warning: incompatible bucket layout encountered for binary operator - "
                  "(1:1)"));
  EXPECT_THAT(
      texts.infos,
      ElementsAre("PromQL info: metric might not be a counter, __type__ label is not set to "
                  "\"counter\" or \"histogram\", got \"gauge\": \"foo\" (1:1)",
                  "PromQL info: incompatible sample types encountered for binary operator \"+\": "
                  "histogram + float (1:1)",
                  "PromQL info: ignored histogram in topk aggregation (1:1)"));
}

TEST(AnnotationsTest, EqualTextsAreToldOnceWithTheLastPosition) {
  Annotations annotations;
  annotations.Add(Note::kNotGauge, 0, "foo");
  annotations.Add(Note::kNotGauge, kFoo, "foo");
  Annotations more;
  more.Add(Note::kNotGauge, 4, "foo");
  annotations.Merge(more);
  EXPECT_THAT(Render(annotations).warnings,
              ElementsAre("PromQL warning: this native histogram metric is not a gauge: \"foo\" "
                          "(1:5)"));
}

TEST(AnnotationsTest, ForcedMonotonicityIsSummedUp) {
  Annotations annotations;
  annotations.AddForcedMonotonicity(
      {.time_ms = 1'709'210'096'500, .min_bucket = 2, .max_bucket = 3, .max_difference = 1.25},
      kFoo);
  Annotations more;
  more.AddForcedMonotonicity(
      {.time_ms = 1'709'210'000'000, .min_bucket = 0.5, .max_bucket = 1, .max_difference = 30}, 0);
  annotations.Merge(more);
  EXPECT_THAT(
      Render(annotations).infos,
      ElementsAre("PromQL info: input to histogram_quantile needed to be fixed for monotonicity "
                  "(see https://prometheus.io/docs/prometheus/latest/querying/functions/"
                  "#histogram_quantile), from buckets 0.5 to 3, with a max diff of 30, over 2 "
                  "samples from 2024-02-29T12:33:20Z to 2024-02-29T12:34:56Z (2:8)"));
}

TEST(AnnotationsTest, PlainTextsStayAsTheyAre) {
  Annotations annotations;
  annotations.AddPlain(Severity::kWarning, "remote storage: no answer");
  const Texts texts = Render(annotations);
  EXPECT_THAT(texts.warnings, ElementsAre("remote storage: no answer"));
  EXPECT_THAT(texts.infos, IsEmpty());
}

}  // namespace
}  // namespace narthex::promql
