// Embeds Narthex: opens a database in memory, appends samples and asks PromQL about them.
//
//   cmake --build build/dev --target narthex_embed_example && build/dev/narthex_embed_example

#include <cstdio>
#include <vector>

#include "narthex/base/cancellation.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/status.h"
#include "narthex/db/database.h"
#include "narthex/promql/engine.h"

namespace {

using namespace narthex;

// Ten minutes of a counter that grows by 30 every 15 seconds.
absl::Status AppendCounter(model::Appendable* database) {
  const auto appender = database->NewAppender();
  const model::Label labels[] = {{"__name__", "requests_total"}, {"job", "demo"}};
  NX_ASSIGN_OR_RETURN(const model::SeriesRef ref, appender->Resolve(labels));
  std::vector<model::FloatSample> samples;
  for (int i = 0; i <= 40; ++i) samples.push_back({ref, i * 15'000, i * 30.0});
  std::vector<model::AppendOutcome> outcomes(samples.size());
  appender->AppendFloats(samples, outcomes);
  for (const model::AppendOutcome outcome : outcomes) {
    if (!model::IsStored(outcome)) return base::InvalidArgument(model::OutcomeText(outcome));
  }
  return appender->Commit();
}

absl::Status Run() {
  db::DatabaseContext context;
  context.clock = &base::SystemClock();
  context.fs = &base::PosixFs();
  context.logger = &base::NullLogger();
  db::DatabaseOptions options;  // No path: everything stays in memory.
  NX_ASSIGN_OR_RETURN(const auto database, db::Database::Open(options, context));
  NX_RETURN_IF_ERROR(AppendCounter(database.get()));

  const promql::Engine engine(promql::EngineOptions{});
  const base::Cancellation cancellation(context.clock);
  promql::QuerySpec spec;
  spec.text = "sum by (job) (rate(requests_total[5m]))";
  spec.start_ms = spec.end_ms = 600'000;
  NX_ASSIGN_OR_RETURN(const promql::QueryResult result, engine.Run(spec, *database, cancellation));
  for (const promql::ResultSeries& series : result.series) {
    std::printf("{");
    for (const model::SymbolLabel& label : series.labels) {
      const std::string_view name = result.symbols->Text(label.name);
      const std::string_view value = result.symbols->Text(label.value);
      std::printf("%.*s=\"%.*s\"", static_cast<int>(name.size()), name.data(),
                  static_cast<int>(value.size()), value.data());
    }
    for (const promql::FloatPoint& point : series.floats) std::printf("} %g\n", point.value);
  }
  return database->Close();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
