#include "tool/promqltest/storage.h"

#include <utility>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/model/histogram.h"
#include "narthex/model/stale.h"
#include "tool/promqltest/nhcb.h"

namespace narthex::tool {
namespace {

absl::Status CheckStored(model::AppendOutcome outcome, const SeriesDescription& series,
                         int64_t time_ms) {
  if (model::IsStored(outcome)) return absl::OkStatus();
  return base::InvalidArgument(model::OutcomeText(outcome), ": series=", series.labels.ToString(),
                               " time_ms=", time_ms);
}

absl::Status AppendSeries(const SeriesDescription& series, int64_t step_ms,
                          model::Appender* appender) {
  NX_ASSIGN_OR_RETURN(const model::SeriesRef ref, appender->Resolve(series.labels.Views()));
  for (size_t i = 0; i < series.values.size(); ++i) {
    const SequenceValue& value = series.values[i];
    if (value.omitted) continue;
    const int64_t time_ms = static_cast<int64_t>(i) * step_ms;
    model::AppendOutcome outcome = model::AppendOutcome::kAccepted;
    if (value.histogram != nullptr) {
      NX_RETURN_IF_ERROR(model::Validate(*value.histogram));
      outcome = appender->AppendHistogram(ref, time_ms, *value.histogram);
    } else {
      const model::FloatSample sample = {ref, time_ms, value.value};
      appender->AppendFloats({&sample, 1}, {&outcome, 1});
    }
    NX_RETURN_IF_ERROR(CheckStored(outcome, series, time_ms));
  }
  return absl::OkStatus();
}

absl::Status AppendAll(const LoadCommand& load, model::Appender* appender) {
  std::vector<const SeriesDescription*> all;
  for (const LoadedSeries& loaded : load.series) {
    if (!loaded.start_offsets.empty()) {
      return base::FailedPrecondition("samples with start timestamps cannot be stored: series=",
                                      loaded.series.labels.ToString());
    }
    NX_RETURN_IF_ERROR(AppendSeries(loaded.series, load.step_ms, appender));
    all.push_back(&loaded.series);
  }
  if (!load.with_nhcb) return absl::OkStatus();
  NX_ASSIGN_OR_RETURN(const std::vector<SeriesDescription> converted,
                      ConvertClassicHistograms(all));
  for (const SeriesDescription& series : converted) {
    NX_RETURN_IF_ERROR(AppendSeries(series, load.step_ms, appender));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadInto(const LoadCommand& load, model::Appendable* appendable) {
  const std::unique_ptr<model::Appender> appender = appendable->NewAppender();
  const absl::Status status = AppendAll(load, appender.get());
  if (!status.ok()) {
    appender->Rollback();
    return status;
  }
  return appender->Commit();
}

}  // namespace narthex::tool
