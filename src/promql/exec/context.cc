#include "promql/exec/context.h"

#include <algorithm>

#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::promql {
namespace {

constexpr size_t kItemsPerCheck = 1024;

}  // namespace

absl::Status Budget::Take(uint64_t num_samples, uint64_t num_bytes) {
  NX_RETURN_IF_ERROR(Visit(num_samples, num_bytes));
  samples_ += num_samples;
  bytes_ += num_bytes;
  return absl::OkStatus();
}

void Budget::Return(uint64_t num_samples, uint64_t num_bytes) {
  samples_ -= std::min(samples_, num_samples);
  bytes_ -= std::min(bytes_, num_bytes);
}

absl::Status Budget::Visit(uint64_t num_samples, uint64_t num_bytes) {
  const uint64_t samples = samples_ + num_samples;
  const uint64_t bytes = bytes_ + num_bytes;
  peak_samples_ = std::max(peak_samples_, samples);
  peak_bytes_ = std::max(peak_bytes_, bytes);
  if (samples > max_samples_) {
    return base::ResourceExhausted(
        "query processing would load too many samples into memory in query execution");
  }
  if (bytes > max_bytes_) {
    return base::ResourceExhausted("query processing would take more than ", max_bytes_,
                                   " bytes of memory in query execution");
  }
  return absl::OkStatus();
}

QueryContext::QueryContext(const EngineOptions& engine_options, int64_t lookback,
                           const model::Querier* the_querier, model::SymbolOverlay* overlay,
                           const base::Cancellation* the_cancellation)
    : options(engine_options),
      lookback_ms(lookback),
      querier(the_querier),
      symbols(overlay),
      cancellation(the_cancellation),
      name_symbol(overlay->Intern(model::kMetricName)),
      type_symbol(overlay->Intern("__type__")),
      unit_symbol(overlay->Intern("__unit__")),
      budget(engine_options.max_samples, engine_options.max_bytes) {}

absl::Status QueryContext::Tick(size_t num_items) {
  if (num_items < items_until_check_) {
    items_until_check_ -= num_items;
    return absl::OkStatus();
  }
  items_until_check_ = kItemsPerCheck;
  return CheckRunning(*cancellation);
}

absl::Status QueryContext::CheckGrid(size_t num_steps) {
  constexpr uint64_t kBytesPerStep = 32;  // A few columns in flight.
  return budget.Visit(0,
                      num_steps > options.max_bytes ? UINT64_MAX / 2 : num_steps * kBytesPerStep);
}

absl::Status CheckRunning(const base::Cancellation& cancellation) {
  const absl::Status status = cancellation.Check();
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return base::Cancelled("query was canceled in expression evaluation");
    case absl::StatusCode::kDeadlineExceeded:
      return base::DeadlineExceeded("query timed out in expression evaluation");
    default:
      return status;
  }
}

}  // namespace narthex::promql
