// The tables of the head and what is done to them; who may do it when is the caller's matter:
//
//   index (symbols, label sets, postings)   index_mutex(): shared to look up, exclusive to add or
//                                           to put another in its place
//   series samples (series, times, columns)        changed by one committer at a time, between
//   BeginCommit()
//                                           and EndCommit(); each series under its stripe lock,
//                                           which readers of the series take too
//
// A series is a number: 0, 1, 2, ... When it has no samples left it goes, and its number is given
// to another once no reader is left that began before. The door's SeriesRef is the number and bits
// of the series' number in the log, which no other series ever has; so a stale ref is known as
// such.
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
#include "head/head_index.h"
#include "head/head_metrics.h"
#include "head/histogram_column.h"
#include "head/sealed_chunks.h"
#include "head/series.h"
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

class StripeHolder;

class HeadCore {
 public:
  HeadCore(const HeadOptions& options, HeadMetrics* metrics, const base::Logger* logger);

  base::SharedMutex* index_mutex() const { return &index_mutex_; }
  base::Mutex* StripeOf(SeriesIndex series) const {
    // Neighbours share a stripe, so that a batch takes each lock once in a while only.
    return &stripes_[(series / kStripeRun) % kNumStripes].mutex;
  }

  // ---- index

  // The current index; later ones may take its place. REQUIRES: index_mutex shared.
  const std::shared_ptr<HeadIndex>& index() const { return index_; }
  // Finds or adds. `wal_ref` numbers a new series (0: the next free number).
  // kResourceExhausted: the tables are full. REQUIRES: index_mutex exclusive.
  absl::StatusOr<SeriesIndex> AddSeries(std::span<const model::Label> labels, uint64_t wal_ref);
  void NoteWalRef(uint64_t wal_ref);

  // Series are numbered below num_slots(); not all of these numbers are in use.
  uint32_t num_slots() const { return num_slots_.load(std::memory_order_acquire); }
  uint32_t num_series() const { return num_series_.load(std::memory_order_relaxed); }

  // The series' number in the write-ahead log. REQUIRES: the series cannot go.
  uint64_t WalRefOf(SeriesIndex series) const { return series_[series].wal_ref(); }

  // ---- samples. REQUIRES of all that take a series: its stripe lock, if not said otherwise.

  const Series& series(SeriesIndex index) const { return series_[index]; }
  // Where the series of a ref is, if it still is there. No lock needed.
  static SeriesIndex IndexOf(model::SeriesRef ref) { return static_cast<SeriesIndex>(ref) - 1; }
  // The ref of a series that somebody asks for.
  model::SeriesRef UseSeries(SeriesIndex index);
  // Whether the series of `ref` is there; `index` is IndexOf(ref).
  bool UseRef(SeriesIndex index, model::SeriesRef ref) {
    if (RefOf(index) != ref) return false;
    series_[index].Clear(Series::kIdle);
    return true;
  }
  // INT64_MIN if it has no samples.
  int64_t LastTimeOf(const Series& series) const {
    if (series.kind != ColumnKind::kNone) return times_[series.times].last_ms;
    return series.sealed == 0 ? std::numeric_limits<int64_t>::min()
                              : sealed_[series.sealed].max_time_ms;
  }
  const Times& times() const { return times_; }
  const Arena& columns() const { return columns_; }
  const HistogramColumns& histograms() const { return histograms_; }
  const SealedChunks& sealed() const { return sealed_; }
  SealedChunks* mutable_sealed() { return &sealed_; }
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

  struct Reader {
    uint64_t seen = 0;        // It sees commits up to this one ...
    int64_t min_time_ms = 0;  // ... and samples from here on.
  };
  // A reader that begins now and wants samples from `min_time_ms` on.
  Reader RegisterReader(int64_t min_time_ms);
  void ReleaseReader(const Reader& reader);

  // ---- appenders, as far as the removal of series waits for them. Thread-safe.

  uint64_t RegisterAppender();
  void ReleaseAppender(uint64_t epoch);
  // Returns when all appenders that are open now are closed, or after `timeout_ms`: false.
  bool AwaitAppenders(int64_t timeout_ms);

  // ---- removal of what is old (head_truncate.cc). One caller at a time.

  // From now on readers see no samples before `min_time_ms` and appenders may add none. Returns
  // when all readers that see older ones are gone.
  void HideBefore(int64_t min_time_ms);
  // Drops chunks that end before `min_time_ms` of the series `first` up to `last`, and adds to
  // `*idle` which of them have no samples. Notes the oldest sample left in `*min_left_ms`.
  // REQUIRES: no commit runs.
  void DropChunks(SeriesIndex first, SeriesIndex last, int64_t min_time_ms,
                  std::vector<SeriesIndex>* idle, int64_t* min_left_ms);
  // Removes those of the series which are still idle, and returns them. `logged_until_ms`: the log
  // may have samples of them up to this time.
  // REQUIRES: appenders that were open when the series became idle are closed.
  std::vector<SeriesIndex> RemoveIdle(const std::vector<SeriesIndex>& idle,
                                      int64_t logged_until_ms);
  // Lets numbers be used again once no reader may hold them. REQUIRES: no commit runs.
  void Retire(const std::vector<SeriesIndex>& gone);
  // Gives back the memory that nothing uses any more. REQUIRES: no commit runs.
  void Trim();
  // After DropChunks() of all series.
  void RaiseMinTime(int64_t min_left_ms);

