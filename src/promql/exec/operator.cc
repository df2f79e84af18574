#include "promql/exec/operator.h"

#include <algorithm>
#include <utility>

#include "narthex/base/check.h"
#include "narthex/base/status.h"

namespace narthex::promql {

using model::SymbolLabel;

absl::Status ReadScalar(Operator* scalar, Column* out) {
  NX_RETURN_IF_ERROR(scalar->Prepare());
  NX_CHECK_EQ(scalar->series().size(), 1u);
  return scalar->Read(0, out);
}

MergePlan PlanMerge(SeriesList series) {
  MergePlan plan;
  LabelSetIndex distinct;
  std::vector<uint32_t> ids(series.size());
  for (size_t i = 0; i < series.size(); ++i) ids[i] = distinct.Insert(series.labels(i)).id;
  if (distinct.size() == series.size()) {
    plan.series = std::move(series);
    return plan;
  }
  std::vector<uint32_t> first(distinct.size(), 0);
  plan.begins.assign(distinct.size() + 1, 0);
  for (size_t i = series.size(); i-- > 0;) {
    ++plan.begins[ids[i] + 1];
    first[ids[i]] = static_cast<uint32_t>(i);
  }
  for (size_t id = 0; id < distinct.size(); ++id) {
    plan.begins[id + 1] += plan.begins[id];
    plan.series.Add(series.labels(first[id]), series.drop_name(first[id]));
  }
  plan.members.resize(series.size());
  std::vector<uint32_t> next(plan.begins.begin(), plan.begins.end() - 1);
  for (size_t i = 0; i < series.size(); ++i) {
    plan.members[next[ids[i]]++] = static_cast<uint32_t>(i);
  }
  return plan;
}

absl::Status ClashError() {
  return base::FailedPrecondition("vector cannot contain metrics with the same labelset");
}

absl::Status MergeInto(const Column& from, Clash clash, Column* into) {
  if (from.empty()) return absl::OkStatus();
  if (clash == Clash::kAnyPoints && !into->empty()) return ClashError();
  for (size_t step = 0; step < from.size(); ++step) {
    if (!from.has(step)) continue;
    if (into->has(step)) return ClashError();
    into->CopyPoint(step, from, step);
  }
  return absl::OkStatus();
}

absl::Status MapOperator::MapLabels(std::vector<SymbolLabel>*, bool*) { return absl::OkStatus(); }

absl::Status MapOperator::MapAllLabels(SeriesList* mapped) {
  const SeriesList& old = input_->series();
  mapped->Reserve(old.size());
  std::vector<SymbolLabel> labels;
  for (size_t i = 0; i < old.size(); ++i) {
    NX_RETURN_IF_ERROR(context().Tick());
    const LabelSpan span = old.labels(i);
    labels.assign(span.begin(), span.end());
    bool drop_name = old.drop_name(i);
    if (change_ == LabelChange::kMap) {
      NX_RETURN_IF_ERROR(MapLabels(&labels, &drop_name));
    } else if (context().options.delayed_name_removal) {
      drop_name = true;
    } else if (change_ == LabelChange::kDropName) {
      std::erase_if(labels,
                    [&](const SymbolLabel& label) { return label.name == context().name_symbol; });
    } else {
      std::erase_if(labels,
                    [&](const SymbolLabel& label) { return context().IsMetadata(label.name); });
    }
    mapped->Add(labels, drop_name);
  }
  return absl::OkStatus();
}

absl::Status MapOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  if (change_ == LabelChange::kNone) {
    ShareSeries(input_->series());
  } else {
    SeriesList mapped;
    NX_RETURN_IF_ERROR(MapAllLabels(&mapped));
    merge_ = PlanMerge(std::move(mapped));
    ShareSeries(merge_.series);
  }
  return Begin();
}

absl::Status MapOperator::Read(size_t index, Column* out) {
  if (merge_.trivial()) {
    NX_RETURN_IF_ERROR(input_->Read(index, out));
    return Transform(index, out);
  }
  // Slow path: some series became equal.
  out->Reset(grid().count);
  for (uint32_t i = merge_.begins[index]; i < merge_.begins[index + 1]; ++i) {
    const uint32_t member = merge_.members[i];
    NX_RETURN_IF_ERROR(input_->Read(member, &scratch_));
    NX_RETURN_IF_ERROR(Transform(member, &scratch_));
    NX_RETURN_IF_ERROR(MergeInto(scratch_, clash_, out));
  }
  return absl::OkStatus();
}

absl::Status StepInvariantOperator::Prepare() {
  NX_RETURN_IF_ERROR(input_->Prepare());
  ShareSeries(input_->series());
  return absl::OkStatus();
}

absl::Status StepInvariantOperator::Read(size_t index, Column* out) {
  const size_t num_steps = grid().count;
  out->Reset(num_steps);
  const uint64_t before = context().total_queryable_samples;
  NX_RETURN_IF_ERROR(input_->Read(index, &once_));
  // What one evaluation took counts at every step.
  if (num_steps > 1) {
    const uint64_t once = context().total_queryable_samples - before;
    context().total_queryable_samples += once * (num_steps - 1);
  }
  if (once_.size() == 0 || !once_.has(0)) return absl::OkStatus();
  if (once_.kind(0) == PointKind::kFloat) {
    out->FillFloats(0, num_steps, once_.value(0));
  } else {
    for (size_t step = 0; step < num_steps; ++step) out->SetHistogram(step, once_.histogram(0));
  }
  return context().Tick(num_steps);
}

absl::Status NameRemoval::MapLabels(std::vector<SymbolLabel>* out, bool* drop_name) {
  if (!*drop_name) return absl::OkStatus();
  std::erase_if(*out, [&](const SymbolLabel& label) { return context().IsMetadata(label.name); });
  *drop_name = false;
  return absl::OkStatus();
}

ColumnCache::~ColumnCache() {
  for (Entry& entry : entries_) Drop(&entry);
}

void ColumnCache::Drop(Entry* entry) {
  if (entry->column == nullptr) return;
  context_->budget.Return(entry->samples, entry->bytes);
  free_.push_back(std::move(entry->column));
}

void ColumnCache::Expect(size_t index) {
  if (index >= entries_.size()) entries_.resize(std::max(index + 1, source_->series().size()));
  ++entries_[index].uses;
}

absl::StatusOr<const Column*> ColumnCache::Get(size_t index) {
  Entry& entry = entries_[index];
  if (entry.column == nullptr) {
    if (free_.empty()) {
      entry.column = std::make_unique<Column>();
    } else {
      entry.column = std::move(free_.back());
      free_.pop_back();
    }
    NX_RETURN_IF_ERROR(source_->Read(index, entry.column.get()));
    entry.samples = SampleSize(*entry.column);
    entry.bytes = entry.column->num_bytes();
    const absl::Status taken = context_->budget.Take(entry.samples, entry.bytes);
    if (!taken.ok()) {
      entry.samples = entry.bytes = 0;
      return taken;
    }
  }
  return entry.column.get();
}

void ColumnCache::Release(size_t index) {
  Entry& entry = entries_[index];
  if (--entry.uses == 0) Drop(&entry);
}

}  // namespace narthex::promql
