// Removal of what is old. Nothing is taken away under somebody's eyes:
//
//   readers     that see times before the cut are waited for; new ones see none (HideBefore)
//   appenders   may hold a series that has no samples yet, or none any more. Series without samples
//               are marked idle, any use takes the mark off, and once the appenders of that time
//               are closed those still marked go
//   numbers     of gone series go to new ones when no reader is left that began before
//
// The index is not changed but made anew without what is gone, beside the one in use.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "head/head_core.h"

namespace narthex::head {

namespace {

// Series that are looked at under one lock.
constexpr SeriesIndex kSlice = 1024;

}  // namespace

void HeadCore::HideBefore(int64_t min_time_ms) {
  RaiseMinValidTime(min_time_ms);
  base::MutexLock lock(&readers_mutex_);
  hidden_before_ms_ = std::max(hidden_before_ms_, min_time_ms);
  while (!reader_times_.empty() && reader_times_.begin()->first < min_time_ms) {
    somebody_left_.Wait(&readers_mutex_);
  }
}

bool HeadCore::AwaitAppenders(int64_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  base::MutexLock lock(&readers_mutex_);
  const uint64_t epoch = appender_epoch_++;
  while (!appenders_.empty() && appenders_.begin()->first <= epoch) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    somebody_left_.WaitFor(&readers_mutex_, left);
  }
  return true;
}

void HeadCore::DropChunks(SeriesIndex first, SeriesIndex last, int64_t min_time_ms,
                          std::vector<SeriesIndex>* idle, int64_t* min_left_ms) {
  StripeHolder stripe(this);
  for (SeriesIndex index = first; index < last; ++index) {
    stripe.Hold(index);
    Series* const series = &series_[index];
    if (!series->exists()) continue;
    uint64_t num_dropped = 0;
    if (series->kind != ColumnKind::kNone) {
      const TimesColumn& times = times_[series->times];
      if (times.last_ms < min_time_ms) {
        ChangeState(StateOf(*series), {});
        DropOpenChunk(series);
        times_.Drop(series->times);
        series->times = kNoTimes;
        ++num_dropped;
      } else {
        *min_left_ms = std::min(*min_left_ms, times.first_ms);
      }
    }
    if (series->sealed != 0) {
      const SealedChunks::Cut cut = sealed_.DropBefore(series->sealed, min_time_ms);
      series->sealed = cut.newest;
      num_dropped += cut.num_dropped;
      if (cut.newest != 0) *min_left_ms = std::min(*min_left_ms, cut.min_time_ms);
    }
    num_chunks_.fetch_sub(num_dropped, std::memory_order_relaxed);
    metrics_->chunks_removed->Add(static_cast<double>(num_dropped));
    if (series->has_samples()) continue;
    series->Set(Series::kIdle);
    idle->push_back(index);
  }
}

std::shared_ptr<HeadIndex> HeadCore::RemakeIndex(const std::vector<SeriesIndex>& idle) {
  auto remade = std::make_shared<HeadIndex>();
  std::shared_ptr<HeadIndex> old;
  SeriesIndex end = 0;
  {
    base::WriterLock lock(&index_mutex_);
    is_remaking_ = true;
    added_meanwhile_.clear();
    old = index_;
    end = num_slots();
  }
  std::vector<model::Label> labels;
  auto next_idle = idle.begin();
  for (SeriesIndex first = 0; first < end; first += kSlice) {
    base::ReaderLock lock(&index_mutex_);
    for (SeriesIndex index = first; index < std::min(first + kSlice, end); ++index) {
      while (next_idle != idle.end() && *next_idle < index) ++next_idle;
      if (!old->Contains(index) || (next_idle != idle.end() && *next_idle == index)) continue;
      labels.clear();
      old->AppendLabelTexts(index, &labels);
      remade->Add(index, labels);
    }
  }
  return remade;
}

