#include "head/head_core.h"

#include <algorithm>
#include <bit>

#include "head/float_column.h"
#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::head {

using model::AppendOutcome;

namespace {

// A chunk whose values take more is cut early, as Prometheus keeps chunks near a KiB.
constexpr size_t kMaxColumnBytes = 1005;
// Of rows, which are about three quarters of what a chunk of Prometheus's takes: chunks near a KiB.
constexpr size_t kFullHistogramBytes = 768;
constexpr size_t kMinHistogramSamples = 10;
// The tables name series by 31 bits, texts and label sets by 32-bit positions.
constexpr uint32_t kMaxSeries = (1u << 31) - 1;
constexpr uint64_t kMaxTableBytes = 4000ull << 20;

}  // namespace

void StripeHolder::Hold(SeriesIndex series) {
  base::Mutex* const wanted = core_->StripeOf(series);
  if (wanted == held_) return;
  Release();
  held_ = wanted;
  held_->Lock();
}

void StripeHolder::Release() {
  if (held_ != nullptr) held_->Unlock();
  held_ = nullptr;
}

HeadCore::HeadCore(const HeadOptions& options, HeadMetrics* metrics, const base::Logger* logger)
    : options_(options),
      metrics_(metrics),
      times_(options.block_range_ms, options.samples_per_chunk),
      sealed_(logger),
      min_valid_time_ms_(options.min_valid_time_ms) {}

// ---- index

absl::StatusOr<SeriesIndex> HeadCore::AddSeries(std::span<const model::Label> labels,
                                                uint64_t wal_ref) {
  const SeriesIndex found = index_->Find(labels);
  if (found != kNoSeriesIndex) return found;
  if (num_slots() >= kMaxSeries || index_->symbols().num_bytes() > kMaxTableBytes ||
      index_->label_sets().set_bytes() > kMaxTableBytes ||
      (wal_ref == 0 && last_wal_ref_ >= kMaxWalRef)) {
    return base::ResourceExhausted("head: too many series: series=", num_series());
  }
  SeriesIndex index = 0;
  if (free_slots_.empty()) {
    index = static_cast<SeriesIndex>(series_.Grow());
  } else {
    index = free_slots_.back();
    free_slots_.pop_back();
  }
  index_->Add(index, labels);
  if (is_remaking_) added_meanwhile_.push_back(index);
  if (wal_ref == 0) wal_ref = last_wal_ref_ + 1;
  NoteWalRef(wal_ref);
  {
    base::MutexLock stripe(StripeOf(index));
    Series& series = series_[index];
    series.wal_ref_low = static_cast<uint32_t>(wal_ref);
    series.wal_ref_high = static_cast<uint8_t>(wal_ref >> 32);
  }
  if (index >= num_slots()) num_slots_.store(index + 1, std::memory_order_release);
  num_series_.fetch_add(1, std::memory_order_relaxed);
  metrics_->series_created->Add();
  return index;
}

model::SeriesRef HeadCore::UseSeries(SeriesIndex index) {
  series_[index].Clear(Series::kIdle);
  return RefOf(index);
}

void HeadCore::NoteWalRef(uint64_t wal_ref) { last_wal_ref_ = std::max(last_wal_ref_, wal_ref); }

// ---- checks

AppendBounds HeadCore::BoundsOf(int64_t time_ms) {
  if (!options_.enforce_bounds) return {};
  int64_t max = std::numeric_limits<int64_t>::min();
  if (max_time_ms_.compare_exchange_strong(max, time_ms)) {
    max = time_ms;
    int64_t min = std::numeric_limits<int64_t>::max();
    min_time_ms_.compare_exchange_strong(min, time_ms);
  }
  const int64_t half = options_.block_range_ms / 2;
  const int64_t window = max < std::numeric_limits<int64_t>::min() + half
                             ? std::numeric_limits<int64_t>::min()
                             : max - half;
  return {.min_valid_time_ms = std::max(window, min_valid_time_ms_.load())};
}

void HeadCore::RaiseMinValidTime(int64_t time_ms) {
  if (time_ms > min_valid_time_ms_.load()) min_valid_time_ms_.store(time_ms);
}

