// A query from text to result: parse, plan, build operators, read their series, put the result
// together. Everything a query owns lives in one QueryRun; the result shares its symbols.
#include "narthex/promql/engine.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>

#include "narthex/base/status.h"
#include "promql/exec/builder.h"
#include "promql/exec/context.h"
#include "promql/exec/extended_range.h"
#include "promql/exec/operator.h"
#include "promql/parse/parser.h"
#include "promql/plan/plan.h"

namespace narthex::promql {
namespace {

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What a result's symbols need to stay readable.
struct SymbolOwner {
  explicit SymbolOwner(std::unique_ptr<model::Querier> the_querier)
      : querier(std::move(the_querier)), overlay(&querier->symbols()) {}
  const std::unique_ptr<model::Querier> querier;
  model::SymbolOverlay overlay;
};

class QueryRun {
 public:
  QueryRun(const EngineOptions& options, const QuerySpec& spec, const Expr& root,
           std::shared_ptr<SymbolOwner> owner, const base::Cancellation& cancellation)
      : spec_(spec),
        root_(root),
        owner_(std::move(owner)),
        context_(options, spec.lookback_ms != 0 ? spec.lookback_ms : options.lookback_ms,
                 owner_->querier.get(), &owner_->overlay, &cancellation) {
    grid_.start_ms = spec.start_ms;
    grid_.step_ms = instant() ? 1 : spec.step_ms;
    if (spec.end_ms >= spec.start_ms) {
      grid_.count = static_cast<size_t>((spec.end_ms - spec.start_ms) / grid_.step_ms) + 1;
    }
  }

  absl::StatusOr<QueryResult> Run();

 private:
  bool instant() const { return spec_.step_ms == 0; }
  absl::Status RunSteps();
  absl::Status RunRange();
  absl::Status RunRaw(const MatrixSelector& matrix);
  absl::Status RunSubquery(const Subquery& subquery);
  absl::Status ReadAll(Operator* op);
  absl::Status Keep(LabelSpan labels, const Column& column, const StepGrid& grid);
  void SortSeries();

