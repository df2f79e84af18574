#include "scrape/body_appender.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "narthex/base/status.h"
#include "narthex/model/histogram.h"
#include "scrape/family_of.h"
#include "scrape/sample_labels.h"

namespace narthex::scrape {
namespace {

using codec::Entry;
using codec::EntryBatch;
using codec::EntryKind;
using model::AppendOutcome;

bool IsKnownSchema(int32_t schema) {
  return schema == model::kCustomBucketsSchema ||
         (schema >= model::kMinReservedSchema && schema <= model::kMaxReservedSchema);
}

absl::Status CheckSchema(int32_t schema) {
  if (IsKnownSchema(schema)) return absl::OkStatus();
  return base::InvalidArgument(
      "histogram has an unknown schema, which must be between -9 and 52 for exponential buckets, "
      "or "
      "-53 for custom buckets, got schema ",
      schema);
}

// The schema a histogram is to be reduced to: at most `max_schema`, and coarse enough for
// `bucket_limit` (0: none), which may leave it at kMinExponentialSchema without success.
template <typename Kind>
void LimitResolution(int32_t max_schema, uint64_t bucket_limit, Kind* histogram) {
  if (histogram->layout->has_custom_buckets()) return;
  if (histogram->layout->schema > max_schema) model::ReduceResolution(histogram, max_schema);
  if (bucket_limit == 0) return;
  while (histogram->buckets.size() > bucket_limit &&
         histogram->layout->schema > model::kMinExponentialSchema) {
    model::ReduceResolution(histogram, histogram->layout->schema - 1);
  }
}

bool IsEarlier(const model::Exemplar& a, const model::Exemplar& b) {
  return std::tie(a.time_ms, a.value, a.labels) < std::tie(b.time_ms, b.value, b.labels);
}

constexpr std::string_view kOutOfOrderExemplar = "out of order exemplar";

}  // namespace

BodyAppender::BodyAppender(BodyContext context, model::Appender* appender, int64_t scrape_ms,
                           int64_t max_time_ms)
    : context_(context), appender_(appender), scrape_ms_(scrape_ms), max_time_ms_(max_time_ms) {}

bool BodyAppender::HasOwnTime(const Entry& entry) const {
  return entry.has_time && context_.config.options.honor_timestamps;
}

int64_t BodyAppender::TimeOf(const Entry& entry) const {
  return HasOwnTime(entry) ? entry.time_ms : scrape_ms_;
}

absl::Status BodyAppender::Append(codec::ExpositionReader* reader) {
  reader_ = reader;
  absl::Status status;
  EntryBatch batch;
  while (status.ok() && reader->NextBatch(&batch)) status = TakeBatch(batch);
  if (status.ok()) status = reader->status();

  const PoolOptions& options = context_.config.options;
  const ScrapeMetrics& metrics = context_.metrics;
  if (options.sample_limit > 0 && num_limited_ > options.sample_limit) {
    metrics.exceeded_sample_limit->Add();
    if (status.ok()) status = base::ResourceExhausted("sample limit exceeded");
  }
  if (over_bucket_limit_) {
    metrics.exceeded_bucket_limit->Add();
    if (status.ok()) status = base::ResourceExhausted("histogram bucket limit exceeded");
  }
  const auto add = [](base::Counter* counter, uint64_t count) {
    if (count > 0) counter->Add(static_cast<double>(count));
  };
  add(metrics.out_of_order, counts_.num_out_of_order);
  add(metrics.duplicate_timestamp, counts_.num_duplicates);
  add(metrics.out_of_bounds, counts_.num_out_of_bounds);
  add(metrics.exemplar_out_of_order, counts_.num_exemplars_out_of_order);
  return status;
}

absl::Status BodyAppender::TakeBatch(const EntryBatch& batch) {
  for (uint32_t i = 0; i < batch.entries.size(); ++i) {
    switch (batch.entries[i].kind) {
      case EntryKind::kType:
      case EntryKind::kHelp:
      case EntryKind::kUnit:
        TakeMetadata(batch.entries[i]);
        break;
      case EntryKind::kFloat:
      case EntryKind::kHistogram:
      case EntryKind::kFloatHistogram:
        NX_RETURN_IF_ERROR(TakeSample(batch, i));
        break;
    }
  }
  return FlushFloats(batch);
}

void BodyAppender::TakeMetadata(const Entry& entry) {
  MetadataStore& store = context_.target.metadata();
  if (entry.kind == EntryKind::kType) store.SetType(entry.name, entry.type);
  if (entry.kind == EntryKind::kHelp) store.SetHelp(entry.name, entry.text);
  if (entry.kind == EntryKind::kUnit) store.SetUnit(entry.name, entry.text);
}

absl::StatusOr<bool> BodyAppender::NewLabels(const Entry& entry, model::Labels* labels) {
  builder_.Reset();
  NX_RETURN_IF_ERROR(reader_->Labels(entry, &builder_));
  if (!FinishLabels(context_.config, context_.target.public_labels(), &builder_)) return false;
  *labels = builder_.Build();
  if (labels->empty()) return false;
  const absl::Status status = CheckLabels(context_.config.options, *labels);
  if (status.code() == absl::StatusCode::kResourceExhausted) {
    context_.metrics.exceeded_label_limits->Add();
  }
  NX_RETURN_IF_ERROR(status);
  return true;
}

absl::Status BodyAppender::TakeSample(const EntryBatch& batch, uint32_t index) {
  const Entry& entry = batch.entries[index];
  SeriesCache& cache = context_.cache;
  ++counts_.num_scraped;
  uint32_t slot = cache.Find(entry.series_key);
  const bool is_new = slot == SeriesCache::kNone;
  model::Labels labels;
  if (is_new) {
    // Slow path: once per series and target.
    NX_ASSIGN_OR_RETURN(const bool keep, NewLabels(entry, &labels));
    if (!keep) {
      cache.Add(entry.series_key, model::kNoSeries);
      return absl::OkStatus();
    }
  } else {
    const bool is_repeated = !cache.MarkSeen(slot);
    if (cache.is_dropped(slot)) return absl::OkStatus();
    if (is_repeated && !HasOwnTime(entry)) {
      ++counts_.num_after_relabel;
      ++counts_.num_duplicates;
      return absl::OkStatus();
    }
  }
  ++counts_.num_after_relabel;
  ++num_limited_;
  // A scrape over its limit is lost, but is read on, so that the report says by how much.
  const uint64_t sample_limit = context_.config.options.sample_limit;
  if (sample_limit > 0 && num_limited_ > sample_limit) return absl::OkStatus();
  if (TimeOf(entry) > max_time_ms_) {
    ++counts_.num_out_of_bounds;
    return absl::OkStatus();
  }
  if (is_new) {
    NX_ASSIGN_OR_RETURN(const model::SeriesRef ref, appender_->Resolve(labels.Views()));
    slot = cache.Add(entry.series_key, ref);
  }
  return AppendSample(batch, {index, slot, is_new});
}

absl::Status BodyAppender::AppendSample(const EntryBatch& batch, const Pending& sample) {
  const Entry& entry = batch.entries[sample.entry];
  if (context_.append_metadata) AppendMetadata(entry, sample);
  switch (entry.kind) {
    case EntryKind::kHistogram:
      return AppendHistogram(batch, sample, *entry.histogram);
    case EntryKind::kFloatHistogram:
      return AppendHistogram(batch, sample, *entry.float_histogram);
    default:
      pending_.push_back(sample);
      floats_.push_back({context_.cache.ref(sample.slot), TimeOf(entry), entry.value});
      return absl::OkStatus();
  }
}

template <typename Kind>
absl::Status BodyAppender::AppendHistogram(const EntryBatch& batch, const Pending& sample,
                                           const Kind& histogram) {
  const int64_t time_ms = TimeOf(batch.entries[sample.entry]);
  const uint64_t bucket_limit = context_.config.options.native_histogram_bucket_limit;
  const Kind* limited = &histogram;
  std::optional<Kind> copy;
  if (histogram.layout != nullptr) {
    NX_RETURN_IF_ERROR(CheckSchema(histogram.layout->schema));
    const bool is_too_big = bucket_limit > 0 && histogram.buckets.size() > bucket_limit;
    if (is_too_big || histogram.layout->schema > context_.config.max_schema) {
      copy = histogram;
      LimitResolution(context_.config.max_schema, bucket_limit, &*copy);
      limited = &*copy;
    }
  }
  if (bucket_limit > 0 && limited->buckets.size() > bucket_limit) {
    over_bucket_limit_ = true;
    return absl::OkStatus();
  }
  const auto append = [&] {
    return appender_->AppendHistogram(context_.cache.ref(sample.slot), time_ms, *limited);
  };
  AppendOutcome outcome = append();
  if (outcome == AppendOutcome::kUnknownSeries) {
    NX_RETURN_IF_ERROR(ResolveAgain(batch, sample));
    outcome = append();
  }
  if (outcome == AppendOutcome::kInvalidHistogram) {
    const absl::Status reason = model::Validate(*limited);
    return reason.ok() ? base::InvalidArgument(model::OutcomeText(outcome)) : reason;
  }
  return TakeOutcome(batch, sample, outcome);
}

absl::Status BodyAppender::FlushFloats(const EntryBatch& batch) {
  outcomes_.resize(floats_.size());
  appender_->AppendFloats(floats_, outcomes_);
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (outcomes_[i] == AppendOutcome::kUnknownSeries) {
      // Slow path: the storage dropped the series in the meantime.
      NX_RETURN_IF_ERROR(ResolveAgain(batch, pending_[i]));
      floats_[i].ref = context_.cache.ref(pending_[i].slot);
      appender_->AppendFloats(std::span(floats_).subspan(i, 1), std::span(outcomes_).subspan(i, 1));
    }
    NX_RETURN_IF_ERROR(TakeOutcome(batch, pending_[i], outcomes_[i]));
  }
  pending_.clear();
  floats_.clear();
  return absl::OkStatus();
}