std::vector<SeriesIndex> HeadCore::RemoveIdle(const std::vector<SeriesIndex>& idle,
                                              int64_t logged_until_ms) {
  const std::shared_ptr<HeadIndex> remade = RemakeIndex(idle);
  std::vector<SeriesIndex> gone;
  std::vector<uint64_t> gone_refs;
  std::shared_ptr<HeadIndex> old;  // Let go of after the lock.
  base::WriterLock lock(&index_mutex_);
  std::vector<model::Label> labels;
  const auto keep = [&](SeriesIndex index) {
    if (remade->Contains(index)) return;
    labels.clear();
    index_->AppendLabelTexts(index, &labels);
    remade->Add(index, labels);
  };
  for (const SeriesIndex index : idle) {
    base::MutexLock stripe(StripeOf(index));
    Series& series = series_[index];
    if (!series.Has(Series::kIdle) || series.has_samples()) {
      keep(index);
      continue;
    }
    if (series.Has(Series::kLogged)) gone_refs.push_back(series.wal_ref());
    series = {};
    gone.push_back(index);
  }
  for (const SeriesIndex index : added_meanwhile_) keep(index);
  gone_refs.shrink_to_fit();
  if (!gone_refs.empty()) gone_refs_.push_back({logged_until_ms, std::move(gone_refs)});
  is_remaking_ = false;
  added_meanwhile_ = {};
  old = std::exchange(index_, remade);
  {
    base::MutexLock metadata_lock(&metadata_mutex_);
    for (const SeriesIndex index : gone) metadata_of_.erase(index);
  }
  num_series_.fetch_sub(static_cast<uint32_t>(gone.size()), std::memory_order_relaxed);
  metrics_->series_removed->Add(static_cast<double>(gone.size()));
  return gone;
}

void HeadCore::Retire(const std::vector<SeriesIndex>& gone) {
  base::WriterLock lock(&index_mutex_);
  base::MutexLock readers_lock(&readers_mutex_);
  const bool unseen = readers_.empty() || readers_.begin()->first >= retired_at_;
  if (unseen) {
    free_slots_.insert(free_slots_.end(), retired_slots_.begin(), retired_slots_.end());
    std::sort(free_slots_.begin(), free_slots_.end(), std::greater<>());
    retired_slots_.clear();
  }
  retired_slots_.insert(retired_slots_.end(), gone.begin(), gone.end());
  // An empty commit, which readers that begin from now on see.
  retired_at_ = ++published_;
}

void HeadCore::Trim() {
  columns_.Trim();
  histograms_.Trim();
  times_.Trim();
  sealed_.Trim();
}

void HeadCore::RaiseMinTime(int64_t min_left_ms) {
  // As the reference: up to the oldest sample left, but not into what may still be appended.
  const int64_t max_ms = max_time_ms();
  const int64_t half = options_.block_range_ms / 2;
  const int64_t appendable = max_ms < std::numeric_limits<int64_t>::min() + half
                                 ? std::numeric_limits<int64_t>::min()
                                 : max_ms - half;
  const int64_t valid = std::max(appendable, min_valid_time_ms_.load());
  const int64_t min_ms = std::max(std::min(min_left_ms, valid), min_valid_time_ms_.load());
  min_time_ms_.store(min_ms);
  RaiseMinValidTime(min_ms);
  int64_t max = max_time_ms_.load();
  while (max < min_ms && !max_time_ms_.compare_exchange_weak(max, min_ms)) {
  }
}

// ---- numbers in the log

std::vector<uint64_t> HeadCore::RefsTheLogNeeds(int64_t min_time_ms) const {
  std::vector<uint64_t> refs;
  base::ReaderLock lock(&index_mutex_);
  for (SeriesIndex index = 0; index < num_slots(); ++index) {
    base::MutexLock stripe(StripeOf(index));
    if (series_[index].exists()) refs.push_back(series_[index].wal_ref());
  }
  for (const GoneRefs& gone : gone_refs_) {
    if (gone.last_ms >= min_time_ms) refs.insert(refs.end(), gone.refs.begin(), gone.refs.end());
  }
  std::sort(refs.begin(), refs.end());
  return refs;
}

void HeadCore::NoteOtherRefs(std::vector<uint64_t> refs, int64_t last_ms) {
  base::WriterLock lock(&index_mutex_);
  gone_refs_.push_back({last_ms, std::move(refs)});
}

void HeadCore::ForgetRefsBefore(int64_t min_time_ms) {
  base::WriterLock lock(&index_mutex_);
  std::erase_if(gone_refs_, [&](const GoneRefs& gone) { return gone.last_ms < min_time_ms; });
}

}  // namespace narthex::head
