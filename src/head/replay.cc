#include "head/replay.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "narthex/base/status.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"

namespace narthex::head {
namespace {

// Applies records one by one. A label set that was logged under several numbers is one series,
// known by all of them.
class Replayer {
 public:
  // `chunks`: lists of the chunks in files by number of their series.
  Replayer(HeadCore* core, HeadMetrics* metrics, int64_t min_valid_time_ms,
           std::unordered_map<uint64_t, Handle> chunks)
      : core_(core),
        metrics_(metrics),
        min_valid_time_ms_(min_valid_time_ms),
        chunks_(std::move(chunks)) {}

  // kDataLoss: the record is malformed; nothing of it was applied.
  absl::Status Apply(std::string_view record);
  void Report(const base::Logger* logger) const;
  // After the last record.
  void Finish();

 private:
  // Counts by what the records hold.
  struct Unknown {
    uint64_t samples = 0, histograms = 0, metadata = 0, tombstones = 0;
  };

  absl::Status ApplySeries(std::string_view record);
  absl::Status ApplySamples(std::string_view record);
  template <typename H>
  absl::Status ApplyHistograms(std::string_view record);
  absl::Status ApplyTombstones(std::string_view record);
  absl::Status ApplyMetadata(std::string_view record);
  // Counts a miss in `*unknown`.
  std::optional<SeriesIndex> Find(uint64_t ref, uint64_t* unknown);
  // The same for a sample; none if it is too old.
  std::optional<SeriesIndex> FindFor(uint64_t ref, int64_t time_ms, uint64_t* unknown);
  void Commit(SampleBatch* batch);