absl::Status BodyAppender::ResolveAgain(const EntryBatch& batch, const Pending& sample) {
  model::Labels labels;
  NX_ASSIGN_OR_RETURN(const bool keep, NewLabels(batch.entries[sample.entry], &labels));
  if (!keep) return absl::OkStatus();  // Cannot be: it was kept when it was new.
  NX_ASSIGN_OR_RETURN(const model::SeriesRef ref, appender_->Resolve(labels.Views()));
  context_.cache.set_ref(sample.slot, ref);
  return absl::OkStatus();
}

absl::Status BodyAppender::TakeOutcome(const EntryBatch& batch, const Pending& sample,
                                       AppendOutcome outcome) {
  const Entry& entry = batch.entries[sample.entry];
  switch (outcome) {
    case AppendOutcome::kAccepted:
    case AppendOutcome::kDuplicateSame:
      // Series with times of their own come and go as they please, unless asked otherwise.
      if (!HasOwnTime(entry) || context_.config.options.track_timestamps_staleness) {
        context_.cache.Track(sample.slot);
      }
      if (sample.is_new) ++counts_.num_series_added;
      break;
    case AppendOutcome::kOutOfOrder:
      ++counts_.num_out_of_order;
      break;
    case AppendOutcome::kDuplicate:
      ++counts_.num_duplicates;
      break;
    case AppendOutcome::kOutOfBounds:
    case AppendOutcome::kTooOld:
      ++counts_.num_out_of_bounds;
      break;
    case AppendOutcome::kUnknownSeries:
    case AppendOutcome::kInvalidHistogram:
      return base::Internal("scrape: append failed: ", model::OutcomeText(outcome));
  }
  if (entry.num_exemplars > 0) AppendExemplars(batch, sample);
  return absl::OkStatus();
}

