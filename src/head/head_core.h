// The tables of the head and what is done to them; who may do it when is the caller's matter:
//
//   index (symbols, label sets, postings)   index_mutex(): shared to look up, exclusive to add
//   series samples (series, times, columns)        changed by one committer at a time, between
//   BeginCommit()
//                                           and EndCommit(); each series under its stripe lock,
//                                           which readers of the series take too
//
// Lock order: index_mutex, then one stripe, then readers_mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "head/arena.h"
#include "head/head_metrics.h"
#include "head/histogram_column.h"
#include "head/label_sets.h"
#include "head/postings.h"
#include "head/sealed_chunks.h"
#include "head/series.h"
#include "head/symbol_store.h"
#include "head/times.h"
#include "narthex/base/mutex.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/head/head.h"
#include "narthex/model/appendable.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::head {

template <typename H>
struct PendingHistogram {
  SeriesIndex series = kNoSeriesIndex;
  int64_t time_ms = 0;
  H histogram;
};

// Samples of one appender, in an order in which each series' types may be applied: floats, then
// integer histograms, then float histograms. `floats` carry the numbers of the write-ahead log.
struct SampleBatch {
  std::vector<model::FloatSample> floats;
  std::vector<SeriesIndex> float_series;  // Of `floats`, one each.
  std::vector<PendingHistogram<model::Histogram>> histograms;
  std::vector<PendingHistogram<model::FloatHistogram>> float_histograms;
};

struct PendingMetadata {
  SeriesIndex series = kNoSeriesIndex;
  model::Metadata metadata;
};

// Times between which an appender may add samples; Prometheus's head rules.
struct AppendBounds {
  int64_t min_valid_time_ms = std::numeric_limits<int64_t>::min();
};

class HeadCore {
 public:
  HeadCore(const HeadOptions& options, HeadMetrics* metrics);

  base::SharedMutex* index_mutex() const { return &index_mutex_; }
  base::Mutex* StripeOf(SeriesIndex series) const {
    // Neighbours share a stripe, so that a batch takes each lock once in a while only.
    return &stripes_[(series / kStripeRun) % kNumStripes].mutex;
  }

  // ---- index

  // kNoSeriesIndex if there is none. REQUIRES: index_mutex shared.
  SeriesIndex FindSeries(std::span<const model::Label> labels) const;
  // Finds or adds. `wal_ref` numbers a new series (0: the next free number).
  // kResourceExhausted: the tables are full. REQUIRES: index_mutex exclusive.
  absl::StatusOr<SeriesIndex> AddSeries(std::span<const model::Label> labels, uint64_t wal_ref);
  void NoteWalRef(uint64_t wal_ref);

  const SymbolStore& symbols() const { return symbols_; }
  const LabelSets& label_sets() const { return label_sets_; }
  const Postings& postings() const { return postings_; }
  uint32_t num_series() const { return num_series_.load(std::memory_order_acquire); }

  // The series' number in the write-ahead log, which never changes.
  uint64_t WalRefOf(SeriesIndex series) const { return series_[series].wal_ref(); }
  // The labels of a series as text; views valid as long as the head.
  void AppendLabelTexts(SeriesIndex series, std::vector<model::Label>* out) const;

  // ---- samples. REQUIRES of all that take a series: its stripe lock, if not said otherwise.

  const Series& series(SeriesIndex index) const { return series_[index]; }
  const Times& times() const { return times_; }
  const Arena& columns() const { return columns_; }
  const HistogramColumns& histograms() const { return histograms_; }
  const SealedChunkStore& sealed() const { return *sealed_; }
  void MarkLogged(SeriesIndex index) { series_[index].Set(Series::kLogged); }

  model::AppendOutcome CheckFloat(const Series& series, int64_t time_ms, double value,
                                  AppendBounds bounds) const;
  template <typename H>
  model::AppendOutcome CheckHistogram(const Series& series, int64_t time_ms, const H& histogram,
                                      AppendBounds bounds) const;

  // What an appender that begins now may add; `time_ms` is its first sample's, which sets the
  // range of an empty head. No lock needed.
  AppendBounds BoundsOf(int64_t time_ms);
  void RaiseMinValidTime(int64_t time_ms);

  // A commit: nothing of it is visible to readers before EndCommit(). One at a time, no stripe
  // lock.
  void BeginCommit();
  void Apply(SampleBatch* batch);
  void EndCommit();

  // Metadata of series. Thread-safe.
  bool SameMetadata(SeriesIndex index, const model::Metadata& metadata) const;
  void SetMetadata(const PendingMetadata& pending);

