#include "remote/write_batch.h"

#include <xxhash.h>

#include <algorithm>

#include "narthex/base/status.h"

namespace narthex::remote {
namespace {

constexpr size_t kMaxWaitingFloats = 1024;

absl::Status TooFarAhead() {
  return base::InvalidArgument("out of bounds: timestamp is too far in the future");
}

// Sorts `*labels` and drops the empty ones. False if a name or text is not allowed, a name comes
// twice, or the metric has no name.
bool Normalize(std::vector<model::Label>* labels) {
  const auto by_name = [](const model::Label& a, const model::Label& b) { return a.name < b.name; };
  if (!std::is_sorted(labels->begin(), labels->end(), by_name)) {
    std::stable_sort(labels->begin(), labels->end(), by_name);
  }
  bool has_metric_name = false;
  for (size_t i = 0; i < labels->size(); ++i) {
    const model::Label& label = (*labels)[i];
    if (i > 0 && (*labels)[i - 1].name == label.name) return false;
    if (label.name == model::kMetricName) {
      has_metric_name = true;
      if (!model::IsValidMetricName(label.value, model::NameValidation::kUtf8)) return false;
    }
    if (!model::IsValidLabelName(label.name, model::NameValidation::kUtf8) ||
        !model::IsValidUtf8(label.value)) {
      return false;
    }
  }
  std::erase_if(*labels, [](const model::Label& label) { return label.value.empty(); });
  return has_metric_name;
}

template <typename Histogram>
void ReduceToStored(Histogram* histogram) {
  const int32_t schema = histogram->layout->schema;
  if (schema > model::kMaxExponentialSchema && schema <= model::kMaxReservedSchema) {
    model::ReduceResolution(histogram, model::kMaxExponentialSchema);
  }
}

}  // namespace

WriteBatch::WriteBatch(Options options, model::Appendable* storage, SeriesRefCache* cache)
    : options_(options), cache_(cache), appender_(storage->NewAppender()) {
  floats_.reserve(kMaxWaitingFloats);
  float_names_.reserve(kMaxWaitingFloats);
}

absl::Status WriteBatch::AddSeries(codec::WriteSeries* series) {
  const SeriesName name = {series->bytes, series->labels_bytes};
  NX_ASSIGN_OR_RETURN(model::SeriesRef ref, RefOf(name));
  if (ref == model::kNoSeries) {
    ++num_invalid_labels_;
    return absl::OkStatus();
  }
  for (const codec::WriteSample& sample : series->samples) {
    if (sample.time_ms > options_.max_time_ms) {
      NX_RETURN_IF_ERROR(Flush());  // Their errors came first.
      return TooFarAhead();
    }
    floats_.push_back({ref, sample.time_ms, sample.value});
    float_names_.push_back(name);
    if (floats_.size() == kMaxWaitingFloats) NX_RETURN_IF_ERROR(Flush());
  }
  for (const model::Exemplar& exemplar : series->exemplars) {
    if (exemplar.time_ms > options_.max_time_ms) continue;
    base::IgnoreError(appender_->AppendExemplar(ref, exemplar), "exemplars never fail a request");
  }
  for (codec::WriteHistogram& histogram : series->histograms) {
    NX_RETURN_IF_ERROR(AddHistogram(name, &ref, &histogram));
  }
  num_samples_ += static_cast<int64_t>(series->samples.size() + series->histograms.size());
  return absl::OkStatus();
}

absl::Status WriteBatch::Commit() { return appender_->Commit(); }

SeriesHash WriteBatch::HashOf(const SeriesName& name) const {
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(name.labels_bytes.data(), name.labels_bytes.size(), options_.hash_seed);
  return {hash.low64, hash.high64};
}

absl::StatusOr<model::SeriesRef> WriteBatch::RefOf(const SeriesName& name) {
  // Slow path: labels in pieces cannot be hashed as they lie.
  if (name.labels_bytes.empty()) return Resolve(name);
  const SeriesHash hash = HashOf(name);
  if (const auto known = cache_->Find(hash)) return *known;
  NX_ASSIGN_OR_RETURN(const model::SeriesRef ref, Resolve(name));
  if (ref != model::kNoSeries) cache_->Insert(hash, ref);
  return ref;
}

absl::StatusOr<model::SeriesRef> WriteBatch::Resolve(const SeriesName& name) {
  codec::WriteSeries series;
  series.bytes = name.bytes;
  series.labels_bytes = name.labels_bytes;
  NX_RETURN_IF_ERROR(codec::DecodeWriteLabels(series, &labels_));
  if (!Normalize(&labels_)) return model::kNoSeries;
  return appender_->Resolve(labels_);
}

absl::StatusOr<model::SeriesRef> WriteBatch::ResolveAgain(const SeriesName& name) {
  if (!name.labels_bytes.empty()) cache_->Erase(HashOf(name));
  return RefOf(name);
}

absl::Status WriteBatch::Flush() {
  outcomes_.resize(floats_.size());
  appender_->AppendFloats(floats_, outcomes_);
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    if (model::IsStored(outcomes_[i])) continue;
    if (outcomes_[i] == model::AppendOutcome::kUnknownSeries) {
      NX_RETURN_IF_ERROR(RetryFloat(i));
      continue;
    }
    return base::InvalidArgument(model::OutcomeText(outcomes_[i]));
  }
  floats_.clear();
  float_names_.clear();
  return absl::OkStatus();
}

// Appends a float whose series was dropped since its ref was remembered.
absl::Status WriteBatch::RetryFloat(size_t index) {
  NX_ASSIGN_OR_RETURN(floats_[index].ref, ResolveAgain(float_names_[index]));
  model::AppendOutcome outcome;
  appender_->AppendFloats({&floats_[index], 1}, {&outcome, 1});
  if (model::IsStored(outcome)) return absl::OkStatus();
  return base::InvalidArgument(model::OutcomeText(outcome));
}

absl::Status WriteBatch::AddHistogram(const SeriesName& name, model::SeriesRef* ref,
                                      codec::WriteHistogram* histogram) {
  NX_RETURN_IF_ERROR(Flush());  // The series' samples stay in their order.
  if (histogram->time_ms > options_.max_time_ms) return TooFarAhead();
  NX_RETURN_IF_ERROR(histogram->status);
  return histogram->is_float
             ? AppendHistogram(name, ref, histogram->time_ms, &histogram->float_histogram)
             : AppendHistogram(name, ref, histogram->time_ms, &histogram->histogram);
}

template <typename Histogram>
absl::Status WriteBatch::AppendHistogram(const SeriesName& name, model::SeriesRef* ref,
                                         int64_t time_ms, Histogram* histogram) {
  ReduceToStored(histogram);
  model::AppendOutcome outcome = appender_->AppendHistogram(*ref, time_ms, *histogram);
  if (outcome == model::AppendOutcome::kUnknownSeries) {
    NX_ASSIGN_OR_RETURN(*ref, ResolveAgain(name));
    outcome = appender_->AppendHistogram(*ref, time_ms, *histogram);
  }
  if (model::IsStored(outcome)) return absl::OkStatus();
  if (outcome == model::AppendOutcome::kInvalidHistogram) {
    NX_RETURN_IF_ERROR(model::Validate(*histogram));
  }
  return base::InvalidArgument(model::OutcomeText(outcome));
}

}  // namespace narthex::remote
