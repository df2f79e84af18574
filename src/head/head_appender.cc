#include "head/head_appender.h"

#include <algorithm>
#include <type_traits>

#include "narthex/base/status.h"
#include "narthex/disk/wal_records.h"
#include "narthex/model/stale.h"

namespace narthex::head {

using model::AppendOutcome;

namespace {

void CountOutcome(HeadMetrics* metrics, AppendOutcome outcome, bool histogram) {
  const auto add = [histogram](const HeadMetrics::ByKind& counter) {
    (histogram ? counter.histograms : counter.floats)->Add();
  };
  if (outcome == AppendOutcome::kOutOfOrder) add(metrics->out_of_order);
  if (outcome == AppendOutcome::kOutOfBounds) add(metrics->out_of_bound);
  if (outcome == AppendOutcome::kTooOld) add(metrics->too_old);
}

}  // namespace

HeadAppender::HeadAppender(HeadCore* core, Committer* committer, HeadMetrics* metrics)
    : core_(core), committer_(committer), metrics_(metrics), epoch_(core->RegisterAppender()) {
  metrics_->appenders_created->Add();
  metrics_->active_appenders->Add(1);
}

HeadAppender::~HeadAppender() { Rollback(); }

absl::StatusOr<model::SeriesRef> HeadAppender::Resolve(std::span<const model::Label> labels) {
  std::vector<model::Label> kept;
  const auto is_empty = [](const model::Label& label) { return label.value.empty(); };
  if (std::any_of(labels.begin(), labels.end(), is_empty)) {
    std::copy_if(labels.begin(), labels.end(), std::back_inserter(kept), std::not_fn(is_empty));
    labels = kept;
  }
  if (labels.empty()) return base::InvalidArgument("empty labelset: invalid sample");
  for (size_t i = 1; i < labels.size(); ++i) {
    if (labels[i - 1].name == labels[i].name) {
      return base::InvalidArgument("label name \"", labels[i].name,
                                   "\" is not unique: invalid sample");
    }
  }
  {
    base::ReaderLock lock(core_->index_mutex());
    const SeriesIndex found = core_->index()->Find(labels);
    if (found != kNoSeriesIndex) {
      base::MutexLock stripe(core_->StripeOf(found));
      return core_->UseSeries(found);
    }
  }
  base::WriterLock lock(core_->index_mutex());
  NX_ASSIGN_OR_RETURN(const SeriesIndex index, core_->AddSeries(labels, 0));
  base::MutexLock stripe(core_->StripeOf(index));
  return core_->UseSeries(index);
}

bool HeadAppender::Hold(StripeHolder* stripe, model::SeriesRef ref, SeriesIndex* index) {
  *index = HeadCore::IndexOf(ref);
  if (*index >= core_->num_slots()) return false;
  stripe->Hold(*index);
  return core_->UseRef(*index, ref);
}

AppendBounds HeadAppender::Bounds(int64_t time_ms) {
  if (!has_bounds_) {
    bounds_ = core_->BoundsOf(time_ms);
    has_bounds_ = true;
  }
  return bounds_;
}

void HeadAppender::NoteUnlogged(SeriesIndex index) {
  if (committer_->has_sink() && !core_->series(index).Has(Series::kLogged)) {
    request_.logged.push_back(index);
  }
}

SampleBatch* HeadAppender::BatchFor(SeriesIndex series, Type type) {
  const auto previous = histograms_in_batch_.find(series);
  const bool fits = previous == histograms_in_batch_.end() || previous->second == type;
  if (request_.batches.empty() || !fits) {
    histograms_in_batch_.clear();
    request_.batches.emplace_back();
  }
  // Floats are implied: histograms after them in one batch are in order.
  if (type != Type::kFloat) histograms_in_batch_[series] = type;
  return &request_.batches.back();
}

template <typename H>
void HeadAppender::Add(SeriesIndex series, int64_t time_ms, H histogram) {
  const bool custom = histogram.layout != nullptr && histogram.layout->has_custom_buckets();
  if constexpr (std::is_same_v<H, model::Histogram>) {
    BatchFor(series, custom ? Type::kCustomHistogram : Type::kHistogram)
        ->histograms.push_back({series, time_ms, std::move(histogram)});
  } else {
    BatchFor(series, custom ? Type::kCustomFloatHistogram : Type::kFloatHistogram)
        ->float_histograms.push_back({series, time_ms, std::move(histogram)});
  }
}

template <typename H>
void HeadAppender::AddStale(SeriesIndex series, int64_t time_ms) {
  H stale;
  stale.layout = model::EmptyLayout();
  stale.sum = model::StaleNan();
  Add(series, time_ms, std::move(stale));
}

AppendOutcome HeadAppender::AppendOneFloat(StripeHolder* stripe, const model::FloatSample& sample) {
  SeriesIndex index = 0;
  if (!Hold(stripe, sample.ref, &index)) return AppendOutcome::kUnknownSeries;
  const AppendBounds bounds = Bounds(sample.time_ms);
  const Series& series = core_->series(index);
  const AppendOutcome outcome = core_->CheckFloat(series, sample.time_ms, sample.value, bounds);
  if (outcome != AppendOutcome::kAccepted) return outcome;
  NoteUnlogged(index);
  if (model::IsStaleNan(sample.value)) [[unlikely]] {
    // The marker takes the type of what it ends: of this batch here, else when it is applied.
    const auto pending = histograms_in_batch_.find(index);
    if (pending != histograms_in_batch_.end()) {
      if (pending->second >= Type::kFloatHistogram) {
        AddStale<model::FloatHistogram>(index, sample.time_ms);
      } else {
        AddStale<model::Histogram>(index, sample.time_ms);
      }
      return outcome;
    }
  }
  SampleBatch* const batch = histograms_in_batch_.empty() && !request_.batches.empty()
                                 ? &request_.batches.back()
                                 : BatchFor(index, Type::kFloat);
  batch->floats.push_back({series.wal_ref(), sample.time_ms, sample.value});
  batch->float_series.push_back(index);
  return outcome;
}

void HeadAppender::AppendFloats(std::span<const model::FloatSample> samples,
                                std::span<AppendOutcome> outcomes) {
  NX_CHECK_EQ(samples.size(), outcomes.size());
  NX_CHECK(!finished_);
  StripeHolder stripe(core_);
  for (size_t i = 0; i < samples.size(); ++i) {
    outcomes[i] = AppendOneFloat(&stripe, samples[i]);
    if (!model::IsStored(outcomes[i])) CountOutcome(metrics_, outcomes[i], /*histogram=*/false);
  }
}

template <typename H>
AppendOutcome HeadAppender::Append(model::SeriesRef ref, int64_t time_ms, const H& histogram) {
  NX_CHECK(!finished_);
  SeriesIndex index = 0;
  {
    StripeHolder stripe(core_);
    if (!Hold(&stripe, ref, &index)) return AppendOutcome::kUnknownSeries;
  }
  const AppendBounds bounds = Bounds(time_ms);
  if (time_ms < bounds.min_valid_time_ms) return AppendOutcome::kOutOfBounds;
  H copy = histogram;
  if (model::IsStaleNan(histogram.sum)) {
    copy = {};
    copy.layout = model::EmptyLayout();
    copy.sum = model::StaleNan();
  } else {
    const int32_t schema = histogram.layout->schema;
    if (schema > model::kMaxExponentialSchema && schema <= model::kMaxReservedSchema) {
      model::ReduceResolution(&copy, model::kMaxExponentialSchema);
    }
    if (!model::Validate(copy).ok()) return AppendOutcome::kInvalidHistogram;
  }
  AppendOutcome outcome = AppendOutcome::kAccepted;
  {
    StripeHolder stripe(core_);
    stripe.Hold(index);
    outcome = core_->CheckHistogram(core_->series(index), time_ms, copy, bounds);
    if (outcome == AppendOutcome::kAccepted) NoteUnlogged(index);
  }
  if (outcome == AppendOutcome::kAccepted) Add(index, time_ms, std::move(copy));
  return outcome;
}

AppendOutcome HeadAppender::AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                            const model::Histogram& histogram) {
  const AppendOutcome outcome = Append(ref, time_ms, histogram);
  CountOutcome(metrics_, outcome, /*histogram=*/true);
  return outcome;
}