  const QuerySpec& spec_;
  const Expr& root_;
  const std::shared_ptr<SymbolOwner> owner_;
  QueryContext context_;
  StepGrid grid_;
  QueryResult result_;
};

absl::Status QueryRun::Keep(LabelSpan labels, const Column& column, const StepGrid& grid) {
  NX_RETURN_IF_ERROR(context_.budget.Take(SampleSize(column),
                                          column.num_floats() * sizeof(FloatPoint) +
                                              column.num_histograms() * sizeof(HistogramPoint) +
                                              labels.size_bytes() + sizeof(ResultSeries)));
  ResultSeries& series = result_.series.emplace_back();
  series.labels.assign(labels.begin(), labels.end());
  series.floats.reserve(column.num_floats());
  series.histograms.reserve(column.num_histograms());
  for (size_t step = 0; step < column.size(); ++step) {
    switch (column.kind(step)) {
      case PointKind::kNone:
        break;
      case PointKind::kFloat:
        series.floats.push_back({grid.TimeAt(step), column.value(step)});
        break;
      case PointKind::kHistogram:
        series.histograms.push_back({grid.TimeAt(step), column.histogram(step)});
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status QueryRun::ReadAll(Operator* op) {
  Column column;
  for (size_t i = 0; i < op->series().size(); ++i) {
    NX_RETURN_IF_ERROR(op->Read(i, &column));
    NX_RETURN_IF_ERROR(context_.Tick(1 + column.num_points() / 16));
    if (column.empty()) continue;
    NX_RETURN_IF_ERROR(Keep(op->series().labels(i), column, op->grid()));
  }
  return absl::OkStatus();
}

void QueryRun::SortSeries() {
  const Stopwatch watch;
  std::ranges::sort(result_.series, [&](const ResultSeries& a, const ResultSeries& b) {
    return CompareLabels(owner_->overlay, a.labels, b.labels) < 0;
  });
  result_.stats.result_sort_s = watch.Seconds();
}

absl::Status QueryRun::RunSteps() {
  OperatorBuilder builder(&context_);
  NX_RETURN_IF_ERROR(context_.CheckGrid(grid_.count));
  NX_ASSIGN_OR_RETURN(OperatorPtr op, builder.Build(root_, grid_));
  if (context_.options.delayed_name_removal) {
    op = std::make_unique<NameRemoval>(&context_, std::move(op));
  }
  NX_RETURN_IF_ERROR(op->Prepare());
  NX_RETURN_IF_ERROR(ReadAll(op.get()));
  if (!instant()) {
    result_.type = ValueType::kMatrix;
    SortSeries();
  } else {
    result_.type = root_.type == ExprType::kScalar ? ValueType::kScalar : ValueType::kVector;
  }
  return absl::OkStatus();
}

// A range vector as the result of an instant query: samples as they are stored.
absl::Status QueryRun::RunRange() {
  result_.type = ValueType::kMatrix;
  const Expr& inner = Unparenthesized(root_);
  if (const auto* matrix = TryAs<MatrixSelector>(inner)) {
    NX_RETURN_IF_ERROR(RunRaw(*matrix));
  } else {
    NX_RETURN_IF_ERROR(RunSubquery(As<Subquery>(inner)));
  }
  SortSeries();
  return absl::OkStatus();
}

absl::Status QueryRun::RunRaw(const MatrixSelector& matrix) {
  SelectorSource source(&context_, grid_, &matrix);
  NX_RETURN_IF_ERROR(source.Prepare());
  Window window;
  for (size_t i = 0; i < source.series().size(); ++i) {
    NX_RETURN_IF_ERROR(source.Seek(i));
    NX_RETURN_IF_ERROR(source.MoveTo(spec_.start_ms, &window));
    if (window.empty()) continue;
    context_.total_queryable_samples += source.num_samples();
    context_.samples_read += source.num_read();
    NX_RETURN_IF_ERROR(context_.budget.Take(source.num_samples(), source.num_bytes()));
    ResultSeries series;
    const LabelSpan labels = source.series().labels(i);
    series.labels.assign(labels.begin(), labels.end());
    for (size_t k = 0; k < window.values.size(); ++k) {
      series.floats.push_back({window.float_times_ms[k], window.values[k]});
    }
    for (size_t k = 0; k < window.histograms.size(); ++k) {
      series.histograms.push_back(
          {window.histogram_times_ms[k], std::make_shared<const model::FloatHistogram>(
                                             model::Materialize(window.histograms[k]))});
    }
    NX_RETURN_IF_ERROR(ExtendRawRange(window, &series));
    if (series.floats.empty() && series.histograms.empty()) continue;
    result_.series.push_back(std::move(series));
  }
  return absl::OkStatus();
}

absl::Status QueryRun::RunSubquery(const Subquery& subquery) {
  OperatorBuilder builder(&context_);
  const StepGrid inner = SubqueryGrid(subquery, grid_);
  NX_RETURN_IF_ERROR(context_.CheckGrid(inner.count));
  NX_ASSIGN_OR_RETURN(OperatorPtr op, builder.Build(*subquery.expr, inner));
  if (context_.options.delayed_name_removal) {
    op = std::make_unique<NameRemoval>(&context_, std::move(op));
  }
  NX_RETURN_IF_ERROR(op->Prepare());
  return ReadAll(op.get());
}

absl::StatusOr<QueryResult> QueryRun::Run() {
  NX_RETURN_IF_ERROR(CheckRunning(*context_.cancellation));
  const Stopwatch watch;
  if (root_.type == ExprType::kString) {
    result_.type = ValueType::kString;
    result_.string_value = As<StringLiteral>(Unparenthesized(root_)).value;
    result_.string_time_ms = spec_.start_ms;
  } else if (root_.type == ExprType::kMatrix) {
    NX_RETURN_IF_ERROR(RunRange());
  } else {
    NX_RETURN_IF_ERROR(RunSteps());
  }
  NX_RETURN_IF_ERROR(CheckRunning(*context_.cancellation));
  context_.annotations.Render(spec_.text, &result_.warnings, &result_.infos);
  QueryStats& stats = result_.stats;
  stats.inner_eval_s = watch.Seconds() - stats.result_sort_s;
  stats.total_queryable_samples = context_.total_queryable_samples;
  stats.samples_read = context_.samples_read;
  stats.peak_samples = context_.budget.peak_samples();
  stats.peak_bytes = context_.budget.peak_bytes();
  result_.symbols = std::shared_ptr<const model::SymbolTable>(owner_, &owner_->overlay);
  return std::move(result_);
}

// What a range query cannot be asked.
absl::Status CheckRangeType(const Expr& root) {
  if (root.type == ExprType::kScalar || root.type == ExprType::kVector) return absl::OkStatus();
  return base::InvalidArgument("invalid expression type \"", ExprTypeName(root.type),
                               "\" for range query, must be Scalar or instant Vector");
}

}  // namespace

Engine::Engine(EngineOptions options) : options_(std::move(options)) {}

Engine::~Engine() = default;

absl::StatusOr<QueryResult> Engine::Run(const QuerySpec& spec, const model::Queryable& queryable,
                                        const base::Cancellation& cancellation) const {
  const Stopwatch total;
  NX_ASSIGN_OR_RETURN(ExprPtr root, ParseExpression(spec.text, ParseOptionsOf(options_)));
  if (spec.step_ms != 0) NX_RETURN_IF_ERROR(CheckRangeType(*root));
  const PlanContext plan_context{
      .start_ms = spec.start_ms,
      .end_ms = spec.end_ms,
      .step_ms = spec.step_ms,
      .lookback_ms = spec.lookback_ms != 0 ? spec.lookback_ms : options_.lookback_ms,
      .default_subquery_step_ms = options_.default_subquery_step_ms};
  NX_ASSIGN_OR_RETURN(QueryPlan plan, PlanQuery(plan_context, &root));
  if (plan.range.min_time_ms > plan.range.max_time_ms) plan.range = {0, 0};
  NX_ASSIGN_OR_RETURN(std::unique_ptr<model::Querier> querier, queryable.NewQuerier(plan.range));
  const double preparation_s = total.Seconds();
  QueryRun run(options_, spec, *root, std::make_shared<SymbolOwner>(std::move(querier)),
               cancellation);
  NX_ASSIGN_OR_RETURN(QueryResult result, run.Run());
  result.stats.preparation_s = preparation_s;
  result.stats.eval_total_s = total.Seconds();
  result.stats.exec_total_s = result.stats.eval_total_s;
  return result;
}

absl::Status Engine::CheckSyntax(std::string_view text) const {
  return ParseExpression(text, ParseOptionsOf(options_)).status();
}

}  // namespace narthex::promql
