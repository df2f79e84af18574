#include "promql/exec/histogram_operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/labels.h"

namespace narthex::promql {

using model::Symbol;
using model::SymbolLabel;

HistogramOperator::HistogramOperator(QueryContext* context, OperatorPtr input, Spec spec)
    : Operator(context, input->grid()), input_(std::move(input)), spec_(std::move(spec)) {}

absl::Status HistogramOperator::Prepare() {
  NX_RETURN_IF_ERROR(ReadScalars());
  PlanTargets();
  NX_RETURN_IF_ERROR(input_->Prepare());
  NX_RETURN_IF_ERROR(GroupFamilies());
  NameResults();
  results_.resize(families_.size());
  return absl::OkStatus();
}

absl::Status HistogramOperator::ReadScalars() {
  scalars_.resize(spec_.scalars.size());
  for (size_t i = 0; i < scalars_.size(); ++i) {
    NX_RETURN_IF_ERROR(ReadScalar(spec_.scalars[i].get(), &scalars_[i]));
    if (spec_.kind == Spec::Kind::kFraction) continue;
    for (const double quantile : scalars_[i].values()) {
      if (!IsInvalidQuantile(quantile)) continue;
      context().annotations.AddInvalidQuantile(quantile, spec_.scalar_positions[i]);
    }
  }
  return absl::OkStatus();
}

// A quantile may differ from step to step; each distinct one makes a result series of its own.
void HistogramOperator::PlanTargets() {
  if (spec_.kind != Spec::Kind::kQuantiles) return;
  targets_.resize(scalars_.size());
  for (size_t i = 0; i < scalars_.size(); ++i) {
    for (const double quantile : scalars_[i].values()) {
      std::string text;
      base::AppendFloatOpenMetrics(&text, quantile);
      const auto place = std::ranges::find(texts_, text);
      targets_[i].push_back(static_cast<uint32_t>(place - texts_.begin()));
      if (place == texts_.end()) texts_.push_back(std::move(text));
    }
  }
  num_targets_ = texts_.size();
}

absl::Status HistogramOperator::GroupFamilies() {
  const SeriesList& input = input_->series();
  const std::optional<Symbol> le = context().symbols->Find(model::kBucketLabel);
  std::vector<SymbolLabel> labels;
  for (uint32_t i = 0; i < input.size(); ++i) {
    NX_RETURN_IF_ERROR(context().Tick());
    const LabelSpan span = input.labels(i);
    const std::optional<Symbol> value = le.has_value() ? FindLabel(span, *le) : std::nullopt;
    std::optional<double> bound;
    if (value.has_value()) bound = base::ParseFloat(context().symbols->Text(*value));
    labels.assign(span.begin(), span.end());
    if (bound.has_value()) {
      std::erase_if(labels, [&](const SymbolLabel& label) { return label.name == *le; });
    }
    const auto [id, is_new] = family_labels_.Insert(labels);
    if (is_new) families_.emplace_back().first_series = i;
    Family& family = families_[id];
    if (bound.has_value()) {
      family.buckets.push_back({i, *bound});
    } else {
      family.others.push_back(i);
    }
  }
  for (Family& family : families_) std::ranges::sort(family.buckets, {}, &Bucket::upper_bound);
  return absl::OkStatus();
}

void HistogramOperator::NameResults() {
  SeriesList results;
  std::vector<SymbolLabel> labels;
  const bool delayed = context().options.delayed_name_removal;
  std::optional<Symbol> label_name;
  if (spec_.kind == Spec::Kind::kQuantiles) label_name = context().symbols->Intern(spec_.label);
  for (uint32_t id = 0; id < families_.size(); ++id) {
    for (size_t target = 0; target < num_targets_; ++target) {
      const LabelSpan span = family_labels_.labels(id);
      labels.assign(span.begin(), span.end());
      if (!delayed) {
        std::erase_if(labels,
                      [&](const SymbolLabel& label) { return context().IsMetadata(label.name); });
      }
      if (label_name.has_value()) {
        SetLabel(*context().symbols, *label_name, context().symbols->Intern(texts_[target]),
                 &labels);
      }
      results.Add(labels, delayed);
    }
  }
  merge_ = PlanMerge(std::move(results));
  ShareSeries(merge_.series);
}

absl::Status HistogramOperator::Read(size_t index, Column* out) {
  out->Reset(grid().count);
  const uint32_t begin = merge_.trivial() ? 0 : merge_.begins[index];
  const uint32_t end = merge_.trivial() ? 1 : merge_.begins[index + 1];
  for (uint32_t i = begin; i < end; ++i) {
    const size_t member = merge_.trivial() ? index : merge_.members[i];
    const size_t family = member / num_targets_;
    if (results_[family].empty()) NX_RETURN_IF_ERROR(ComputeFamily(family));
    Column& result = results_[family][member % num_targets_];
    if (merge_.trivial()) {
      std::swap(*out, result);
    } else {
      NX_RETURN_IF_ERROR(MergeInto(result, Clash::kSameStep, out));
      result = Column();
    }
  }
  return absl::OkStatus();
}

std::string_view HistogramOperator::NoteName(const Family& family) const {
  if (!context().options.delayed_name_removal) return {};
  return context().MetricName(input_->series().labels(family.first_series));
}

absl::Status HistogramOperator::ComputeFamily(size_t index) {
  const Family& family = families_[index];
  std::vector<Column>& results = results_[index];
  results.resize(num_targets_);
  for (Column& result : results) result.Reset(grid().count);
  NX_RETURN_IF_ERROR(ReadOthers(family));
  if (bucket_columns_.size() < family.buckets.size()) {
    bucket_columns_.resize(family.buckets.size());
  }
  uint64_t samples = 0, bytes = 0;
  for (size_t i = 0; i < family.buckets.size(); ++i) {
    NX_RETURN_IF_ERROR(input_->Read(family.buckets[i].series, &bucket_columns_[i]));
    samples += bucket_columns_[i].num_points();
    bytes += bucket_columns_[i].num_bytes();
  }
  NX_RETURN_IF_ERROR(context().budget.Visit(samples, bytes));
  NX_RETURN_IF_ERROR(context().Tick(1 + family.buckets.size() * grid().count / 4));
  for (size_t step = 0; step < grid().count; ++step) {
    NX_RETURN_IF_ERROR(ComputeStep(family, step, &results));
  }
  return absl::OkStatus();
}

// Collects the family's native histograms; floats among them are noted and left out.
absl::Status HistogramOperator::ReadOthers(const Family& family) {
  natives_.Reset(grid().count);
  Column column;
  for (const uint32_t series : family.others) {
    NX_RETURN_IF_ERROR(input_->Read(series, &column));
    if (column.num_floats() != 0) {
      const LabelSpan labels = input_->series().labels(series);
      context().annotations.AddBadBucketLabel(
          LabelText(*context().symbols, labels, context().symbols->Find(model::kBucketLabel)),
          spec_.position, NoteName(family));
    }
    if (column.num_histograms() == 0) continue;
    for (size_t step = 0; step < grid().count; ++step) {
      if (column.kind(step) != PointKind::kHistogram) continue;
      if (natives_.has(step)) return ClashError();
      natives_.SetHistogram(step, column.histogram(step));
    }
  }
  return absl::OkStatus();
}

absl::Status HistogramOperator::ComputeStep(const Family& family, size_t step,
                                            std::vector<Column>* results) {
  buckets_.clear();
  for (size_t i = 0; i < family.buckets.size(); ++i) {
    if (bucket_columns_[i].kind(step) != PointKind::kFloat) continue;
    buckets_.push_back({family.buckets[i].upper_bound, bucket_columns_[i].value(step)});
  }
  const bool native = natives_.has(step);
  if (native && !buckets_.empty()) {
    context().annotations.Add(Note::kMixedClassicNative, spec_.position, NoteName(family));
    return absl::OkStatus();
  }
  if (!native && buckets_.empty()) return absl::OkStatus();
  const std::string_view name = NoteName(family);
  for (size_t i = 0; i < num_values(); ++i) {
    const double value =
        native ? OfNative(i, step, *natives_.histogram(step), name) : OfClassic(i, step, name);
    NX_RETURN_IF_ERROR(Yield(i, step, value, results));
  }
  return absl::OkStatus();
}

absl::Status HistogramOperator::Yield(size_t scalar, size_t step, double value,
                                      std::vector<Column>* results) const {
  Column& result = (*results)[targets_.empty() ? 0 : targets_[scalar][step]];
  if (result.has(step)) return ClashError();
  result.SetFloat(step, value);
  return absl::OkStatus();
}

double HistogramOperator::OfNative(size_t scalar, size_t step,
                                   const model::FloatHistogram& histogram, std::string_view name) {
  NoteSet notes;
  const double first = scalars_[scalar].value(step);
  const double value = spec_.kind == Spec::Kind::kFraction
                           ? HistogramFraction(first, scalars_[1].value(step), histogram, &notes)
                           : HistogramQuantile(first, histogram, &notes);
  if (!notes.empty()) context().annotations.AddAll(notes, spec_.position, name);
  return value;
}

double HistogramOperator::OfClassic(size_t scalar, size_t step, std::string_view name) {
  const double first = scalars_[scalar].value(step);
  if (spec_.kind == Spec::Kind::kFraction) {
    return ClassicFraction(first, scalars_[1].value(step), buckets_);
  }
  work_ = buckets_;  // The kernel repairs what it is given; each quantile starts afresh.
  const ClassicQuantileResult result = ClassicQuantile(first, work_);
  if (result.forced_monotonic) {
    context().annotations.AddForcedMonotonicity({.time_ms = grid().TimeAt(step),
                                                 .min_bucket = result.min_bucket,
                                                 .max_bucket = result.max_bucket,
                                                 .max_difference = result.max_difference},
                                                spec_.position, name);
  }
  return result.value;
}

}  // namespace narthex::promql