AppendOutcome HeadCore::CheckFloat(const Series& series, int64_t time_ms, double value,
                                   AppendBounds bounds) const {
  if (time_ms < bounds.min_valid_time_ms) return AppendOutcome::kOutOfBounds;
  if (!series.has_samples()) return AppendOutcome::kAccepted;
  const int64_t last_ms = LastTimeOf(series);
  if (time_ms > last_ms) return AppendOutcome::kAccepted;
  if (time_ms < last_ms) return AppendOutcome::kOutOfOrder;
  // After a restart the newest value may be in a file only: any other is taken for another.
  if (IsHistogramKind(series.kind) || series.kind == ColumnKind::kNone) {
    return AppendOutcome::kDuplicate;
  }
  return std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(NewestFloat(series))
             ? AppendOutcome::kDuplicateSame
             : AppendOutcome::kDuplicate;
}

namespace {

// Whether `sample` is `newest`, whose layout may have grown empty buckets in its chunk.
template <typename H>
bool SameSample(const H& newest, const H& sample) {
  if (model::Equals(newest, sample)) return true;
  const model::HistogramLayout& wide = *newest.layout;
  const model::HistogramLayout& narrow = *sample.layout;
  if (wide.schema != narrow.schema || wide.num_buckets() <= narrow.num_buckets() ||
      wide.custom_bounds != narrow.custom_bounds) {
    return false;
  }
  H spread = sample;
  spread.layout = newest.layout;
  spread.buckets.assign(wide.num_buckets(), 0);
  codec::SpreadBuckets(narrow, sample.buckets, wide, spread.buckets);
  // Buckets that the wide layout lacks would be lost, and so must have been empty.
  const auto populated = [](const H& h) {
    return std::count_if(h.buckets.begin(), h.buckets.end(), [](auto b) { return b != 0; });
  };
  return populated(spread) == populated(sample) && wide.zero_threshold == narrow.zero_threshold &&
         model::Equals(newest, spread);
}

}  // namespace

template <typename H>
AppendOutcome HeadCore::CheckHistogram(const Series& series, int64_t time_ms, const H& histogram,
                                       AppendBounds bounds) const {
  constexpr ColumnKind kKind =
      std::is_same_v<H, model::Histogram> ? ColumnKind::kHistogram : ColumnKind::kFloatHistogram;
  if (time_ms < bounds.min_valid_time_ms) return AppendOutcome::kOutOfBounds;
  if (!series.has_samples()) return AppendOutcome::kAccepted;
  const int64_t last_ms = LastTimeOf(series);
  if (time_ms > last_ms) return AppendOutcome::kAccepted;
  if (time_ms < last_ms) return AppendOutcome::kOutOfOrder;
  if (series.kind != kKind) return AppendOutcome::kDuplicate;
  H newest;
  histograms_.Newest(series.column, &newest);
  const bool stale = model::IsStaleNan(histogram.sum);
  if (stale || model::IsStaleNan(newest.sum)) {
    return stale == model::IsStaleNan(newest.sum) ? AppendOutcome::kDuplicateSame
                                                  : AppendOutcome::kDuplicate;
  }
  return SameSample(newest, histogram) ? AppendOutcome::kDuplicateSame : AppendOutcome::kDuplicate;
}
template AppendOutcome HeadCore::CheckHistogram(const Series&, int64_t, const model::Histogram&,
                                                AppendBounds) const;
template AppendOutcome HeadCore::CheckHistogram(const Series&, int64_t,
                                                const model::FloatHistogram&, AppendBounds) const;

// ---- metadata

namespace {

std::string MetadataKey(const model::Metadata& metadata) {
  return base::StrCat(static_cast<int>(metadata.type), "\xff", metadata.unit, "\xff",
                      metadata.help);
}

}  // namespace

bool HeadCore::SameMetadata(SeriesIndex index, const model::Metadata& metadata) const {
  base::MutexLock lock(&metadata_mutex_);
  const auto current = metadata_of_.find(index);
  if (current == metadata_of_.end()) return false;
  const auto id = metadata_ids_.find(MetadataKey(metadata));
  return id != metadata_ids_.end() && id->second == current->second;
}

void HeadCore::SetMetadata(const PendingMetadata& pending) {
  base::MutexLock lock(&metadata_mutex_);
  const auto [entry, added] = metadata_ids_.try_emplace(
      MetadataKey(pending.metadata), static_cast<uint32_t>(metadata_ids_.size()));
  metadata_of_[pending.series] = entry->second;
}

// ---- commits and readers

