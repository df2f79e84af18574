#include "narthex/head/head.h"

#include <algorithm>

#include "head/committer.h"
#include "head/head_appender.h"
#include "head/head_core.h"
#include "head/head_querier.h"
#include "head/record_sink.h"
#include "head/replay.h"
#include "narthex/base/status.h"

namespace narthex::head {
namespace {

using model::Symbol;

// A chunk stays within a range, or two around the epoch.
constexpr int64_t kMaxBlockRangeMs = SealedChunks::kMaxSpanMs / 2;

// The `limit` largest of `counts`, ties by name.
std::vector<NamedCount> Largest(std::vector<NamedCount> counts, size_t limit) {
  std::sort(counts.begin(), counts.end(), [](const NamedCount& a, const NamedCount& b) {
    return a.value != b.value ? a.value > b.value : a.name < b.name;
  });
  if (counts.size() > limit) counts.resize(limit);
  return counts;
}

class HeadImpl final : public Head {
 public:
  HeadImpl(const HeadOptions& options, const HeadContext& context)
      : options_(options),
        metrics_(context.registry, context.clock),
        core_(options, &metrics_, context.logger),
        committer_(&core_) {
    AddGauges();
  }
  ~HeadImpl() override { base::IgnoreError(Close(), "nobody is left to hear of it"); }

  uint64_t num_wal_corruptions() const override {
    return static_cast<uint64_t>(metrics_.wal_corruptions->value());
  }
  HeadMetrics* metrics() { return &metrics_; }
  HeadCore* core() { return &core_; }
  Committer* committer() { return &committer_; }

  std::unique_ptr<model::Appender> NewAppender() override {
    return std::make_unique<HeadAppender>(&core_, &committer_, &metrics_);
  }
  absl::StatusOr<std::unique_ptr<model::Querier>> NewQuerier(
      model::TimeRange range) const override {
    return std::unique_ptr<model::Querier>(std::make_unique<HeadQuerier>(&core_, range));
  }
  bool IsCompactable() const override;
  bool AwaitAppenders(int64_t timeout_ms) override { return core_.AwaitAppenders(timeout_ms); }
  absl::Status Truncate(int64_t min_time_ms) override;
  // Drops samples before `min_time_ms` and series without samples from memory.
  // The oldest sample left, INT64_MAX if none is.
  int64_t FreeBefore(int64_t min_time_ms);
  std::vector<uint64_t> RefsTheLogNeeds(int64_t min_time_ms) const override {
    return core_.RefsTheLogNeeds(min_time_ms);
  }
  void ForgetRefsBefore(int64_t min_time_ms) override { core_.ForgetRefsBefore(min_time_ms); }
  absl::Status Close() override;
  HeadStats Stats(size_t limit) const override;
  MemoryBreakdown Memory() const override {
    base::MutexLock lock(committer_.apply_mutex());
    return core_.Memory();
  }
  int64_t min_time_ms() const override { return core_.min_time_ms(); }
  int64_t max_time_ms() const override { return core_.max_time_ms(); }

 private:
  void AddGauges();