void BodyAppender::AppendExemplars(const EntryBatch& batch, const Pending& sample) {
  if (exemplars_refused_) return;
  const Entry& entry = batch.entries[sample.entry];
  std::vector<model::Exemplar> exemplars;
  for (uint32_t i = 0; i < entry.num_exemplars; ++i) {
    model::Exemplar exemplar = batch.exemplars[entry.first_exemplar + i];
    if (!exemplar.has_time) {
      // Without a time repeated exemplars of a native histogram could not be told from new ones.
      if (entry.kind != EntryKind::kFloat) continue;
      exemplar.has_time = true;
      exemplar.time_ms = TimeOf(entry);
    }
    exemplars.push_back(std::move(exemplar));
  }
  std::sort(exemplars.begin(), exemplars.end(), IsEarlier);
  uint64_t num_out_of_order = 0;
  for (const model::Exemplar& exemplar : exemplars) {
    const absl::Status status =
        appender_->AppendExemplar(context_.cache.ref(sample.slot), exemplar);
    if (status.code() == absl::StatusCode::kFailedPrecondition) {
      exemplars_refused_ = true;
      return;
    }
    if (base::Message(status).find(kOutOfOrderExemplar) != std::string_view::npos) {
      ++num_out_of_order;
    }
  }
  // If only some are out of order, the target repeats known ones and adds to them.
  if (num_out_of_order == exemplars.size()) counts_.num_exemplars_out_of_order += num_out_of_order;
}

void BodyAppender::AppendMetadata(const Entry& entry, const Pending& sample) {
  bool changed = false;
  const MetadataRecord record = context_.target.metadata().Newest(&changed);
  if (record == nullptr || !(sample.is_new || changed)) return;
  if (!IsOfFamily(entry.name, record->family, record->metadata.type)) return;
  appender_->SetMetadata(context_.cache.ref(sample.slot), record->metadata);
}

}  // namespace narthex::scrape