AppendOutcome HeadAppender::AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                            const model::FloatHistogram& histogram) {
  const AppendOutcome outcome = Append(ref, time_ms, histogram);
  CountOutcome(metrics_, outcome, /*histogram=*/true);
  return outcome;
}

absl::Status HeadAppender::AppendExemplar(model::SeriesRef /*ref*/,
                                          const model::Exemplar& /*exemplar*/) {
  return base::FailedPrecondition("exemplar storage is disabled");
}

void HeadAppender::SetMetadata(model::SeriesRef ref, const model::Metadata& metadata) {
  SeriesIndex index = 0;
  StripeHolder stripe(core_);
  if (!Hold(&stripe, ref, &index) || core_->SameMetadata(index, metadata)) return;
  NoteUnlogged(index);
  request_.metadata.push_back({index, metadata});
}

void HeadAppender::EncodeNewSeries() {
  std::vector<SeriesIndex>& fresh = request_.logged;
  std::sort(fresh.begin(), fresh.end());
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  if (fresh.empty()) return;
  std::vector<model::Label> labels;
  std::vector<size_t> ends;
  std::shared_ptr<const HeadIndex> names;
  {
    base::ReaderLock lock(core_->index_mutex());
    names = core_->index();
  }
  for (const SeriesIndex index : fresh) {
    names->AppendLabelTexts(index, &labels);
    ends.push_back(labels.size());
  }
  std::vector<disk::SeriesToLog> series;
  size_t first = 0;
  for (size_t i = 0; i < fresh.size(); ++i) {
    series.push_back({.ref = core_->WalRefOf(fresh[i]),
                      .labels = std::span(labels).subspan(first, ends[i] - first)});
    first = ends[i];
  }
  disk::EncodeSeries(series, &request_.records.emplace_back());
}

