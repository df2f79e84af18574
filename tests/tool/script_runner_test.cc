#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "narthex/base/clock.h"
#include "narthex/base/status.h"
#include "narthex/model/histogram_text.h"
#include "narthex/model/stale.h"
#include "tests/tool/fake_script_storage.h"
#include "tool/promqltest/compare.h"
#include "tool/promqltest/nhcb.h"
#include "tool/promqltest/runner.h"

namespace narthex::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ScriptRun {
  ScriptOutcome outcome;
  std::vector<std::string> failures;  // "LINE EXPR: WHY"
};

ScriptRun RunScript(std::string_view script) {
  ScriptRun run;
  ScriptRunner runner(FakeStorageFactory(/*batch_rows=*/3), &base::SystemClock());
  run.outcome = runner.Run(script, [&](int line, std::string_view what, std::string_view why) {
    run.failures.push_back(base::StrCat(line, " ", what, ": ", why));
  });
  return run;
}

constexpr std::string_view kLoad = "load 1m\n  m{a=\"1\"} 1 2 3\n  m{a=\"2\"} 4 5 6\n\n";

TEST(ScriptRunnerTest, RightExpectationsPass) {
  const ScriptRun run = RunScript(base::StrCat(kLoad, R"(
# A comment.
eval instant at 1m m
  m{a="1"} 2
  m{a="2"} 5

eval range from 0 to 2m step 1m sum(m)
  {} 5 7 9

eval instant at 0 1 + 1
  2

eval instant at 0 "x"
  expect string "x"

eval instant at 2m m{a="1"}[2m]
  expect range vector from 1m to 2m step 1m
  m{a="1"} 2 3

eval_ordered instant at 0 sort_desc(m)
  m{a="2"} 4
  m{a="1"} 1

eval instant at 0 m / on() m
  expect fail regex: found duplicate series

clear
eval instant at 0 m
)"));
  EXPECT_THAT(run.failures, IsEmpty());
  EXPECT_EQ(run.outcome.num_passed, 8);
  EXPECT_EQ(run.outcome.num_failed, 0);
}

TEST(ScriptRunnerTest, WrongExpectationsFailWithWhatWasGot) {
  const ScriptRun run = RunScript(base::StrCat(kLoad, R"(
eval instant at 1m m{a="1"}
  m{a="1"} 3

eval instant at 1m m
  m{a="1"} 2

eval instant at 1m m{a="1"}
  m{a="1"} 2
  m{a="3"} 2

eval instant at 0 1
  2

eval range from 0 to 2m step 1m m{a="1"}
  m{a="1"} 1 2

eval instant at 0 m
  expect fail

eval instant at 0 m{a="1"}
  expect warn
  m{a="1"} 1

eval instant at 0 quantile(2, m)
  expect no_warn
  {} Inf

eval instant at 0 "x"
  expect string "y"
)"));
  EXPECT_EQ(run.outcome.num_passed, 0);
  EXPECT_EQ(run.outcome.num_failed, 9);
  EXPECT_THAT(
      run.failures,
      ElementsAre("6 m{a=\"1\"}: expected {__name__=\"m\", a=\"1\"} 3, got 2 @[60000]",
                  HasSubstr("expected no {__name__=\"m\", a=\"2\"}, got 5"),
                  HasSubstr("expected {__name__=\"m\", a=\"3\"} 2, got no such series"),
                  HasSubstr("expected 2, got 1"), HasSubstr("got 1 @[0] 2 @[60000] 3 @[120000]"),
                  HasSubstr("expected an error, got a result"),
                  HasSubstr("expected warning \"\", got none"),
                  HasSubstr("expected no warning, got PromQL warning: quantile value"),
                  HasSubstr("expected y, got \"x\"")));
}

TEST(ScriptRunnerTest, OfEqualSeriesInALoadTheLastOneCounts) {
  const ScriptRun run = RunScript(R"(
load 1m
  m 1 2
  m 7

eval range from 0 to 1m step 1m m
  m 7 7
)");
  EXPECT_THAT(run.failures, IsEmpty());
}

TEST(ScriptRunnerTest, ABadScriptIsAFailureWithItsLine) {
  EXPECT_THAT(RunScript("load 1m\n  m 1x\n").failures,
              ElementsAre(HasSubstr("2: invalid repetition")));
  EXPECT_THAT(RunScript("eval instant at 5 m\n").failures, ElementsAre(HasSubstr("1: ")));
  EXPECT_THAT(RunScript("frobnicate\n").failures, ElementsAre(HasSubstr("invalid command")));
  EXPECT_THAT(RunScript("eval range from 2m to 1m step 1m m\n").failures,
              ElementsAre(HasSubstr("end timestamp is before start timestamp")));
}

TEST(ScriptRunnerTest, ClassicHistogramsAreLoadedWithCustomBuckets) {
  const ScriptRun run = RunScript(R"(
load_with_nhcb 1m
  h_bucket{le="1"} 1 2
  h_bucket{le="+Inf"} 3 4
  h_sum 5 6

eval range from 0 to 1m step 1m h
  h {{schema:-53 count:3 sum:5 custom_values:[1] buckets:[1 2]}} {{schema:-53 count:4 sum:6 custom_values:[1] buckets:[2 2]}}

load_with_nhcb 1m
  bad_bucket{le="1"} 5
  bad_bucket{le="+Inf"} 3
)");
  EXPECT_EQ(run.outcome.num_passed, 1);
  EXPECT_THAT(run.failures, ElementsAre(HasSubstr("count is not cumulative")));
}

TEST(CompareTest, ValuesMayDifferByAMillionth) {
  EXPECT_TRUE(AlmostEqual(1, 1.000001));
  EXPECT_FALSE(AlmostEqual(1, 1.00001));
  EXPECT_FALSE(AlmostEqual(0, 1e-9));
  EXPECT_TRUE(AlmostEqual(model::NormalNan(), model::NormalNan()));
  EXPECT_FALSE(AlmostEqual(model::StaleNan(), model::NormalNan()));
  EXPECT_TRUE(AlmostEqual(model::StaleNan(), model::StaleNan()));
}

}  // namespace
}  // namespace narthex::tool
