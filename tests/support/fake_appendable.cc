#include "tests/support/fake_appendable.h"

#include <bit>

#include "narthex/base/check.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::support {
namespace {

bool IsSame(const AppendedSample& a, const AppendedSample& b) {
  if (a.histogram && b.histogram) return model::Equals(*a.histogram, *b.histogram);
  if (a.float_histogram && b.float_histogram) {
    return model::Equals(*a.float_histogram, *b.float_histogram);
  }
  return !a.histogram && !b.histogram && !a.float_histogram && !b.float_histogram &&
         std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value);
}

void AppendValue(std::string* out, const AppendedSample& sample) {
  double marker = sample.value;
  if (sample.histogram) marker = sample.histogram->sum;
  if (sample.float_histogram) marker = sample.float_histogram->sum;
  if (model::IsStaleNan(marker)) {
    *out += "stale";
  } else if (sample.histogram) {
    base::StrAppend(out, "h", sample.histogram->count);
  } else if (sample.float_histogram) {
    base::StrAppend(out, "h", sample.float_histogram->count);
  } else {
    base::AppendFloatG(out, sample.value);
  }
}

}  // namespace

class FakeAppendable::BatchAppender final : public model::Appender {
 public:
  explicit BatchAppender(FakeAppendable* storage) : storage_(storage) {}
  ~BatchAppender() override {
    if (!is_done_) Rollback();
  }

  absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label> labels) override {
    ++storage_->num_resolves_;
    if (labels.empty()) return base::InvalidArgument("empty labelset: invalid sample");
    for (size_t i = 0; i < labels.size(); ++i) {
      NX_CHECK(!labels[i].value.empty());
      if (i == 0) continue;
      NX_CHECK_LE(labels[i - 1].name, labels[i].name);
      if (labels[i - 1].name == labels[i].name) {
        return base::InvalidArgument("label name \"", labels[i].name,
                                     "\" is not unique: invalid sample");
      }
    }
    const model::Labels key = model::Labels::FromPairs({labels.begin(), labels.end()});
    if (const auto known = storage_->refs_.find(key); known != storage_->refs_.end()) {
      return known->second;
    }
    NX_RETURN_IF_ERROR(storage_->new_series_status_);
    storage_->labels_by_ref_.push_back(key);
    const model::SeriesRef ref = storage_->first_ref_ + storage_->labels_by_ref_.size() - 1;
    storage_->refs_.emplace(key, ref);
    return ref;
  }

  void AppendFloats(std::span<const model::FloatSample> samples,
                    std::span<model::AppendOutcome> outcomes) override {
    NX_CHECK_EQ(samples.size(), outcomes.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      AppendedSample sample;
      sample.time_ms = samples[i].time_ms;
      sample.value = samples[i].value;
      outcomes[i] = Append(samples[i].ref, std::move(sample));
    }
  }

  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::Histogram& histogram) override {
    return AppendAnyHistogram(ref, time_ms, histogram, &AppendedSample::histogram);
  }
  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::FloatHistogram& histogram) override {
    return AppendAnyHistogram(ref, time_ms, histogram, &AppendedSample::float_histogram);
  }

  absl::Status AppendExemplar(model::SeriesRef ref, const model::Exemplar& exemplar) override {
    NX_RETURN_IF_ERROR(storage_->exemplar_status_);
    const model::Labels* const labels = Find(ref);
    if (labels == nullptr) return base::NotFound("unknown series");
    pending_[*labels].exemplars.push_back(exemplar);
    return absl::OkStatus();
  }

  void SetMetadata(model::SeriesRef ref, const model::Metadata& metadata) override {
    if (const model::Labels* const labels = Find(ref)) pending_[*labels].metadata = metadata;
  }

  absl::Status Commit() override {
    NX_CHECK(!is_done_);
    is_done_ = true;
    NX_RETURN_IF_ERROR(storage_->commit_status_);
    ++storage_->num_commits_;
    for (auto& [labels, added] : pending_) {
      AppendedSeries& series = storage_->series_[labels];
      series.labels = labels;
      series.samples.insert(series.samples.end(), added.samples.begin(), added.samples.end());
      series.exemplars.insert(series.exemplars.end(), added.exemplars.begin(),
                              added.exemplars.end());
      if (added.metadata != model::Metadata()) series.metadata = added.metadata;
    }
    return absl::OkStatus();
  }

  void Rollback() override {
    NX_CHECK(!is_done_);
    is_done_ = true;
    ++storage_->num_rollbacks_;
  }

 private:
  // Null if the ref is not known.
  const model::Labels* Find(model::SeriesRef ref) const {
    const model::SeriesRef end = storage_->first_ref_ + storage_->labels_by_ref_.size();
    if (ref < storage_->first_ref_ || ref >= end) return nullptr;
    return &storage_->labels_by_ref_[ref - storage_->first_ref_];
  }

  template <typename Histogram>
  model::AppendOutcome AppendAnyHistogram(model::SeriesRef ref, int64_t time_ms,
                                          const Histogram& histogram,
                                          std::optional<Histogram> AppendedSample::*member) {
    if (!model::IsStaleNan(histogram.sum) && !model::Validate(histogram).ok()) {
      return model::AppendOutcome::kInvalidHistogram;
    }
    AppendedSample sample;
    sample.time_ms = time_ms;
    sample.*member = histogram;
    return Append(ref, std::move(sample));
  }

  model::AppendOutcome Append(model::SeriesRef ref, AppendedSample sample) {
    const model::Labels* const labels = Find(ref);
    if (labels == nullptr) return model::AppendOutcome::kUnknownSeries;
    if (sample.time_ms < storage_->min_time_ms_) return model::AppendOutcome::kOutOfBounds;
    AppendedSeries& added = pending_[*labels];
    const AppendedSample* last = nullptr;
    const auto committed = storage_->series_.find(*labels);
    if (committed != storage_->series_.end() && !committed->second.samples.empty()) {
      last = &committed->second.samples.back();
    }
    if (!added.samples.empty()) last = &added.samples.back();
    if (last != nullptr && sample.time_ms < last->time_ms) {
      return model::AppendOutcome::kOutOfOrder;
    }
    if (last != nullptr && sample.time_ms == last->time_ms) {
      return IsSame(sample, *last) ? model::AppendOutcome::kDuplicateSame
                                   : model::AppendOutcome::kDuplicate;
    }
    added.samples.push_back(std::move(sample));
    return model::AppendOutcome::kAccepted;
  }

  FakeAppendable* const storage_;
  std::map<model::Labels, AppendedSeries> pending_;
  bool is_done_ = false;
};

std::unique_ptr<model::Appender> FakeAppendable::NewAppender() {
  return std::make_unique<BatchAppender>(this);
}

std::vector<AppendedSeries> FakeAppendable::Committed() const {
  std::vector<AppendedSeries> committed;
  for (const auto& [labels, series] : series_) {
    if (!series.samples.empty()) committed.push_back(series);
  }
  return committed;
}

std::string FakeAppendable::Text() const {
  std::string out;
  for (const AppendedSeries& series : Committed()) {
    out += series.labels.ToString();
    for (const AppendedSample& sample : series.samples) {
      out += ' ';
      AppendValue(&out, sample);
      base::StrAppend(&out, "@", sample.time_ms);
    }
    out += '\n';
  }
  return out;
}

void FakeAppendable::ForgetRefs() {
  first_ref_ += labels_by_ref_.size();
  labels_by_ref_.clear();
  refs_.clear();
}

}  // namespace narthex::support
