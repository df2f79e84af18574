#include "promql/exec/range_function.h"

#include <algorithm>
#include <utility>

#include "narthex/base/status.h"
#include "promql/functions/quantile.h"

namespace narthex::promql {

using model::SymbolLabel;

RangeFunctionOperator::RangeFunctionOperator(QueryContext* context, const StepGrid& grid,
                                             const RangeFunction* function,
                                             std::unique_ptr<RangeSource> source,
                                             std::vector<OperatorPtr> scalars, uint32_t position,
                                             uint32_t scalar_position)
    : Operator(context, grid),
      function_(*function),
      source_(std::move(source)),
      scalars_(std::move(scalars)),
      position_(position),
      scalar_position_(scalar_position),
      takes_quantile_(function->name == "quantile_over_time") {
  // A single window gains nothing from a kernel with memory.
  if (function_.new_sliding != nullptr && grid.count > 1) sliding_ = function_.new_sliding();
}

absl::Status RangeFunctionOperator::Prepare() {
  scalar_values_.resize(2);
  for (size_t i = 0; i < scalars_.size(); ++i) {
    NX_RETURN_IF_ERROR(ReadScalar(scalars_[i].get(), &scalar_values_[i]));
  }
  NX_RETURN_IF_ERROR(source_->Prepare());
  const SeriesList& input = source_->series();
  if (function_.keeps_name) {
    ShareSeries(input);
    return absl::OkStatus();
  }
  SeriesList dropped;
  dropped.Reserve(input.size());
  std::vector<SymbolLabel> labels;
  const bool delayed = context().options.delayed_name_removal;
  for (size_t i = 0; i < input.size(); ++i) {
    const LabelSpan span = input.labels(i);
    labels.assign(span.begin(), span.end());
    if (!delayed) {
      std::erase_if(labels,
                    [&](const SymbolLabel& label) { return context().IsMetadata(label.name); });
    }
    dropped.Add(labels, delayed);
  }
  // Under delayed removal labels stay as they are, and equal ones merge at the end.
  if (delayed) {
    *OwnSeries() = std::move(dropped);
  } else {
    merge_ = PlanMerge(std::move(dropped));
    ShareSeries(merge_.series);
  }
  return absl::OkStatus();
}

absl::Status RangeFunctionOperator::Read(size_t index, Column* out) {
  if (merge_.trivial()) return ReadInput(index, out);
  out->Reset(grid().count);
  for (uint32_t i = merge_.begins[index]; i < merge_.begins[index + 1]; ++i) {
    NX_RETURN_IF_ERROR(ReadInput(merge_.members[i], &scratch_));
    NX_RETURN_IF_ERROR(MergeInto(scratch_, Clash::kAnyPoints, out));
  }
  return absl::OkStatus();
}

absl::Status RangeFunctionOperator::ReadInput(size_t index, Column* out) {
  const size_t num_steps = grid().count;
  out->Reset(num_steps);
  NX_RETURN_IF_ERROR(context().Tick(1 + num_steps / 8));
  NX_RETURN_IF_ERROR(source_->Seek(index));
  if (sliding_ != nullptr) sliding_->Reset();
  NoteSet notes;
  Window window;
  size_t largest = 0;
  uint64_t seen = 0, read = 0;
  for (size_t step = 0; step < num_steps; ++step) {
    NX_RETURN_IF_ERROR(source_->MoveTo(grid().TimeAt(step), &window));
    if (window.empty()) continue;
    const size_t size = source_->num_samples();
    largest = std::max(largest, size);
    seen += size;
    read += source_->num_read();
    NX_RETURN_IF_ERROR(Evaluate(window, step, &notes, out));
  }
  context().total_queryable_samples += seen;
  context().samples_read += read;
  Annotate(index, notes, *out);
  return context().budget.Visit(largest + out->num_points(),
                                source_->num_bytes() + out->num_bytes());
}

absl::Status RangeFunctionOperator::Evaluate(const Window& window, size_t step, NoteSet* notes,
                                             Column* out) {
  RangeArguments arguments;
  if (!scalars_.empty()) arguments.first = scalar_values_[0].value(step);
  if (scalars_.size() > 1) arguments.second = scalar_values_[1].value(step);
  if (function_.check != nullptr) {
    const absl::Status status = function_.check(arguments);
    if (!status.ok()) return base::FailedPrecondition(base::Message(status));
  }
  if (takes_quantile_ && !window.values.empty() && IsInvalidQuantile(arguments.first)) {
    context().annotations.AddInvalidQuantile(arguments.first, scalar_position_);
  }
  const Outcome outcome = sliding_ != nullptr
                              ? sliding_->Evaluate(window, arguments, notes, &result_)
                              : function_.kernel(window, arguments, notes, &result_);
  switch (outcome) {
    case Outcome::kNone:
      break;
    case Outcome::kFloat:
      out->SetFloat(step, result_.value);
      break;
    case Outcome::kHistogram:
      out->SetHistogram(
          step, std::make_shared<const model::FloatHistogram>(std::move(result_.histogram)));
      result_.histogram = model::FloatHistogram();
      break;
  }
  return absl::OkStatus();
}

void RangeFunctionOperator::Annotate(size_t index, NoteSet notes, const Column& out) {
  const bool may_be_no_counter = function_.is_counter_rate && out.num_floats() != 0;
  if (notes.empty() && !may_be_no_counter) return;
  const LabelSpan labels = source_->series().labels(index);
  const std::string_view name = context().MetricName(labels);
  context().annotations.AddAll(notes, position_, name);
  if (!may_be_no_counter || name.empty()) return;
  if (context().options.type_and_unit_labels) {
    const std::string_view type = LabelText(*context().symbols, labels, context().type_symbol);
    if (type != "counter" && type != "histogram") {
      context().annotations.AddNonCounterType(name, type, position_);
    }
  } else if (LooksLikeNoCounter(name)) {
    context().annotations.Add(Note::kPossibleNonCounter, position_, name);
  }
}

AbsentOverTimeOperator::AbsentOverTimeOperator(QueryContext* context, const StepGrid& grid,
                                               std::unique_ptr<RangeSource> source,
                                               std::vector<SymbolLabel> labels)
    : Operator(context, grid), source_(std::move(source)), labels_(std::move(labels)) {}

absl::Status AbsentOverTimeOperator::Prepare() {
  NX_RETURN_IF_ERROR(source_->Prepare());
  OwnSeries()->Add(labels_, context().options.delayed_name_removal);
  return absl::OkStatus();
}

absl::Status AbsentOverTimeOperator::Read(size_t, Column* out) {
  const size_t num_steps = grid().count;
  out->Reset(num_steps);
  out->FillFloats(0, num_steps, 1);
  Window window;
  for (size_t i = 0; i < source_->series().size(); ++i) {
    NX_RETURN_IF_ERROR(source_->Seek(i));
    NX_RETURN_IF_ERROR(context().Tick(1 + num_steps / 8));
    for (size_t step = 0; step < num_steps; ++step) {
      NX_RETURN_IF_ERROR(source_->MoveTo(grid().TimeAt(step), &window));
      if (window.empty()) continue;
      context().total_queryable_samples += source_->num_samples();
      context().samples_read += source_->num_read();
      out->Clear(step);
    }
  }
  return absl::OkStatus();
}

}  // namespace narthex::promql
