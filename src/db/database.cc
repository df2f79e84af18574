#include "narthex/db/database.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "narthex/base/status.h"

namespace narthex::db {
namespace {

constexpr size_t kUlidSize = 26;

// A block's directory name: 26 characters of Crockford's base 32, the first at most 7.
bool IsUlid(std::string_view name) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  if (name.size() != kUlidSize || name[0] > '7') return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return kAlphabet.find(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c) !=
           std::string_view::npos;
  });
}

// Says which samples of the directory this process does not serve; they stay as they are.
absl::Status WarnOfUnreadData(const DatabaseOptions& options, const DatabaseContext& context) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, context.fs->List(options.path));
  std::string unread;
  for (const std::string& name : names) {
    const bool has_samples = IsUlid(name) || name == "chunks_head" || name == "wbl";
    if (!has_samples) continue;
    if (!unread.empty()) unread += ", ";
    unread += name;
  }
  if (!unread.empty()) {
    context.logger->Warn(
        "blocks and head chunks of the data directory are not read; only the"
        " write-ahead log is served",
        {{"dir", options.path}, {"unread", unread}});
  }
  return absl::OkStatus();
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
               std::unique_ptr<base::FileLock> lock, std::unique_ptr<head::Head> head)
      : options_(std::move(options)),
        fs_(context.fs),
        lock_(std::move(lock)),
        head_(std::move(head)) {}
  ~DatabaseImpl() override { base::IgnoreError(Close(), "nobody is left to hear of it"); }

  std::unique_ptr<model::Appender> NewAppender() override { return head_->NewAppender(); }
  absl::StatusOr<std::unique_ptr<model::Querier>> NewQuerier(
      model::TimeRange range) const override {
    return head_->NewQuerier(range);
  }
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
  int64_t min_time_ms() const override { return head_->min_time_ms(); }
  int64_t max_time_ms() const override { return head_->max_time_ms(); }
  uint64_t num_wal_corruptions() const override { return head_->num_wal_corruptions(); }

 private:
  const DatabaseOptions options_;
  base::Fs* const fs_;
  std::unique_ptr<base::FileLock> lock_;
  const std::unique_ptr<head::Head> head_;
  bool closed_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const DatabaseOptions& options, const DatabaseContext& context,
    std::function<void(const ReplayProgress&)> progress) {
  const bool in_memory = options.path.empty();
  std::unique_ptr<base::FileLock> lock;
  if (!in_memory) {
    NX_RETURN_IF_ERROR(context.fs->CreateDirectories(options.path));
    NX_ASSIGN_OR_RETURN(lock, LockDirectory(options, context));
    NX_RETURN_IF_ERROR(WarnOfUnreadData(options, context));
  }
  head::HeadOptions head_options;
  head_options.wal_directory = in_memory ? "" : options.path + "/wal";
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
  return std::unique_ptr<Database>(
      std::make_unique<DatabaseImpl>(options, context, std::move(lock), std::move(head)));
}

}  // namespace narthex::db