void HeadCore::BeginCommit() {
  uint64_t commit = 0;
  uint64_t seen_by_all = 0;
  {
    base::MutexLock lock(&readers_mutex_);
    commit = published_ + 1;
    seen_by_all = readers_.empty() ? published_ : readers_.begin()->first;
  }
  times_.BeginCommit(static_cast<CommitNumber>(commit), static_cast<CommitNumber>(seen_by_all));
}

void HeadCore::EndCommit() {
  times_.EndCommit();
  decoded_id_ = kNoTimes;
  base::MutexLock lock(&readers_mutex_);
  ++published_;
}

HeadCore::Reader HeadCore::RegisterReader(int64_t min_time_ms) {
  base::MutexLock lock(&readers_mutex_);
  const Reader reader{.seen = published_, .min_time_ms = std::max(min_time_ms, hidden_before_ms_)};
  ++readers_[reader.seen];
  ++reader_times_[reader.min_time_ms];
  return reader;
}

namespace {

template <typename Key>
void Leave(std::map<Key, uint32_t>* open, Key key) {
  const auto entry = open->find(key);
  NX_CHECK(entry != open->end());
  if (--entry->second == 0) open->erase(entry);
}

}  // namespace

void HeadCore::ReleaseReader(const Reader& reader) {
  base::MutexLock lock(&readers_mutex_);
  Leave(&readers_, reader.seen);
  Leave(&reader_times_, reader.min_time_ms);
  somebody_left_.NotifyAll();
}

uint64_t HeadCore::RegisterAppender() {
  base::MutexLock lock(&readers_mutex_);
  ++appenders_[appender_epoch_];
  return appender_epoch_;
}

void HeadCore::ReleaseAppender(uint64_t epoch) {
  base::MutexLock lock(&readers_mutex_);
  Leave(&appenders_, epoch);
  somebody_left_.NotifyAll();
}

void HeadCore::NoteTime(int64_t time_ms) {
  if (time_ms > max_time_ms_.load(std::memory_order_relaxed)) max_time_ms_.store(time_ms);
  if (time_ms < min_time_ms_.load(std::memory_order_relaxed)) min_time_ms_.store(time_ms);
}

MemoryBreakdown HeadCore::Memory() const {
  base::ReaderLock lock(&index_mutex_);
  MemoryBreakdown memory;
  memory.symbols = index_->symbols().num_bytes();
  memory.label_sets = index_->label_sets().set_bytes();
  memory.series_table = index_->label_sets().table_bytes() +
                        (free_slots_.capacity() + retired_slots_.capacity()) * sizeof(SeriesIndex) +
                        gone_refs_.capacity() * sizeof(GoneRefs);
  for (const GoneRefs& gone : gone_refs_) {
    memory.series_table += gone.refs.capacity() * sizeof(uint64_t);
  }
  memory.postings = index_->postings().num_bytes();
  memory.series_state = series_.num_bytes() + sizeof(*this);
  memory.timestamps = times_.num_bytes();
  memory.values = columns_.num_bytes();
  memory.histograms = histograms_.num_bytes();
  memory.sealed_chunks = sealed_.num_bytes();
  base::MutexLock metadata_lock(&metadata_mutex_);
  memory.series_state += metadata_of_.size() * 32;
  for (const auto& [key, id] : metadata_ids_) memory.symbols += 64 + key.capacity();
  return memory;
}

void HeadCore::SetSealed(SeriesIndex index, Handle sealed) {
  base::MutexLock stripe(StripeOf(index));
  series_[index].sealed = sealed;
  for (Handle handle = sealed; handle != 0;) {
    const SealedChunks::Entry entry = sealed_[handle];
    NoteTime(std::max(entry.min_time_ms, options_.min_valid_time_ms));
    NoteTime(entry.max_time_ms);
    metrics_->chunks_created->Add();
    num_chunks_.fetch_add(1, std::memory_order_relaxed);
    handle = entry.older;
  }
}

// ---- applying samples

const std::vector<int64_t>& HeadCore::TimesOf(TimesId id) {
  const uint32_t version = times_[id].version;
  if (id != decoded_id_ || version != decoded_version_) {
    decoded_times_.clear();
    times_.Decode(id, &decoded_times_);
    decoded_id_ = id;
    decoded_version_ = version;
  }
  return decoded_times_;
}

