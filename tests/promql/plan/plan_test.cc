#include "promql/plan/plan.h"

#include <string_view>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "narthex/promql/syntax.h"
#include "promql/parse/parser.h"
#include "promql/parse/printer.h"

namespace narthex::promql {
namespace {

constexpr PlanContext kRangeQuery = {.start_ms = 1'000'000,
                                     .end_ms = 1'600'000,
                                     .step_ms = 60'000,
                                     .lookback_ms = 300'000,
                                     .default_subquery_step_ms = 15'000};

struct Planned {
  ExprPtr root;
  absl::StatusOr<QueryPlan> plan;
};

Planned Plan(std::string_view query, const PlanContext& context = kRangeQuery) {
  Planned planned{ParseExpression(query, {true, true, true}).value(), QueryPlan()};
  planned.plan = PlanQuery(context, &planned.root);
  return planned;
}

const VectorSelector& SelectorOf(const Expr& expr) {
  if (const auto* call = TryAs<Call>(expr)) return SelectorOf(*call->args[0]);
  if (const auto* aggregation = TryAs<Aggregation>(expr)) return SelectorOf(*aggregation->expr);
  if (const auto* subquery = TryAs<Subquery>(expr)) return SelectorOf(*subquery->expr);
  if (const auto* binary = TryAs<Binary>(expr)) return SelectorOf(*binary->left);
  if (const auto* matrix = TryAs<MatrixSelector>(expr)) return *matrix->selector;
  return As<VectorSelector>(Unparenthesized(expr));
}

TEST(PlanTest, TheQuerysOwnTimesAndScalarsBecomeLiterals) {
  EXPECT_EQ(ToString(*Plan("start() + end()").root), "2600");
  EXPECT_EQ(ToString(*Plan("range() / step()").root), "10");
  EXPECT_EQ(ToString(*Plan("a * (5m - 2 ^ 3)").root), "a * (292)");
  EXPECT_EQ(ToString(*Plan("1 >= bool 2").root), "0");
  EXPECT_EQ(ToString(*Plan("time() + 1").root), "time() + 1");
}

TEST(PlanTest, AnInstantQueryHasNoStep) {
  PlanContext instant = kRangeQuery;
  instant.end_ms = instant.start_ms;
  instant.step_ms = 0;
  EXPECT_EQ(ToString(*Plan("step() + range()", instant).root), "0");
  EXPECT_EQ(base::Message(Plan("a[step()]", instant).plan.status()),
            "2:8: duration must be greater than 0");
}

TEST(PlanTest, DurationExpressionsGetTheirValues) {
  const Planned planned = Plan("rate(a[step() * 2 + 1.5] offset -(1m))");
  const auto& matrix = As<MatrixSelector>(*As<Call>(*planned.root).args[0]);
  EXPECT_EQ(matrix.range.ms, 121'500);
  EXPECT_EQ(matrix.selector->offset.ms, -60'000);
  EXPECT_EQ(As<MatrixSelector>(*Plan("a[min_of(5m, range())]").root).range.ms, 300'000);
  EXPECT_EQ(As<MatrixSelector>(*Plan("a[2 ^ 3 % 5]").root).range.ms, 3'000);
}

TEST(PlanTest, DurationExpressionsWithoutAValueAreErrors) {
  EXPECT_EQ(base::Message(Plan("a[5m / (1 - 1)]").plan.status()), "2:13: division by zero");
  EXPECT_EQ(base::Message(Plan("a[5m % (1 - 1)]").plan.status()), "2:13: modulo by zero");
  EXPECT_EQ(base::Message(Plan("a[1m - 2m]").plan.status()),
            "2:9: duration must be greater than 0");
  EXPECT_EQ(base::Message(Plan("a[10 ^ 400]").plan.status()), "2:10: duration is NaN or infinite");
}

TEST(PlanTest, ASubqueryWithoutAStepTakesTheDefault) {
  EXPECT_EQ(As<Subquery>(*Plan("a[5m:]").root).step.ms, 15'000);
  EXPECT_EQ(As<Subquery>(*Plan("a[5m:1m]").root).step.ms, 60'000);
}

TEST(PlanTest, TimesOfStartAndEndAreResolved) {
  EXPECT_EQ(As<VectorSelector>(*Plan("a @ start()").root).at.time_ms, 1'000'000);
  EXPECT_EQ(As<VectorSelector>(*Plan("a @ end()").root).at.time_ms, 1'600'000);
}

TEST(PlanTest, TheLargestSubtreesThatNeverVaryAreMarked) {
  EXPECT_TRUE(Plan("sum(rate(a[5m] @ 5))").root->step_invariant);
  EXPECT_FALSE(Plan("sum(rate(a[5m]))").root->step_invariant);
  const Planned mixed = Plan("a + sum(b @ 5)");
  EXPECT_FALSE(mixed.root->step_invariant);
  EXPECT_FALSE(As<Binary>(*mixed.root).left->step_invariant);
  EXPECT_TRUE(As<Binary>(*mixed.root).right->step_invariant);
  EXPECT_FALSE(As<Aggregation>(*As<Binary>(*mixed.root).right).expr->step_invariant);
}

TEST(PlanTest, FunctionsOfTimeVary) {
  EXPECT_FALSE(Plan("time()").root->step_invariant);
  EXPECT_FALSE(Plan("predict_linear(a[5m] @ 5, 60)").root->step_invariant);
  EXPECT_TRUE(Plan("timestamp(a @ 5)").root->step_invariant);
  EXPECT_FALSE(Plan("timestamp(abs(a @ 5))").root->step_invariant);
  EXPECT_TRUE(Plan("vector(1)").root->step_invariant);
}

TEST(PlanTest, LiteralsAndRangesAreNotMarked) {
  EXPECT_FALSE(Plan("1").root->step_invariant);
  EXPECT_FALSE(Plan("a[5m] @ 5").root->step_invariant);
}

TEST(PlanTest, TheInsideOfASubqueryIsMarkedOnItsOwn) {
  const Planned planned = Plan("sum_over_time(sum(a @ 5)[5m:1m])");
  EXPECT_FALSE(planned.root->step_invariant);
  EXPECT_TRUE(As<Subquery>(*As<Call>(*planned.root).args[0]).expr->step_invariant);
}

TEST(PlanTest, SelectorsGetTheRangeTheyNeed) {
  const auto range = [](std::string_view query) {
    const Planned planned = Plan(query);
    const model::TimeRange hint = SelectorOf(*planned.root).hints.range;
    EXPECT_EQ(hint.min_time_ms, planned.plan->range.min_time_ms) << query;
    return std::pair(hint.min_time_ms, hint.max_time_ms);
  };
  EXPECT_EQ(range("a"), std::pair(700'001l, 1'600'000l));
  EXPECT_EQ(range("a offset 1m"), std::pair(640'001l, 1'540'000l));
  EXPECT_EQ(range("a @ 500 offset 1m"), std::pair(140'001l, 440'000l));
  EXPECT_EQ(range("rate(a[1m])"), std::pair(940'001l, 1'600'000l));
  EXPECT_EQ(range("rate(a[1m] anchored)"), std::pair(640'001l, 1'600'000l));
  EXPECT_EQ(range("rate(a[1m] smoothed)"), std::pair(640'001l, 1'900'000l));
  EXPECT_EQ(range("sum_over_time(rate(a[1m])[10m:30s] offset 5m)"), std::pair(40'001l, 1'300'000l));
  EXPECT_EQ(range("sum_over_time(sum_over_time(a[1m:])[2m:] @ 600)"),
            std::pair(120'001l, 600'000l));
}

TEST(PlanTest, SelectorsKnowWhatIsAroundThem) {
  const Planned planned = Plan("sum(rate(a[1m]))");
  const model::SelectHints& hints = SelectorOf(*planned.root).hints;
  EXPECT_EQ(hints.function, "rate");
  EXPECT_EQ(hints.range_ms, 60'000);
  EXPECT_EQ(hints.step_ms, 60'000);
  EXPECT_EQ(SelectorOf(*Plan("sum(a)").root).hints.function, "sum");
  EXPECT_EQ(SelectorOf(*Plan("sum(a + b)").root).hints.function, "");
  EXPECT_EQ(SelectorOf(*Plan("sum_over_time(a[5m:20s])").root).hints.step_ms, 20'000);
}

TEST(PlanTest, BucketsAreLeftOutWhereOnlyCountsAndSumsAreAskedFor) {
  const auto detail = [](std::string_view query) {
    return SelectorOf(*Plan(query).root).hints.detail;
  };
  using enum model::HistogramDetail;
  EXPECT_EQ(detail("a"), kFull);
  EXPECT_EQ(detail("histogram_count(a)"), kCountAndSum);
  EXPECT_EQ(detail("histogram_sum(sum(rate(a[5m])))"), kCountAndSum);
  EXPECT_EQ(detail("histogram_avg(a >/ 5)"), kFull);
  EXPECT_EQ(detail("histogram_count(sum_over_time(a[5m:]))"), kFull);
}

TEST(SyntaxTest, APinnedQueryLooksAtOneTime) {
  EngineOptions options;
  options.enable_experimental_functions = true;
  const auto pinned = [&](std::string_view query) {
    return PinnedText(query, 12'500, options).value().value_or("none");
  };
  EXPECT_EQ(pinned("a + rate(b[5m])"), "a @ 12.500 + rate(b[5m] @ 12.500)");
  EXPECT_EQ(pinned("a @ 7"), "a @ 7.000");
  EXPECT_EQ(pinned("a @ end()"), "a @ 12.500");
  EXPECT_EQ(pinned("sum_over_time(a[5m:])"), "sum_over_time(a[5m:] @ 12.500)");
  EXPECT_EQ(pinned("a + time()"), "none");
  EXPECT_EQ(CanonicalText("sum(a)by(b)", options).value(), "sum by (b) (a)");
  EXPECT_FALSE(CanonicalText("sum(", options).ok());
}

TEST(SyntaxTest, ALongQueryIsSplitAndIndented) {
  const EngineOptions options;
  EXPECT_EQ(PrettyText("sum(a)by(b)/c", options).value(), "sum by (b) (a) / c");
  EXPECT_EQ(PrettyText("sum by (job) (rate(http_requests_total{code=~\"5..\"}[5m])) / on (job) "
                       "group_left () (sum by (job) (rate(http_requests_total[5m])))",
                       options)
                .value(),
            "  sum by (job) (rate(http_requests_total{code=~\"5..\"}[5m]))\n"
            "/ on (job) group_left ()\n"
            "  (sum by (job) (rate(http_requests_total[5m])))");
  EXPECT_EQ(PrettyText("histogram_quantile(0.99, sum by (le, handler) "
                       "(rate(prometheus_http_request_duration_seconds_bucket{job=\"x\"}[5m])))",
                       options)
                .value(),
            "histogram_quantile(\n"
            "  0.99,\n"
            "  sum by (le, handler) "
            "(rate(prometheus_http_request_duration_seconds_bucket{job=\"x\"}[5m]))\n"
            ")");
}

}  // namespace
}  // namespace narthex::promql