void HeadAppender::EncodeRecords() {
  EncodeNewSeries();
  const auto put = [this](std::string record) {
    if (!record.empty()) request_.records.push_back(std::move(record));
  };
  std::vector<disk::RefMetadata> metadata;
  for (const PendingMetadata& pending : request_.metadata) {
    metadata.push_back({.ref = core_->WalRefOf(pending.series),
                        .type = pending.metadata.type,
                        .unit = pending.metadata.unit,
                        .help = pending.metadata.help});
  }
  if (!metadata.empty()) disk::EncodeMetadata(metadata, &request_.records.emplace_back());
  const auto put_histograms = [&]<typename H>(const std::vector<PendingHistogram<H>>& pending) {
    if (pending.empty()) return;
    std::vector<disk::HistogramToLog<H>> samples;
    for (const PendingHistogram<H>& one : pending) {
      samples.push_back({.ref = core_->WalRefOf(one.series),
                         .time_ms = one.time_ms,
                         .histogram = &one.histogram});
    }
    std::string exponential;
    std::string custom;
    disk::EncodeHistograms(samples, &exponential, &custom);
    put(std::move(exponential));
    put(std::move(custom));
  };
  for (const SampleBatch& batch : request_.batches) {
    if (!batch.floats.empty()) {
      disk::EncodeSamples(batch.floats, &request_.records.emplace_back());
    }
    put_histograms(batch.histograms);
    put_histograms(batch.float_histograms);
  }
}

absl::Status HeadAppender::Commit() {
  NX_CHECK(!finished_);
  if (request_.batches.empty() && request_.metadata.empty()) {
    Finish();
    return absl::OkStatus();
  }
  if (committer_->has_sink()) EncodeRecords();
  size_t num_floats = 0;
  size_t num_histograms = 0;
  for (const SampleBatch& batch : request_.batches) {
    num_floats += batch.floats.size();
    num_histograms += batch.histograms.size() + batch.float_histograms.size();
  }
  const absl::Status status = committer_->Commit(&request_);
  if (status.ok()) {
    metrics_->appended.floats->Add(static_cast<double>(num_floats));
    metrics_->appended.histograms->Add(static_cast<double>(num_histograms));
  }
  Finish();
  return status;
}

void HeadAppender::Rollback() {
  if (!finished_) Finish();
}

void HeadAppender::Finish() {
  finished_ = true;
  request_ = {};
  core_->ReleaseAppender(epoch_);
  metrics_->active_appenders->Add(-1);
}

}  // namespace narthex::head