  // As in Head.
  std::vector<uint64_t> RefsTheLogNeeds(int64_t min_time_ms) const;
  // Notes that the log has samples up to `last_ms` under numbers that are no series' first ones.
  void NoteOtherRefs(std::vector<uint64_t> refs, int64_t last_ms);
  void ForgetRefsBefore(int64_t min_time_ms);

  // ---- replay

  // Makes `sealed` the chunks of a series that has no samples yet. REQUIRES: no commit runs.
  void SetSealed(SeriesIndex index, Handle sealed);

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
  void ApplyFloat(SeriesIndex index, const model::FloatSample& sample, StripeHolder* stripe);
  template <typename H>
  void ApplyHistogram(SeriesIndex index, int64_t time_ms, const H& histogram, StripeHolder* stripe);
  // Writes the open chunk as a sealed one; the series has no open chunk then.
  void Seal(SeriesIndex index, Series* series, StripeHolder* stripe);
  template <typename H>
  void SealHistograms(const Series& series);
  void WriteSealed(const Series& series, codec::ChunkEncoding encoding,
                   std::span<const int64_t> times_ms, std::string_view bytes);
  void DropOpenChunk(Series* series);
  model::SeriesRef RefOf(SeriesIndex index) const {
    return (series_[index].wal_ref() & 0x7fffffff) << 32 | (uint64_t{index} + 1);
  }
  const std::vector<int64_t>& TimesOf(TimesId id);
  void NoteTime(int64_t time_ms);
  // What a series adds to the counts of series of a kind.
  struct State {
    bool is_stale = false;
    bool is_histogram = false;
    size_t buckets = 0;
    bool operator==(const State&) const = default;
  };
  State StateOf(const Series& series) const;
  void ChangeState(const State& from, const State& to);
  std::shared_ptr<HeadIndex> RemakeIndex(const std::vector<SeriesIndex>& idle);

  const HeadOptions options_;
  HeadMetrics* const metrics_;

  mutable base::SharedMutex index_mutex_;
  std::shared_ptr<HeadIndex> index_ = std::make_shared<HeadIndex>();
  uint64_t last_wal_ref_ = 0;
  std::vector<SeriesIndex> free_slots_;     // Descending.
  std::vector<SeriesIndex> retired_slots_;  // Free once all readers see commit ...
  uint64_t retired_at_ = 0;                 // ... this one.
  // Series added while another index is made; `is_remaking_` says whether one is.
  bool is_remaking_ = false;
  std::vector<SeriesIndex> added_meanwhile_;
  // Numbers of the log under which no series is any more, and the last time under them.
  struct GoneRefs {
    int64_t last_ms = 0;
    std::vector<uint64_t> refs;
  };
  std::vector<GoneRefs> gone_refs_;
  std::atomic<uint32_t> num_slots_{0};
  std::atomic<uint32_t> num_series_{0};

  mutable std::array<Stripe, kNumStripes> stripes_;
  PagedArray<Series, 512> series_;
  Times times_;
  Arena columns_;
  HistogramColumns histograms_;
  SealedChunks sealed_;

  // Scratch of the committer.
  std::vector<int64_t> decoded_times_;
  TimesId decoded_id_ = kNoTimes;
  uint32_t decoded_version_ = 0;
  std::vector<double> decoded_values_;
  std::string encoded_;
  std::vector<SealedChunks::Entry> written_;  // Of the chunk being sealed.

  mutable base::Mutex metadata_mutex_;
  std::map<std::string, uint32_t> metadata_ids_ NX_GUARDED_BY(metadata_mutex_);
  std::unordered_map<SeriesIndex, uint32_t> metadata_of_ NX_GUARDED_BY(metadata_mutex_);

  mutable base::Mutex readers_mutex_;
  uint64_t published_ NX_GUARDED_BY(readers_mutex_) = 0;  // The newest visible commit.
  // Open ones, by what they see and from which time on.
  std::map<uint64_t, uint32_t> readers_ NX_GUARDED_BY(readers_mutex_);
  std::map<int64_t, uint32_t> reader_times_ NX_GUARDED_BY(readers_mutex_);
  int64_t hidden_before_ms_ NX_GUARDED_BY(readers_mutex_) = std::numeric_limits<int64_t>::min();
  std::map<uint64_t, uint32_t> appenders_ NX_GUARDED_BY(readers_mutex_);
  uint64_t appender_epoch_ NX_GUARDED_BY(readers_mutex_) = 0;
  base::CondVar somebody_left_;

  std::atomic<int64_t> min_time_ms_{std::numeric_limits<int64_t>::max()};
  std::atomic<int64_t> max_time_ms_{std::numeric_limits<int64_t>::min()};
  std::atomic<int64_t> min_valid_time_ms_;
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
