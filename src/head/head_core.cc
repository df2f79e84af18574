#include "head/head_core.h"

#include <algorithm>
#include <bit>

#include "head/float_column.h"
#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::head {

using model::AppendOutcome;
using model::Symbol;
using model::SymbolLabel;

namespace {

// A chunk whose values take more is cut early, as Prometheus keeps chunks near a KiB.
constexpr size_t kMaxColumnBytes = 1005;
constexpr size_t kFullHistogramBytes = 1024;
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

HeadCore::HeadCore(const HeadOptions& options, HeadMetrics* metrics)
    : options_(options),
      metrics_(metrics),
      times_(options.block_range_ms, options.samples_per_chunk),
      sealed_(std::make_unique<MemoryChunkStore>()) {}

// ---- index

SeriesIndex HeadCore::FindSeries(std::span<const model::Label> labels) const {
  std::vector<SymbolLabel> symbols;
  symbols.reserve(labels.size());
  for (const model::Label& label : labels) {
    const auto name = symbols_.Find(label.name);
    const auto value = name ? symbols_.Find(label.value) : std::nullopt;
    if (!value) return kNoSeriesIndex;
    symbols.push_back({*name, *value});
  }
  return label_sets_.Find(symbols);
}

absl::StatusOr<SeriesIndex> HeadCore::AddSeries(std::span<const model::Label> labels,
                                                uint64_t wal_ref) {
  const SeriesIndex found = FindSeries(labels);
  if (found != kNoSeriesIndex) return found;
  if (label_sets_.size() >= kMaxSeries || symbols_.num_bytes() > kMaxTableBytes ||
      label_sets_.set_bytes() > kMaxTableBytes || (wal_ref == 0 && last_wal_ref_ >= kMaxWalRef)) {
    return base::ResourceExhausted("head: too many series: series=", label_sets_.size());
  }
  new_labels_.clear();
  for (const model::Label& label : labels) {
    const Symbol name = symbols_.Intern(label.name);
    new_labels_.push_back({name, symbols_.Intern(label.value)});
  }
  const SeriesIndex index = label_sets_.Add(new_labels_);
  for (const SymbolLabel& label : new_labels_) postings_.Add(label.name, label.value, index);
  if (wal_ref == 0) wal_ref = last_wal_ref_ + 1;
  NoteWalRef(wal_ref);
  NX_CHECK_EQ(series_.Grow(), size_t{index});
  Series& series = series_[index];
  series.wal_ref_low = static_cast<uint32_t>(wal_ref);
  series.wal_ref_high = static_cast<uint8_t>(wal_ref >> 32);
  num_series_.store(index + 1, std::memory_order_release);
  metrics_->series_created->Add();
  return index;
}

void HeadCore::NoteWalRef(uint64_t wal_ref) { last_wal_ref_ = std::max(last_wal_ref_, wal_ref); }

void HeadCore::AppendLabelTexts(SeriesIndex series, std::vector<model::Label>* out) const {
  std::vector<SymbolLabel> labels;
  label_sets_.Decode(series, &labels);
  for (const SymbolLabel& label : labels) {
    out->push_back({symbols_.Text(label.name), symbols_.Text(label.value)});
  }
}

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
  if (series.kind == ColumnKind::kNone) return AppendOutcome::kAccepted;
  const int64_t last_ms = times_[series.times].last_ms;
  if (time_ms > last_ms) return AppendOutcome::kAccepted;
  if (time_ms < last_ms) return AppendOutcome::kOutOfOrder;
  if (IsHistogramKind(series.kind)) return AppendOutcome::kDuplicate;
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
  if (series.kind == ColumnKind::kNone) return AppendOutcome::kAccepted;
  const int64_t last_ms = times_[series.times].last_ms;
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

uint64_t HeadCore::RegisterReader() {
  base::MutexLock lock(&readers_mutex_);
  ++readers_[published_];
  return published_;
}

void HeadCore::ReleaseReader(uint64_t seen) {
  base::MutexLock lock(&readers_mutex_);
  const auto entry = readers_.find(seen);
  NX_CHECK(entry != readers_.end());
  if (--entry->second == 0) readers_.erase(entry);
}

void HeadCore::NoteTime(int64_t time_ms) {
  if (time_ms > max_time_ms_.load(std::memory_order_relaxed)) max_time_ms_.store(time_ms);
  if (time_ms < min_time_ms_.load(std::memory_order_relaxed)) min_time_ms_.store(time_ms);
}

MemoryBreakdown HeadCore::Memory() const {
  base::ReaderLock lock(&index_mutex_);
  MemoryBreakdown memory;
  memory.symbols = symbols_.num_bytes();
  memory.label_sets = label_sets_.set_bytes();
  memory.series_table = label_sets_.table_bytes();
  memory.postings = postings_.num_bytes();
  memory.series_state = series_.num_bytes() + sizeof(*this);
  memory.timestamps = times_.num_bytes();
  memory.values = columns_.num_bytes();
  memory.histograms = histograms_.num_bytes();
  memory.sealed_chunks = sealed_->num_bytes();
  base::MutexLock metadata_lock(&metadata_mutex_);
  memory.series_state += metadata_of_.size() * 32;
  for (const auto& [key, id] : metadata_ids_) memory.symbols += 64 + key.capacity();
  return memory;
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

void HeadCore::AddSealed(Series* series, codec::ChunkEncoding encoding,
                         std::span<const int64_t> times_ms, std::string_view bytes) {
  series->sealed =
      sealed_->Add(series->wal_ref(), {.older = series->sealed,
                                       .min_time_ms = times_ms.front(),
                                       .max_time_ms = times_ms.back(),
                                       .num_samples = static_cast<uint16_t>(times_ms.size()),
                                       .encoding = encoding,
                                       .bytes = bytes});
}

template <typename H>
void HeadCore::SealHistograms(Series* series, uint32_t column, size_t count) {
  constexpr auto kEncoding = std::is_same_v<H, model::Histogram>
                                 ? codec::ChunkEncoding::kHistogram
                                 : codec::ChunkEncoding::kFloatHistogram;
  const std::vector<int64_t>& times_ms = TimesOf(series->times);
  std::vector<H> rows;
  histograms_.Decode(column, count, &rows);
  codec::CounterReset header = histograms_[column].header;
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
    AddSealed(series, kEncoding, std::span(times_ms).subspan(first, next - first), encoded_);
    first = next;
  }
}

void HeadCore::Seal(SeriesIndex /*index*/, Series* series) {
  const size_t count = times_[series->times].count;
  if (series->kind == ColumnKind::kHistogram) {
    SealHistograms<model::Histogram>(series, series->column, count);
    histograms_.Free(series->column);
    series->column = 0;
    series->kind = ColumnKind::kNone;
  } else if (series->kind == ColumnKind::kFloatHistogram) {
    SealHistograms<model::FloatHistogram>(series, series->column, count);
    histograms_.Free(series->column);
    series->column = 0;
    series->kind = ColumnKind::kNone;
  } else {
    decoded_values_.clear();
    DecodeFloats(columns_, *series, count, &decoded_values_);
    const std::vector<int64_t>& times_ms = TimesOf(series->times);
    codec::EncodeXorChunk(times_ms, decoded_values_, &encoded_);
    AddSealed(series, codec::ChunkEncoding::kXor, times_ms, encoded_);
    DropFloats(&columns_, series);
  }
}

// Keeps the counts of stale and of histogram series right after a sample.
void HeadCore::NoteState(bool was_stale, bool was_histogram, size_t old_buckets,
                         const Series& series) {
  const bool is_histogram = IsHistogramKind(series.kind);
  bool is_stale = false;
  size_t buckets = 0;
  if (is_histogram) {
    const HistogramColumn& column = histograms_[series.column];
    is_stale = column.sum_bits == model::kStaleNanBits;
    buckets = column.layout->num_buckets();
  } else {
    is_stale = model::IsStaleNan(NewestFloat(series));
  }
  if (is_stale != was_stale) num_stale_ += is_stale ? 1 : ~uint64_t{0};
  if (is_histogram != was_histogram) num_histograms_ += is_histogram ? 1 : ~uint64_t{0};
  if (buckets != old_buckets) num_buckets_ += buckets - old_buckets;
}

void HeadCore::ApplyFloat(SeriesIndex index, Series* series, const model::FloatSample& sample) {
  const bool open = series->kind != ColumnKind::kNone;
  const TimesColumn& times = times_[series->times];
  if (open && sample.time_ms <= times.last_ms) return;  // Overtaken since it was checked.
  const bool was_histogram = IsHistogramKind(series->kind);
  bool was_stale = false;
  size_t old_buckets = 0;
  if (was_histogram) {
    const HistogramColumn& column = histograms_[series->column];
    was_stale = column.sum_bits == model::kStaleNanBits;
    old_buckets = column.layout->num_buckets();
  } else if (open) {
    was_stale = model::IsStaleNan(NewestFloat(*series));
  }

  const bool cut =
      open && (was_histogram || times.count >= 2 * options_.samples_per_chunk ||
               sample.time_ms >= times.next_cut_ms || series->column_size > kMaxColumnBytes);
  const size_t count = cut || !open ? 0 : times.count;
  if (cut) Seal(index, series);
  if (count == 0) {
    metrics_->chunks_created->Add();
    num_chunks_.fetch_add(1, std::memory_order_relaxed);
  }
  series->times = times_.Append(series->times, sample.time_ms,
                                cut ? Times::Extend::kNewChunk : Times::Extend::kSameChunk);
  AppendFloat(&columns_, series, count, sample.value);
  NoteTime(sample.time_ms);
  NoteState(was_stale, was_histogram, old_buckets, *series);
}

template <typename H>
void HeadCore::ApplyHistogram(SeriesIndex index, Series* series, int64_t time_ms,
                              const H& histogram) {
  constexpr ColumnKind kKind =
      std::is_same_v<H, model::Histogram> ? ColumnKind::kHistogram : ColumnKind::kFloatHistogram;
  const bool open = series->kind != ColumnKind::kNone;
  const TimesColumn& times = times_[series->times];
  if (open && time_ms <= times.last_ms) return;
  const bool was_histogram = IsHistogramKind(series->kind);
  bool was_stale = false;
  size_t old_buckets = 0;
  bool cut = open && series->kind != kKind;
  codec::Verdict verdict{.fit = codec::Fit::kCut,
                         .next_header = codec::FirstHeader(histogram.hint)};
  if (was_histogram) {
    const HistogramColumn& column = histograms_[series->column];
    was_stale = column.sum_bits == model::kStaleNanBits;
    old_buckets = column.layout->num_buckets();
    if (!cut) {
      verdict = histograms_.Offer(series->column, histogram);
      const bool full = time_ms >= times.next_cut_ms || column.size >= kFullHistogramBytes;
      cut = verdict.fit == codec::Fit::kCut ||
            (full &&
             (times.count >= kMinHistogramSamples || time_ms >= times_.RangeEnd(times.first_ms))) ||
            times.count >= 2 * options_.samples_per_chunk;
    }
  } else if (open) {
    was_stale = model::IsStaleNan(NewestFloat(*series));
  }
  const size_t count = cut || !open ? 0 : times.count;
  if (cut) Seal(index, series);
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
  NoteState(was_stale, was_histogram, old_buckets, *series);
}

void HeadCore::Apply(SampleBatch* batch) {
  StripeHolder stripe(this);
  for (size_t i = 0; i < batch->floats.size(); ++i) {
    const SeriesIndex index = batch->float_series[i];
    stripe.Hold(index);
    Series* const series = &series_[index];
    const model::FloatSample& sample = batch->floats[i];
    if (IsHistogramKind(series->kind) && model::IsStaleNan(sample.value)) {
      // A histogram series ends with a histogram's marker.
      if (series->kind == ColumnKind::kHistogram) {
        model::Histogram stale;
        stale.sum = sample.value;
        ApplyHistogram(index, series, sample.time_ms, stale);
      } else {
        model::FloatHistogram stale;
        stale.sum = sample.value;
        ApplyHistogram(index, series, sample.time_ms, stale);
      }
      continue;
    }
    ApplyFloat(index, series, sample);
  }
  for (const auto& pending : batch->histograms) {
    stripe.Hold(pending.series);
    ApplyHistogram(pending.series, &series_[pending.series], pending.time_ms, pending.histogram);
  }
  for (const auto& pending : batch->float_histograms) {
    stripe.Hold(pending.series);
    ApplyHistogram(pending.series, &series_[pending.series], pending.time_ms, pending.histogram);
  }
}

}  // namespace narthex::head