  const HeadOptions options_;
  HeadMetrics metrics_;
  mutable HeadCore core_;
  mutable Committer committer_;
};

void HeadImpl::AddGauges() {
  base::Registry* const registry = metrics_.registry();
  const auto add = [&](const char* name, const char* help, auto read) {
    registry->AddGaugeFunction(name, help, [read] { return static_cast<double>(read()); });
  };
  const HeadCore* const core = &core_;
  add("prometheus_tsdb_head_series", "Total number of series in the head block.",
      [core] { return core->num_series(); });
  add("prometheus_tsdb_head_stale_series", "Total number of stale series in the head block.",
      [core] { return core->num_stale_series(); });
  add("prometheus_tsdb_head_native_histogram_series",
      "Total number of series in the head whose newest sample is a native histogram.",
      [core] { return core->num_histogram_series(); });
  add("prometheus_tsdb_head_native_histogram_buckets",
      "Total number of buckets of the native histogram series in the head.",
      [core] { return core->num_histogram_buckets(); });
  add("prometheus_tsdb_head_chunks", "Total number of chunks in the head block.",
      [core] { return core->num_chunks(); });
  add("prometheus_tsdb_head_min_time",
      "Minimum time bound of the head block. The unit is decided by the library consumer.",
      [core] { return core->min_time_ms(); });
  add("prometheus_tsdb_head_max_time",
      "Maximum timestamp of the head block. The unit is decided by the library consumer.",
      [core] { return core->max_time_ms(); });
  add("prometheus_tsdb_head_min_time_seconds", "Minimum time bound of the head block.",
      [core] { return core->min_time_ms() / 1000; });
  add("prometheus_tsdb_head_max_time_seconds", "Maximum timestamp of the head block.",
      [core] { return core->max_time_ms() / 1000; });
}

bool HeadImpl::IsCompactable() const {
  const int64_t min_ms = core_.min_time_ms();
  const int64_t max_ms = core_.max_time_ms();
  // Unsigned, as times may be anything.
  return min_ms <= max_ms && static_cast<uint64_t>(max_ms) - static_cast<uint64_t>(min_ms) >
                                 static_cast<uint64_t>(options_.block_range_ms / 2 * 3);
}

int64_t HeadImpl::FreeBefore(int64_t min_time_ms) {
  // Series looked at while commits wait.
  constexpr SeriesIndex kSlice = 4096;
  core_.HideBefore(min_time_ms);
  std::vector<SeriesIndex> idle;
  int64_t min_left_ms = std::numeric_limits<int64_t>::max();
  const SeriesIndex end = core_.num_slots();
  for (SeriesIndex first = 0; first < end; first += kSlice) {
    base::MutexLock lock(committer_.apply_mutex());
    core_.DropChunks(first, std::min(first + kSlice, end), min_time_ms, &idle, &min_left_ms);
  }
  if (!idle.empty() && core_.AwaitAppenders(options_.appender_patience_ms)) {
    const int64_t logged_until_ms =
        min_left_ms == std::numeric_limits<int64_t>::max() ? min_time_ms : min_left_ms;
    const std::vector<SeriesIndex> gone = core_.RemoveIdle(idle, logged_until_ms);
    base::MutexLock lock(committer_.apply_mutex());
    core_.Retire(gone);
  }
  return min_left_ms;
}

absl::Status HeadImpl::Truncate(int64_t min_time_ms) {
  if (core_.min_time_ms() >= min_time_ms) return absl::OkStatus();
  metrics_.truncations->Add();
  core_.RaiseMinTime(FreeBefore(min_time_ms));
  absl::Status status;
  {
    base::MutexLock lock(committer_.apply_mutex());
    core_.Trim();
    status = core_.mutable_sealed()->RemoveFilesBefore(min_time_ms);
  }
  if (!status.ok()) metrics_.truncations_failed->Add();
  return status;
}

absl::Status HeadImpl::Close() {
  const absl::Status closed = committer_.Close();
  base::MutexLock lock(committer_.apply_mutex());
  const absl::Status files = core_.mutable_sealed()->Close();
  return closed.ok() ? files : closed;
}

HeadStats HeadImpl::Stats(size_t limit) const {
  HeadStats stats;
  stats.num_series = core_.num_series();
  stats.num_chunks = core_.num_chunks();
  stats.min_time_ms = core_.min_time_ms();
  stats.max_time_ms = core_.max_time_ms();
  base::ReaderLock lock(core_.index_mutex());
  const SymbolStore& symbols = core_.index()->symbols();
  const Postings& postings = core_.index()->postings();
  stats.num_label_pairs = postings.num_pairs();
  postings.ForEachName([&](Symbol name, uint32_t num_values) {
    const std::string_view name_text = symbols.Text(name);
    uint64_t bytes = 0;
    postings.ForEachValue(name, [&](Symbol value, uint32_t count) {
      const std::string_view value_text = symbols.Text(value);
      bytes += value_text.size();
      stats.series_by_pair.push_back({base::StrCat(name_text, "=", value_text), count});
      if (name_text == model::kMetricName) {
        stats.series_by_metric.push_back({std::string(value_text), count});
      }
    });
    // Bounds the list while it is made: it may be long.
    if (stats.series_by_pair.size() > 65536) {
      stats.series_by_pair = Largest(std::move(stats.series_by_pair), limit);
    }
    stats.values_by_label.push_back({std::string(name_text), num_values});
    stats.bytes_by_label.push_back({std::string(name_text), bytes});
  });
  stats.series_by_metric = Largest(std::move(stats.series_by_metric), limit);
  stats.series_by_pair = Largest(std::move(stats.series_by_pair), limit);
  stats.values_by_label = Largest(std::move(stats.values_by_label), limit);
  stats.bytes_by_label = Largest(std::move(stats.bytes_by_label), limit);
  return stats;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Head>> Head::Open(
    const HeadOptions& options, const HeadContext& context,
    const std::function<void(const ReplayProgress&)>& progress) {
  if (options.block_range_ms <= 0 || options.samples_per_chunk == 0 ||
      options.block_range_ms > kMaxBlockRangeMs || options.samples_per_chunk > 10'000) {
    return base::InvalidArgument("head: bad options: block_range_ms=", options.block_range_ms,
                                 " samples_per_chunk=", options.samples_per_chunk);
  }
  auto head = std::make_unique<HeadImpl>(options, context);
  if (!options.wal_directory.empty()) {
    NX_RETURN_IF_ERROR(ReplayWal(options, context, head->metrics(), head->core(), progress));
    NX_ASSIGN_OR_RETURN(std::unique_ptr<RecordSink> sink,
                        OpenWalSink(options, context, head->metrics()));
    head->committer()->SetSink(std::move(sink));
    // The log names series of which nothing is left.
    head->FreeBefore(options.min_valid_time_ms);
  }
  return std::unique_ptr<Head>(std::move(head));
}

}  // namespace narthex::head