  // ---- readers. Thread-safe.

  // A reader that begins now sees commits up to the returned one until it is released.
  uint64_t RegisterReader();
  void ReleaseReader(uint64_t seen);

  int64_t min_time_ms() const { return min_time_ms_.load(std::memory_order_relaxed); }
  int64_t max_time_ms() const { return max_time_ms_.load(std::memory_order_relaxed); }
  uint64_t num_chunks() const { return num_chunks_.load(std::memory_order_relaxed); }
  uint64_t num_stale_series() const { return num_stale_.load(std::memory_order_relaxed); }
  uint64_t num_histogram_series() const { return num_histograms_.load(std::memory_order_relaxed); }
  uint64_t num_histogram_buckets() const { return num_buckets_.load(std::memory_order_relaxed); }

  // Takes the index lock, and must not run beside a commit.
  MemoryBreakdown Memory() const;

 private:
  static constexpr size_t kNumStripes = 64;
  static constexpr size_t kStripeRun = 64;
  struct alignas(64) Stripe {
    base::Mutex mutex;
  };
  void ApplyFloat(SeriesIndex index, Series* series, const model::FloatSample& sample);
  template <typename H>
  void ApplyHistogram(SeriesIndex index, Series* series, int64_t time_ms, const H& histogram);
  // Writes the open chunk as a sealed one; the series has no open chunk then.
  void Seal(SeriesIndex index, Series* series);
  template <typename H>
  void SealHistograms(Series* series, uint32_t column, size_t count);
  void AddSealed(Series* series, codec::ChunkEncoding encoding, std::span<const int64_t> times_ms,
                 std::string_view bytes);
  const std::vector<int64_t>& TimesOf(TimesId id);
  void NoteTime(int64_t time_ms);
  void NoteState(bool was_stale, bool was_histogram, size_t old_buckets, const Series& series);

  const HeadOptions options_;
  HeadMetrics* const metrics_;

  mutable base::SharedMutex index_mutex_;
  SymbolStore symbols_;
  LabelSets label_sets_;
  Postings postings_;
  std::vector<model::SymbolLabel> new_labels_;
  uint64_t last_wal_ref_ = 0;
  std::atomic<uint32_t> num_series_{0};

  mutable std::array<Stripe, kNumStripes> stripes_;
  PagedArray<Series, 512> series_;
  Times times_;
  Arena columns_;
  HistogramColumns histograms_;
  std::unique_ptr<SealedChunkStore> sealed_;

  // Scratch of the committer.
  std::vector<int64_t> decoded_times_;
  TimesId decoded_id_ = kNoTimes;
  uint32_t decoded_version_ = 0;
  std::vector<double> decoded_values_;
  std::string encoded_;

  mutable base::Mutex metadata_mutex_;
  std::map<std::string, uint32_t> metadata_ids_ NX_GUARDED_BY(metadata_mutex_);
  std::unordered_map<SeriesIndex, uint32_t> metadata_of_ NX_GUARDED_BY(metadata_mutex_);

  mutable base::Mutex readers_mutex_;
  uint64_t published_ NX_GUARDED_BY(readers_mutex_) = 0;  // The newest visible commit.
  std::map<uint64_t, uint32_t> readers_
      NX_GUARDED_BY(readers_mutex_);  // Open ones, by what they see.

  std::atomic<int64_t> min_time_ms_{std::numeric_limits<int64_t>::max()};
  std::atomic<int64_t> max_time_ms_{std::numeric_limits<int64_t>::min()};
  std::atomic<int64_t> min_valid_time_ms_{std::numeric_limits<int64_t>::min()};
  std::atomic<uint64_t> num_chunks_{0};
  std::atomic<uint64_t> num_stale_{0};
  std::atomic<uint64_t> num_histograms_{0};
  std::atomic<uint64_t> num_buckets_{0};
};

// Holds the stripe lock of the series last asked for, so that a run of neighbours locks once.
class StripeHolder {
 public:
  explicit StripeHolder(const HeadCore* core) : core_(core) {}
  ~StripeHolder() { Release(); }
  StripeHolder(const StripeHolder&) = delete;
  StripeHolder& operator=(const StripeHolder&) = delete;

  void Hold(SeriesIndex series) NX_NO_THREAD_SAFETY_ANALYSIS;
  void Release() NX_NO_THREAD_SAFETY_ANALYSIS;

 private:
  const HeadCore* const core_;
  base::Mutex* held_ = nullptr;
};

}  // namespace narthex::head