void HeadCore::WriteSealed(const Series& series, codec::ChunkEncoding encoding,
                           std::span<const int64_t> times_ms, std::string_view bytes) {
  SealedChunks::Entry before;
  if (!written_.empty()) {
    before = written_.back();
  } else if (series.sealed != 0) {
    before = sealed_[series.sealed];
  }
  const bool is_first = written_.empty() && series.sealed == 0;
  const SealedChunks::Place place = sealed_.Write(series.wal_ref(), is_first ? nullptr : &before,
                                                  {.min_time_ms = times_ms.front(),
                                                   .max_time_ms = times_ms.back(),
                                                   .encoding = encoding,
                                                   .bytes = bytes});
  written_.push_back({.older = 0,
                      .min_time_ms = times_ms.front(),
                      .max_time_ms = times_ms.back(),
                      .place = place});
}

template <typename H>
void HeadCore::SealHistograms(const Series& series) {
  constexpr auto kEncoding = std::is_same_v<H, model::Histogram>
                                 ? codec::ChunkEncoding::kHistogram
                                 : codec::ChunkEncoding::kFloatHistogram;
  const std::vector<int64_t>& times_ms = TimesOf(series.times);
  const size_t count = times_ms.size();
  std::vector<H> rows;
  histograms_.Decode(series.column, count, &rows);
  codec::CounterReset header = histograms_[series.column].header;
  // One chunk, as the column followed the chunk format's rule. Should the format say otherwise, its
  // word counts: the rest goes to a further chunk.
  for (size_t first = 0; first < count;) {
    encoded_.clear();
    auto appender = codec::BasicHistogramAppender<H>::Open(&encoded_);
    NX_CHECK(appender.ok());
    size_t next = first;
    for (; next < count; ++next) {
      const codec::Verdict verdict = next == first ? codec::Verdict{} : appender->Offer(rows[next]);
      if (verdict.fit == codec::Fit::kCut) {
        header = verdict.next_header;
        break;
      }
      if (verdict.fit == codec::Fit::kWiden) appender->Widen(rows[next]);
      appender->Append(times_ms[next], rows[next], header);
    }
    WriteSealed(series, kEncoding, std::span(times_ms).subspan(first, next - first), encoded_);
    first = next;
  }
}

void HeadCore::DropOpenChunk(Series* series) {
  if (IsHistogramKind(series->kind)) {
    histograms_.Free(series->column);
    series->column = 0;
    series->kind = ColumnKind::kNone;
  } else {
    DropFloats(&columns_, series);
  }
}

void HeadCore::Seal(SeriesIndex index, Series* series, StripeHolder* stripe) {
  // Only this thread changes samples, so the chunk is written without the lock, which files may
  // hold up.
  stripe->Release();
  written_.clear();
  if (series->kind == ColumnKind::kHistogram) {
    SealHistograms<model::Histogram>(*series);
  } else if (series->kind == ColumnKind::kFloatHistogram) {
    SealHistograms<model::FloatHistogram>(*series);
  } else {
    const std::vector<int64_t>& times_ms = TimesOf(series->times);
    decoded_values_.clear();
    DecodeFloats(columns_, *series, times_ms.size(), &decoded_values_);
    codec::EncodeXorChunk(times_ms, decoded_values_, &encoded_);
    WriteSealed(*series, codec::ChunkEncoding::kXor, times_ms, encoded_);
  }
  stripe->Hold(index);
  for (SealedChunks::Entry& entry : written_) {
    entry.older = series->sealed;
    series->sealed = sealed_.Link(entry);
  }
  DropOpenChunk(series);
}

HeadCore::State HeadCore::StateOf(const Series& series) const {
  if (series.kind == ColumnKind::kNone) return {};
  if (!IsHistogramKind(series.kind)) {
    return {.is_stale = model::IsStaleNan(NewestFloat(series)), .is_histogram = false};
  }
  const HistogramColumn& column = histograms_[series.column];
  return {.is_stale = column.sum_bits == model::kStaleNanBits,
          .is_histogram = true,
          .buckets = column.layout->num_buckets()};
}

void HeadCore::ChangeState(const State& from, const State& to) {
  if (from == to) return;
  if (from.is_stale != to.is_stale) num_stale_ += to.is_stale ? 1 : ~uint64_t{0};
  if (from.is_histogram != to.is_histogram) num_histograms_ += to.is_histogram ? 1 : ~uint64_t{0};
  num_buckets_ += to.buckets - from.buckets;
}

