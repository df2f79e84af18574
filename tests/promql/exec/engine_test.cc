// Queries over storage in memory. What a query answers is mostly pinned by the scripts under
// tests/scripts; here are the parts that scripts do not reach: limits, cancellation, result forms.
#include "narthex/promql/engine.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "narthex/base/cancellation.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "promql/exec/series_list.h"
#include "tests/support/fake_queryable.h"
#include "tests/support/manual_clock.h"

namespace narthex::promql {
namespace {

constexpr int64_t kMinute = 60'000;

class EngineTest : public ::testing::Test {
 protected:
  // value(i) = base + i * slope, one a minute from 0 on.
  void AddLine(std::vector<std::pair<std::string, std::string>> labels, int count, double base,
               double slope) {
    std::vector<std::pair<int64_t, double>> samples;
    for (int i = 0; i < count; ++i) samples.emplace_back(i * kMinute, base + slope * i);
    storage_.AddFloats(std::move(labels), samples);
  }

  absl::StatusOr<QueryResult> Run(const std::string& text, int64_t start_ms, int64_t end_ms,
                                  int64_t step_ms) {
    const Engine engine(options_);
    QuerySpec spec;
    spec.text = text;
    spec.start_ms = start_ms;
    spec.end_ms = end_ms;
    spec.step_ms = step_ms;
    return engine.Run(spec, storage_, cancellation_);
  }

  static std::string Render(const QueryResult& result) {
    std::string out;
    for (const ResultSeries& series : result.series) {
      if (!out.empty()) out += "; ";
      out += LabelsToString(*result.symbols, series.labels);
      for (const FloatPoint& point : series.floats) {
        out += ' ';
        base::AppendFloatFixed(&out, point.value);
        out += '@';
        out += std::to_string(point.time_ms / 1000);
      }
    }
    return out;
  }

  // The elements of an instant query, in order; or the error.
  std::string Instant(const std::string& text, int64_t time_ms) {
    auto result = Run(text, time_ms, time_ms, 0);
    if (!result.ok()) return std::string(base::Message(result.status()));
    return Render(*result);
  }
  std::string Range(const std::string& text, int64_t start_ms, int64_t end_ms, int64_t step_ms) {
    auto result = Run(text, start_ms, end_ms, step_ms);
    if (!result.ok()) return std::string(base::Message(result.status()));
    return Render(*result);
  }

  testing::FakeQueryable storage_{3};  // Small batches: their seams are where bugs live.
  support::ManualClock clock_;
  base::Cancellation cancellation_{&clock_};
  EngineOptions options_;
};

TEST_F(EngineTest, ANumberIsAScalar) {
  auto result = Run("1 + 2 * 3", 5000, 5000, 0);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->type, ValueType::kScalar);
  EXPECT_EQ(Render(*result), "{} 7@5");
}

TEST_F(EngineTest, AScalarOverARangeIsAMatrix) {
  auto result = Run("time()", 0, 20'000, 10'000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->type, ValueType::kMatrix);
  EXPECT_EQ(Render(*result), "{} 0@0 10@10 20@20");
}

TEST_F(EngineTest, AStringIsItself) {
  auto result = Run("\"a\"", 5000, 5000, 0);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->type, ValueType::kString);
  EXPECT_EQ(result->string_value, "a");
  EXPECT_EQ(result->string_time_ms, 5000);
}