  HeadCore* const core_;
  HeadMetrics* const metrics_;
  const int64_t min_valid_time_ms_;
  std::unordered_map<uint64_t, Handle> chunks_;
  std::unordered_map<uint64_t, SeriesIndex> index_of_;
  // Further numbers of a series, and the last time under them.
  std::unordered_map<uint64_t, int64_t> other_refs_;
  std::unordered_set<uint64_t> unknown_refs_;
  Unknown unknown_;
  uint64_t num_unknown_schemas_ = 0;
  uint64_t num_tombstones_ = 0;
  disk::SeriesBatch series_;
  disk::SampleBatch samples_;
  SampleBatch batch_;
};

std::optional<SeriesIndex> Replayer::Find(uint64_t ref, uint64_t* unknown) {
  const auto found = index_of_.find(ref);
  if (found != index_of_.end()) return found->second;
  ++*unknown;
  unknown_refs_.insert(ref);
  return std::nullopt;
}

std::optional<SeriesIndex> Replayer::FindFor(uint64_t ref, int64_t time_ms, uint64_t* unknown) {
  if (time_ms < min_valid_time_ms_) return std::nullopt;
  const std::optional<SeriesIndex> index = Find(ref, unknown);
  if (index && !other_refs_.empty()) {
    const auto other = other_refs_.find(ref);
    if (other != other_refs_.end()) other->second = std::max(other->second, time_ms);
  }
  return index;
}

void Replayer::Finish() {
  if (!other_refs_.empty()) {
    std::vector<uint64_t> refs;
    int64_t last_ms = std::numeric_limits<int64_t>::min();
    for (const auto& [ref, time_ms] : other_refs_) {
      refs.push_back(ref);
      last_ms = std::max(last_ms, time_ms);
    }
    core_->NoteOtherRefs(std::move(refs), last_ms);
  }
  // Chunks of series that the log does not know.
  for (const auto& [ref, chunks] : chunks_) {
    core_->mutable_sealed()->DropBefore(chunks, std::numeric_limits<int64_t>::max());
  }
  chunks_.clear();
}

void Replayer::Commit(SampleBatch* batch) {
  core_->BeginCommit();
  core_->Apply(batch);
  core_->EndCommit();
}

absl::Status Replayer::ApplySeries(std::string_view record) {
  NX_RETURN_IF_ERROR(disk::DecodeSeries(record, &series_));
  base::WriterLock lock(core_->index_mutex());
  for (const disk::SeriesBatch::Series& one : series_.series) {
    if (one.ref == model::kNoSeries || one.ref > kMaxWalRef) {
      return base::DataLoss("series record: bad ref: ref=", one.ref);
    }
    core_->NoteWalRef(one.ref);
    NX_ASSIGN_OR_RETURN(const SeriesIndex index, core_->AddSeries(series_.LabelsOf(one), one.ref));
    index_of_[one.ref] = index;
    if (core_->WalRefOf(index) != one.ref) {
      // Its chunks in files, if any, stay out: the log has their samples.
      other_refs_.try_emplace(one.ref, std::numeric_limits<int64_t>::min());
    } else if (const auto chunks = chunks_.find(one.ref); chunks != chunks_.end()) {
      core_->SetSealed(index, chunks->second);
      chunks_.erase(chunks);
    }
    base::MutexLock stripe(core_->StripeOf(index));
    core_->MarkLogged(index);
  }
  return absl::OkStatus();
}

absl::Status Replayer::ApplySamples(std::string_view record) {
  NX_RETURN_IF_ERROR(disk::DecodeSamples(record, &samples_));
  batch_ = {};
  for (const model::FloatSample& sample : samples_.samples) {
    const std::optional<SeriesIndex> index = FindFor(sample.ref, sample.time_ms, &unknown_.samples);
    if (!index) continue;
    batch_.floats.push_back(sample);
    batch_.float_series.push_back(*index);
  }
  Commit(&batch_);
  return absl::OkStatus();
}

template <typename H>
absl::Status Replayer::ApplyHistograms(std::string_view record) {
  disk::HistogramBatch<H> decoded;
  NX_RETURN_IF_ERROR(disk::DecodeHistograms(record, &decoded));
  num_unknown_schemas_ += decoded.num_unknown_schemas;
  SampleBatch batch;
  for (auto& sample : decoded.samples) {
    const std::optional<SeriesIndex> index =
        FindFor(sample.ref, sample.time_ms, &unknown_.histograms);
    if (!index) continue;
    PendingHistogram<H> pending{*index, sample.time_ms, std::move(sample.histogram)};
    if constexpr (std::is_same_v<H, model::Histogram>) {
      batch.histograms.push_back(std::move(pending));
    } else {
      batch.float_histograms.push_back(std::move(pending));
    }
  }
  Commit(&batch);
  return absl::OkStatus();
}

absl::Status Replayer::ApplyTombstones(std::string_view record) {
  std::vector<disk::Tombstone> tombstones;
  NX_RETURN_IF_ERROR(disk::DecodeTombstones(record, &tombstones));
  for (const disk::Tombstone& one : tombstones) {
    // A number may be known from its deletion only; it must not be given out again.
    if (one.ref <= kMaxWalRef) core_->NoteWalRef(one.ref);
    if (Find(one.ref, &unknown_.tombstones)) ++num_tombstones_;
  }
  return absl::OkStatus();
}

absl::Status Replayer::ApplyMetadata(std::string_view record) {
  std::vector<disk::RefMetadata> metadata;
  NX_RETURN_IF_ERROR(disk::DecodeMetadata(record, &metadata));
  for (const disk::RefMetadata& one : metadata) {
    const std::optional<SeriesIndex> index = Find(one.ref, &unknown_.metadata);
    if (!index) continue;
    core_->SetMetadata(
        {*index, {.type = one.type, .unit = std::string(one.unit), .help = std::string(one.help)}});
  }
  return absl::OkStatus();
}

absl::Status Replayer::Apply(std::string_view record) {
  switch (disk::TypeOfRecord(record)) {
    case disk::RecordType::kSeries:
      return ApplySeries(record);
    case disk::RecordType::kSamples:
    case disk::RecordType::kSamplesV2:
      return ApplySamples(record);
    case disk::RecordType::kHistograms:
    case disk::RecordType::kCustomHistograms:
    case disk::RecordType::kHistogramsV2:
      return ApplyHistograms<model::Histogram>(record);
    case disk::RecordType::kFloatHistograms:
    case disk::RecordType::kCustomFloatHistograms:
    case disk::RecordType::kFloatHistogramsV2:
      return ApplyHistograms<model::FloatHistogram>(record);
    case disk::RecordType::kTombstones:
      return ApplyTombstones(record);
    case disk::RecordType::kMetadata:
      return ApplyMetadata(record);
    case disk::RecordType::kExemplars:
    case disk::RecordType::kMmapMarkers:
    case disk::RecordType::kUnknown:
      break;  // Not kept here, or from a newer writer.
  }
  return absl::OkStatus();
}

void Replayer::Report(const base::Logger* logger) const {
  const auto count = [this](const char* type, uint64_t number) {
    if (number > 0) metrics_->unknown_refs->With({type})->Add(static_cast<double>(number));
  };
  count("series", unknown_refs_.size());
  count("samples", unknown_.samples);
  count("histograms", unknown_.histograms);
  count("metadata", unknown_.metadata);
  count("tombstones", unknown_.tombstones);
  if (!unknown_refs_.empty()) {
    logger->Warn("unknown series references in the write-ahead log",
                 {{"series", unknown_refs_.size()},
                  {"samples", unknown_.samples},
                  {"histograms", unknown_.histograms},
                  {"metadata", unknown_.metadata},
                  {"tombstones", unknown_.tombstones}});
  }
  if (num_unknown_schemas_ > 0) {
    logger->Warn("histograms of unknown schemas in the write-ahead log were left out",
                 {{"samples", num_unknown_schemas_}});
  }
  if (num_tombstones_ > 0) {
    logger->Warn("deletions in the write-ahead log are not applied to samples in memory",
                 {{"tombstones", num_tombstones_}});
  }
}

// Where the record that ends at `end` begins: at the end of the one before, or of its segment.
disk::WalPosition StartOf(disk::WalPosition previous_end, disk::WalPosition end) {
  if (previous_end.segment == end.segment) return previous_end;
  return {.segment = end.segment, .offset = 0};
}

// Opens the head chunk files; new chunks go there. The lists of the chunks there are, by number of
// their series.
absl::StatusOr<std::unordered_map<uint64_t, Handle>> OpenChunkFiles(const HeadOptions& options,
                                                                    const HeadContext& context,
                                                                    HeadCore* core) {
  std::unordered_map<uint64_t, Handle> lists;
  if (options.chunks_directory.empty()) return lists;
  SealedChunks* const sealed = core->mutable_sealed();
  uint64_t num_out_of_order = 0;
  const auto visit = [&](disk::HeadChunkRef ref, const disk::HeadChunk& chunk) {
    if (chunk.is_out_of_order) {
      ++num_out_of_order;
      return true;
    }
    if (chunk.max_time_ms < options.min_valid_time_ms) return true;
    // Without overflow: times may be anything.
    if (chunk.max_time_ms < chunk.min_time_ms ||
        static_cast<uint64_t>(chunk.max_time_ms) - static_cast<uint64_t>(chunk.min_time_ms) >
            uint64_t{SealedChunks::kMaxSpanMs}) {
      return false;
    }
    Handle& newest = lists[chunk.series];
    if (newest != 0 && (*sealed)[newest].max_time_ms >= chunk.min_time_ms) return false;
    newest = sealed->Link({.older = newest,
                           .min_time_ms = chunk.min_time_ms,
                           .max_time_ms = chunk.max_time_ms,
                           .place = {.file = ref.file, .offset = ref.offset}});
    return true;
  };
  disk::HeadChunkFilesOptions file_options;
  file_options.directory = options.chunks_directory;
  NX_ASSIGN_OR_RETURN(std::unique_ptr<disk::HeadChunkFiles> files,
                      disk::HeadChunkFiles::Open(file_options, context.fs, visit));
  if (files->damage()) {
    context.logger->Error(
        "head chunk files are damaged: what follows is read from the write-ahead log",
        {{"file", files->damage()->at.file},
         {"offset", files->damage()->at.offset},
         {"files_removed", files->damage()->num_files_removed},
         {"err", files->damage()->reason}});
  }
  if (num_out_of_order > 0) {
    context.logger->Warn("out-of-order chunks in head chunk files are left out",
                         {{"chunks", num_out_of_order}});
  }
  sealed->SetFiles(std::move(files));
  return lists;
}

// Applies all records; the damage that ended it early, if any.
absl::StatusOr<std::optional<disk::WalDamage>> ReadLog(
    disk::WalReader* reader, Replayer* replayer, ReplayProgress state,
    const std::function<void(const ReplayProgress&)>& progress) {
  disk::WalPosition end;
  bool was_in_checkpoint = reader->in_checkpoint();
  while (reader->Next()) {
    const disk::WalPosition position = reader->position();
    const bool in_checkpoint = reader->in_checkpoint();
    if (in_checkpoint != was_in_checkpoint) end = {.segment = position.segment, .offset = 0};
    const disk::WalPosition start = StartOf(end, position);
    const auto segment = static_cast<int64_t>(position.segment);
    if (progress && !in_checkpoint && segment != state.current_segment) {
      state.current_segment = segment;
      progress(state);
    }
    const absl::Status status = replayer->Apply(reader->record());
    if (status.code() == absl::StatusCode::kDataLoss) {
      return disk::WalDamage{.position = start,
                             .in_checkpoint = in_checkpoint,
                             .reason = std::string(base::Message(status))};
    }
    NX_RETURN_IF_ERROR(status);
    end = position;
    was_in_checkpoint = in_checkpoint;
  }
  NX_RETURN_IF_ERROR(reader->status());
  return reader->damage();
}

absl::Status Repair(const HeadOptions& options, const HeadContext& context, HeadMetrics* metrics,
                    const disk::WalDamage& damage) {
  metrics->wal_corruptions->Add();
  context.logger->Error("write-ahead log is damaged: what follows the damage is lost",
                        {{"segment", damage.position.segment},
                         {"offset", damage.position.offset},
                         {"in_checkpoint", damage.in_checkpoint},
                         {"err", damage.reason}});
  if (damage.in_checkpoint) {
    return base::DataLoss("head: damaged checkpoint: segment=", damage.position.segment,
                          " offset=", damage.position.offset, ": ", damage.reason);
  }
  return base::WithContext(disk::RepairWal(context.fs, options.wal_directory, damage),
                           "head: repair of the log");
}

}  // namespace

absl::Status ReplayWal(const HeadOptions& options, const HeadContext& context, HeadMetrics* metrics,
                       HeadCore* core, const std::function<void(const ReplayProgress&)>& progress) {
  base::Fs* const fs = context.fs;
  const int64_t started_ns = context.clock->MonotonicNs();
  NX_ASSIGN_OR_RETURN(auto chunks, OpenChunkFiles(options, context, core));
  Replayer replayer(core, metrics, options.min_valid_time_ms, std::move(chunks));
  if (!fs->Exists(options.wal_directory)) {
    replayer.Finish();
    return absl::OkStatus();
  }
  NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> segments,
                      disk::ListWalSegments(fs, options.wal_directory));
  NX_ASSIGN_OR_RETURN(std::unique_ptr<disk::WalReader> reader,
                      disk::WalReader::Open(fs, options.wal_directory));
  ReplayProgress state;
  if (!segments.empty()) {
    state.first_segment = static_cast<int64_t>(segments.front());
    state.last_segment = static_cast<int64_t>(segments.back());
    state.current_segment = state.first_segment;
  }
  if (progress) progress(state);

  const auto damage = ReadLog(reader.get(), &replayer, state, progress);
  NX_RETURN_IF_ERROR(base::WithContext(damage.status(), "head: replay"));
  replayer.Finish();
  replayer.Report(context.logger);
  reader.reset();
  if (*damage) NX_RETURN_IF_ERROR(Repair(options, context, metrics, **damage));
  const double seconds = static_cast<double>(context.clock->MonotonicNs() - started_ns) / 1e9;
  metrics->replay_seconds->Set(seconds);
  context.logger->Info(
      "write-ahead log replayed",
      {{"segments", segments.size()}, {"series", core->num_series()}, {"seconds", seconds}});
  return absl::OkStatus();
}

}  // namespace narthex::head
