#include "narthex/db/database.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "db/block_querier.h"
#include "db/block_set.h"
#include "db/merged_querier.h"
#include "narthex/base/status.h"

namespace narthex::db {
namespace {

// Says which samples of the directory this process does not serve; they stay as they are.
void WarnOfUnreadData(const DatabaseOptions& options, const DatabaseContext& context) {
  const std::string log = options.path + "/wbl";
  if (!context.fs->Exists(log)) return;
  context.logger->Warn("the log of out-of-order samples is not read", {{"dir", log}});
}

// Locks the directory and tells how the last process left it.
absl::StatusOr<std::unique_ptr<base::FileLock>> LockDirectory(const DatabaseOptions& options,
                                                              const DatabaseContext& context) {
  base::Gauge* const clean_start =
      context.registry == nullptr
          ? nullptr
          : context.registry->AddGauge(
                "prometheus_tsdb_clean_start",
                "-1: lockfile is disabled. 0: a lockfile from a previous execution was replaced. 1:"
                " lockfile creation was clean");
  const auto set = [clean_start](double value) {
    if (clean_start != nullptr) clean_start->Set(value);
  };
  if (options.no_lockfile) {
    set(-1);
    return std::unique_ptr<base::FileLock>();
  }
  const std::string path = options.path + "/lock";
  const bool existed = context.fs->Exists(path);
  auto lock = context.fs->Lock(path);
  if (!lock.ok()) return base::WithContext(lock.status(), "lock DB directory");
  if (existed) {
    context.logger->Warn("A lockfile from a previous execution already existed. It was replaced",
                         {{"file", path}});
  }
  set(existed ? 0 : 1);
  return lock;
}

class DatabaseImpl final : public Database {
 public:
  DatabaseImpl(DatabaseOptions options, const DatabaseContext& context,
               std::unique_ptr<base::FileLock> lock, BlockSet blocks,
               std::unique_ptr<head::Head> head)
      : options_(std::move(options)),
        fs_(context.fs),
        lock_(std::move(lock)),
        blocks_(std::move(blocks)),
        head_(std::move(head)) {}
  ~DatabaseImpl() override { base::IgnoreError(Close(), "nobody is left to hear of it"); }

  std::unique_ptr<model::Appender> NewAppender() override { return head_->NewAppender(); }
  absl::StatusOr<std::unique_ptr<model::Querier>> NewQuerier(model::TimeRange range) const override;
  absl::Status Close() override {
    if (std::exchange(closed_, true)) return absl::OkStatus();
    absl::Status status = head_->Close();
    if (lock_ != nullptr) {
      // Removed while it is held, so that nobody's new lock goes.
      const absl::Status removed = fs_->Remove(options_.path + "/lock");
      if (status.ok()) status = removed;
      lock_.reset();
    }
    return status;
  }
  HeadStats Stats(size_t limit) const override { return head_->Stats(limit); }
  MemoryBreakdown Memory() const override { return head_->Memory(); }
  int64_t min_time_ms() const override {
    return std::min(blocks_.min_time_ms(), head_->min_time_ms());
  }
  int64_t max_time_ms() const override;
  uint64_t num_wal_corruptions() const override { return head_->num_wal_corruptions(); }

 private:
  const DatabaseOptions options_;
  base::Fs* const fs_;
  std::unique_ptr<base::FileLock> lock_;
  const BlockSet blocks_;
  const std::unique_ptr<head::Head> head_;
  bool closed_ = false;
};

absl::StatusOr<std::unique_ptr<model::Querier>> DatabaseImpl::NewQuerier(
    model::TimeRange range) const {
  // Looked at on both sides of the snapshot: appends and truncation move it.
  const int64_t head_begin_ms = head_->min_time_ms();
  NX_ASSIGN_OR_RETURN(std::unique_ptr<model::Querier> head, head_->NewQuerier(range));
  std::vector<QuerierSource> sources;
  for (const std::shared_ptr<const disk::Block>& block : blocks_.blocks()) {
    const model::TimeRange has{.min_time_ms = block->meta().min_time_ms,
                               .max_time_ms = block->meta().max_time_ms - 1};
    if (has.min_time_ms > range.max_time_ms || has.max_time_ms < range.min_time_ms) continue;
    sources.push_back({std::make_unique<BlockQuerier>(block, range), has});
  }
  // Fast path: as long as the head reaches back, nothing is merged.
  if (sources.empty()) return head;
  // The head comes first: its symbols are the merged ones.
  sources.insert(sources.begin(),
                 QuerierSource{std::move(head),
                               {.min_time_ms = std::min(head_begin_ms, head_->min_time_ms()),
                                .max_time_ms = std::numeric_limits<int64_t>::max()}});
  return std::unique_ptr<model::Querier>(std::make_unique<MergedQuerier>(std::move(sources)));
}

int64_t DatabaseImpl::max_time_ms() const {
  int64_t max_ms = head_->max_time_ms();
  for (const auto& block : blocks_.blocks()) {
    max_ms = std::max(max_ms, block->meta().max_time_ms - 1);
  }
  return max_ms;
}

void AddBlockMetrics(base::Registry* registry, const BlockSet& blocks) {
  if (registry == nullptr) return;
  registry->AddGauge("prometheus_tsdb_blocks_loaded", "Number of currently loaded data blocks")
      ->Set(static_cast<double>(blocks.blocks().size()));
  registry
      ->AddGauge("prometheus_tsdb_storage_blocks_bytes",
                 "The number of bytes that are currently used for local storage by all blocks.")
      ->Set(static_cast<double>(blocks.num_bytes()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const DatabaseOptions& options, const DatabaseContext& context,
    std::function<void(const ReplayProgress&)> progress) {
  const bool in_memory = options.path.empty();
  std::unique_ptr<base::FileLock> lock;
  BlockSet blocks;
  if (!in_memory) {
    NX_RETURN_IF_ERROR(context.fs->CreateDirectories(options.path));
    NX_ASSIGN_OR_RETURN(lock, LockDirectory(options, context));
    WarnOfUnreadData(options, context);
    NX_ASSIGN_OR_RETURN(blocks, BlockSet::Open(context.fs, options.path, *context.logger));
    AddBlockMetrics(context.registry, blocks);
  }
  head::HeadOptions head_options;
  head_options.wal_directory = in_memory ? "" : options.path + "/wal";
  head_options.chunks_directory = in_memory ? "" : options.path + "/chunks_head";
  head_options.min_valid_time_ms = blocks.in_order_end_ms();
  head_options.block_range_ms = options.block_range_ms;
  head_options.samples_per_chunk = options.samples_per_chunk;
  head_options.wal_segment_bytes = options.wal_segment_bytes;
  head_options.wal_compression = options.wal_compression;
  head_options.enforce_bounds = !in_memory;
  const head::HeadContext head_context = {.clock = context.clock,
                                          .fs = context.fs,
                                          .logger = context.logger,
                                          .registry = context.registry};
  NX_ASSIGN_OR_RETURN(std::unique_ptr<head::Head> head,
                      head::Head::Open(head_options, head_context, progress));
  return std::unique_ptr<Database>(std::make_unique<DatabaseImpl>(
      options, context, std::move(lock), std::move(blocks), std::move(head)));
}

}  // namespace narthex::db