TEST_F(EngineTest, LookbackIsLeftOpen) {
  storage_.AddFloats({{"__name__", "x"}}, {{0, 1}});
  EXPECT_EQ(Instant("x", 299'999), "{__name__=\"x\"} 1@299");
  EXPECT_EQ(Instant("x", 300'000), "");
}

TEST_F(EngineTest, SelectorsOverARangeCarryTheNewestSample) {
  storage_.AddFloats({{"__name__", "x"}},
                     {{0, 1}, {10'000, 2}, {11'000, 3}, {12'000, 4}, {40'000, 5}, {41'000, 6}});
  EXPECT_EQ(Range("x", 0, 50'000, 10'000), "{__name__=\"x\"} 1@0 2@10 4@20 4@30 5@40 6@50");
  EXPECT_EQ(Range("x offset 10s", 0, 50'000, 10'000), "{__name__=\"x\"} 1@10 2@20 4@30 4@40 5@50");
  EXPECT_EQ(Range("x @ 11", 0, 20'000, 10'000), "{__name__=\"x\"} 3@0 3@10 3@20");
}

TEST_F(EngineTest, GroupsAreSummedAsTheyStream) {
  AddLine({{"__name__", "x"}, {"job", "a"}, {"i", "1"}}, 5, 1, 1);
  AddLine({{"__name__", "x"}, {"job", "a"}, {"i", "2"}}, 5, 10, 1);
  AddLine({{"__name__", "x"}, {"job", "b"}, {"i", "1"}}, 3, 100, 0);
  EXPECT_EQ(Range("sum by (job) (x)", 0, 2 * kMinute, kMinute),
            "{job=\"a\"} 11@0 13@60 15@120; {job=\"b\"} 100@0 100@60 100@120");
  EXPECT_EQ(Instant("sum without (job, i) (x)", kMinute), "{} 113@60");
  EXPECT_EQ(Instant("count(x)", kMinute), "{} 3@60");
  EXPECT_EQ(Instant("max by (i) (x)", kMinute), "{i=\"1\"} 100@60; {i=\"2\"} 11@60");
}

TEST_F(EngineTest, RateSlidesOverItsSeries) {
  AddLine({{"__name__", "x_total"}}, 20, 0, 6);
  EXPECT_EQ(Range("rate(x_total[5m])", 10 * kMinute, 12 * kMinute, kMinute),
            "{} 0.1@600 0.1@660 0.1@720");
  EXPECT_EQ(Instant("increase(x_total[5m])", 10 * kMinute), "{} 30@600");
}

TEST_F(EngineTest, SubqueriesEvaluateOnTheirOwnGrid) {
  AddLine({{"__name__", "x"}}, 20, 0, 1);
  EXPECT_EQ(Instant("max_over_time(x[3m:1m])", 10 * kMinute), "{} 10@600");
  EXPECT_EQ(Instant("count_over_time(x[3m:30s])", 10 * kMinute + 10), "{} 6@600");
}

TEST_F(EngineTest, VectorsMatchOneToOne) {
  AddLine({{"__name__", "a"}, {"i", "1"}}, 2, 6, 0);
  AddLine({{"__name__", "a"}, {"i", "2"}}, 2, 8, 0);
  AddLine({{"__name__", "b"}, {"i", "1"}, {"z", "q"}}, 2, 3, 0);
  EXPECT_EQ(Instant("a / on (i) b", 0), "{i=\"1\"} 2@0");
  EXPECT_EQ(Instant("a / ignoring (z) b", 0), "{i=\"1\"} 2@0");
  EXPECT_EQ(Instant("a > 6", 0), "{__name__=\"a\", i=\"2\"} 8@0");
  EXPECT_EQ(Instant("a > bool 6", 0), "{i=\"1\"} 0@0; {i=\"2\"} 1@0");
  EXPECT_EQ(Instant("a / on (i) group_left (z) b", 0), "{i=\"1\", z=\"q\"} 2@0");
  EXPECT_EQ(Instant("a and on (i) b", 0), "{__name__=\"a\", i=\"1\"} 6@0");
  EXPECT_EQ(Instant("a unless on (i) b", 0), "{__name__=\"a\", i=\"2\"} 8@0");
  EXPECT_EQ(Instant("b or on (i) a", 0),
            "{__name__=\"b\", i=\"1\", z=\"q\"} 3@0; {__name__=\"a\", i=\"2\"} 8@0");
}

TEST_F(EngineTest, RivalsOnTheOneSideAreAnError) {
  AddLine({{"__name__", "a"}, {"i", "1"}}, 2, 6, 0);
  AddLine({{"__name__", "b"}, {"i", "1"}, {"z", "p"}}, 2, 3, 0);
  AddLine({{"__name__", "b"}, {"i", "1"}, {"z", "q"}}, 2, 3, 0);
  EXPECT_EQ(Instant("a / on (i) b", 0),
            "found duplicate series for the match group {i=\"1\"} on the right hand-side of the "
            "operation: [{__name__=\"b\", i=\"1\", z=\"p\"}, {__name__=\"b\", i=\"1\", "
            "z=\"q\"}];many-to-many matching not allowed: matching labels must be unique on one "
            "side");
  EXPECT_EQ(Instant("b / on (i) a", 0),
            "multiple matches for labels: many-to-one matching must be explicit "
            "(group_left/group_right)");
}

TEST_F(EngineTest, ClassicQuantilesPutBucketsTogether) {
  AddLine({{"__name__", "h_bucket"}, {"le", "1"}}, 2, 10, 0);
  AddLine({{"__name__", "h_bucket"}, {"le", "2"}}, 2, 20, 0);
  AddLine({{"__name__", "h_bucket"}, {"le", "+Inf"}}, 2, 20, 0);
  EXPECT_EQ(Instant("histogram_quantile(0.75, h_bucket)", 0), "{} 1.5@0");
}

TEST_F(EngineTest, EqualLabelsAfterDroppingNamesAreAnError) {
  AddLine({{"__name__", "a"}}, 2, 1, 0);
  AddLine({{"__name__", "b"}}, 2, 1, 0);
  EXPECT_EQ(Instant("abs({__name__=~\"a|b\"})", 0),
            "vector cannot contain metrics with the same labelset");
  EXPECT_EQ(Instant("last_over_time({__name__=~\"a|b\"}[5m])", 0),
            "{__name__=\"a\"} 1@0; {__name__=\"b\"} 1@0");
}

TEST_F(EngineTest, TopkOrdersAnInstantQuery) {
  AddLine({{"__name__", "x"}, {"i", "1"}}, 3, 5, -5);
  AddLine({{"__name__", "x"}, {"i", "2"}}, 3, 7, 0);
  AddLine({{"__name__", "x"}, {"i", "3"}}, 3, 6, 0);
  EXPECT_EQ(Instant("topk(2, x)", 0),
            "{__name__=\"x\", i=\"2\"} 7@0; {__name__=\"x\", i=\"3\"} 6@0");
  EXPECT_EQ(Instant("bottomk(1, x)", 0), "{__name__=\"x\", i=\"1\"} 5@0");
  EXPECT_EQ(Instant("sort_desc(x)", 0),
            "{__name__=\"x\", i=\"2\"} 7@0; {__name__=\"x\", i=\"3\"} 6@0; "
            "{__name__=\"x\", i=\"1\"} 5@0");
  EXPECT_EQ(Range("topk(1, x)", 0, kMinute, kMinute), "{__name__=\"x\", i=\"2\"} 7@0 7@60");
}

TEST_F(EngineTest, RawRangesGiveStoredSamples) {
  AddLine({{"__name__", "x"}}, 4, 1, 1);
  auto result = Run("x[2m]", 2 * kMinute, 2 * kMinute, 0);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->type, ValueType::kMatrix);
  EXPECT_EQ(Render(*result), "{__name__=\"x\"} 2@60 3@120");
}

TEST_F(EngineTest, TooManySamplesAreRefused) {
  AddLine({{"__name__", "x"}}, 100, 1, 1);
  options_.max_samples = 50;
  auto result = Run("x", 0, 99 * kMinute, kMinute);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(base::Message(result.status()),
            "query processing would load too many samples into memory in query execution");
}

TEST_F(EngineTest, TooManyBytesAreRefused) {
  AddLine({{"__name__", "x"}}, 100, 1, 1);
  options_.max_bytes = 500;
  auto result = Run("x", 0, 99 * kMinute, kMinute);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(EngineTest, GridsTooLargeForMemoryAreRefused) {
  AddLine({{"__name__", "x"}}, 2, 1, 1);
  for (const char* text :
       {"x[1000y:1ms]", "count_over_time(x[1000y:1ms])", "max_over_time(1[9y:1ms])"}) {
    auto result = Run(text, 0, 0, 0);
    EXPECT_FALSE(result.ok()) << text;
  }
  auto result = Run("x", 0, int64_t{1} << 50, 1);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
}

// A cross product of series is refused before it is written down.
TEST_F(EngineTest, ManyRivalsAreAnErrorNotAFlood) {
  for (int i = 0; i < 2000; ++i) {
    AddLine({{"__name__", "a"}, {"i", std::to_string(i)}}, 1, 1, 0);
    AddLine({{"__name__", "b"}, {"i", std::to_string(i)}}, 1, 1, 0);
  }
  options_.max_bytes = 64 << 20;
  EXPECT_EQ(Instant("a / on () b", 0).substr(0, 22), "found duplicate series");
  EXPECT_EQ(Instant("a / on () group_left () b", 0).substr(0, 22), "found duplicate series");
}

// Each level makes the text twice or four times as long.
TEST_F(EngineTest, LabelsThatGrowWithoutEndAreAnError) {
  AddLine({{"__name__", "x"}, {"i", "123"}}, 1, 1, 0);
  const std::string message =
      "a label value of more than 1048576 bytes would be made in query execution";
  std::string replaced = "x";
  std::string joined = "x";
  for (int i = 0; i < 40; ++i) {
    replaced = "label_replace(" + replaced + R"q(, "i", "$1$1", "i", "(.*)"))q";
    joined = "label_join(" + joined + R"q(, "i", "", "i", "i", "i", "i"))q";
  }
  EXPECT_EQ(Instant(replaced, 0), message);
  EXPECT_EQ(Instant(joined, 0), message);
}

TEST_F(EngineTest, ACancelledQueryEnds) {
  AddLine({{"__name__", "x"}}, 100, 1, 1);
  cancellation_.Cancel();
  auto result = Run("sum(x)", 0, 99 * kMinute, kMinute);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(base::Message(result.status()), "query was canceled in expression evaluation");
}

TEST_F(EngineTest, RangeQueriesRefuseRangeVectors) {
  auto result = Run("x[5m]", 0, kMinute, kMinute);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::Message(result.status()),
            "invalid expression type \"range vector\" for range query, must be Scalar or instant "
            "Vector");
}

TEST_F(EngineTest, LabelFunctionsRewriteSymbols) {
  AddLine({{"__name__", "x"}, {"a", "v1-w2"}, {"c", "k"}}, 1, 1, 0);
  EXPECT_EQ(Instant("label_replace(x, \"b\", \"$2-$1\", \"a\", \"(.*)-(.*)\")", 0),
            "{__name__=\"x\", a=\"v1-w2\", b=\"w2-v1\", c=\"k\"} 1@0");
  EXPECT_EQ(Instant("label_join(x, \"b\", \"/\", \"a\", \"c\")", 0),
            "{__name__=\"x\", a=\"v1-w2\", b=\"v1-w2/k\", c=\"k\"} 1@0");
  EXPECT_EQ(Instant("count_values(\"v\", x)", 0), "{v=\"1\"} 1@0");
}

TEST_F(EngineTest, AbsenceHasTheLabelsItWasAskedFor) {
  EXPECT_EQ(Instant("absent(x{job=\"a\", i=~\"b.*\"})", 0), "{job=\"a\"} 1@0");
  EXPECT_EQ(Instant("absent_over_time(x{job=\"a\"}[5m])", 0), "{job=\"a\"} 1@0");
}

TEST_F(EngineTest, NotesHaveTheirPlace) {
  AddLine({{"__name__", "x"}}, 20, 0, 1);
  auto result = Run("sum(rate(x[5m]))", 10 * kMinute, 10 * kMinute, 0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->infos, std::vector<std::string>{
                               "PromQL info: metric might not be a counter, name does not end in "
                               "_total/_sum/_count/_bucket: \"x\" (1:10)"});
}

}  // namespace
}  // namespace narthex::promql