void HeadCore::ApplyFloat(SeriesIndex index, const model::FloatSample& sample,
                          StripeHolder* stripe) {
  Series* const series = &series_[index];
  const bool open = series->kind != ColumnKind::kNone;
  const TimesColumn& times = times_[series->times];
  // Overtaken since it was checked.
  if (series->has_samples() && sample.time_ms <= LastTimeOf(*series)) return;
  const State before = StateOf(*series);
  const bool cut =
      open && (before.is_histogram || times.count >= 2 * options_.samples_per_chunk ||
               sample.time_ms >= times.next_cut_ms || series->column_size > kMaxColumnBytes);
  const size_t count = cut || !open ? 0 : times.count;
  if (cut) Seal(index, series, stripe);
  if (count == 0) {
    metrics_->chunks_created->Add();
    num_chunks_.fetch_add(1, std::memory_order_relaxed);
  }
  series->times = times_.Append(series->times, sample.time_ms,
                                cut ? Times::Extend::kNewChunk : Times::Extend::kSameChunk);
  AppendFloat(&columns_, series, count, sample.value);
  NoteTime(sample.time_ms);
  ChangeState(before, StateOf(*series));
}

template <typename H>
void HeadCore::ApplyHistogram(SeriesIndex index, int64_t time_ms, const H& histogram,
                              StripeHolder* stripe) {
  Series* const series = &series_[index];
  constexpr ColumnKind kKind =
      std::is_same_v<H, model::Histogram> ? ColumnKind::kHistogram : ColumnKind::kFloatHistogram;
  const bool open = series->kind != ColumnKind::kNone;
  const TimesColumn& times = times_[series->times];
  if (series->has_samples() && time_ms <= LastTimeOf(*series)) return;
  const State before = StateOf(*series);
  bool cut = open && series->kind != kKind;
  codec::Verdict verdict{.fit = codec::Fit::kCut,
                         .next_header = codec::FirstHeader(histogram.hint)};
  if (open && !cut) {
    const HistogramColumn& column = histograms_[series->column];
    verdict = histograms_.Offer(series->column, histogram);
    const bool full = time_ms >= times.next_cut_ms || column.size >= kFullHistogramBytes;
    cut = verdict.fit == codec::Fit::kCut ||
          (full &&
           (times.count >= kMinHistogramSamples || time_ms >= times_.RangeEnd(times.first_ms))) ||
          times.count >= 2 * options_.samples_per_chunk;
  }
  const size_t count = cut || !open ? 0 : times.count;
  if (cut) Seal(index, series, stripe);
  if (count == 0) {
    metrics_->chunks_created->Add();
    num_chunks_.fetch_add(1, std::memory_order_relaxed);
    series->kind = kKind;
    series->column = histograms_.New();
  }
  series->times = times_.Append(series->times, time_ms,
                                cut ? Times::Extend::kNewChunk : Times::Extend::kSameChunk);
  if (count == 0) {
    histograms_.Start(series->column, histogram, verdict.next_header);
  } else {
    histograms_.Append(series->column, histogram, verdict.fit, count);
  }
  NoteTime(time_ms);
  ChangeState(before, StateOf(*series));
}

void HeadCore::Apply(SampleBatch* batch) {
  StripeHolder stripe(this);
  for (size_t i = 0; i < batch->floats.size(); ++i) {
    const SeriesIndex index = batch->float_series[i];
    stripe.Hold(index);
    const ColumnKind kind = series_[index].kind;
    const model::FloatSample& sample = batch->floats[i];
    if (IsHistogramKind(kind) && model::IsStaleNan(sample.value)) {
      // A histogram series ends with a histogram's marker.
      if (kind == ColumnKind::kHistogram) {
        model::Histogram stale;
        stale.sum = sample.value;
        ApplyHistogram(index, sample.time_ms, stale, &stripe);
      } else {
        model::FloatHistogram stale;
        stale.sum = sample.value;
        ApplyHistogram(index, sample.time_ms, stale, &stripe);
      }
      continue;
    }
    ApplyFloat(index, sample, &stripe);
  }
  for (const auto& pending : batch->histograms) {
    stripe.Hold(pending.series);
    ApplyHistogram(pending.series, pending.time_ms, pending.histogram, &stripe);
  }
  for (const auto& pending : batch->float_histograms) {
    stripe.Hold(pending.series);
    ApplyHistogram(pending.series, pending.time_ms, pending.histogram, &stripe);
  }
}

}  // namespace narthex::head
