#include "narthex/scrape/manager.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "narthex/base/check.h"
#include "narthex/base/duration.h"
#include "narthex/base/mutex.h"
#include "narthex/base/status.h"
#include "scrape/loop.h"
#include "scrape/metadata_store.h"
#include "scrape/metrics.h"
#include "scrape/pool.h"
#include "scrape/pool_config.h"

namespace narthex::scrape {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRetryNs = 20 * kNsPerMs;

uint64_t OffsetSeed(const std::string& host_name, const model::Labels& external_labels) {
  const std::string text = host_name + external_labels.ToString();
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace

std::string_view TargetHealthName(TargetHealth health) {
  switch (health) {
    case TargetHealth::kUp:
      return "up";
    case TargetHealth::kDown:
      return "down";
    case TargetHealth::kUnknown:
      return "unknown";
  }
  return "unknown";
}

struct Manager::Impl : LoopHost, std::enable_shared_from_this<Manager::Impl> {
  Impl(const ManagerServices& used_services, ManagerOptions used_options)
      : services(used_services),
        options(std::move(used_options)),
        metrics(std::make_shared<ScrapeMetrics>(services.registry)),
        gate(std::make_shared<RunningGate>()) {}

  using Groups = std::vector<TargetGroupPtr>;
  using Configs = std::map<std::string, std::shared_ptr<const PoolConfig>>;

  absl::Status Apply(std::vector<PoolOptions> pool_options, const model::Labels& external_labels);
  absl::StatusOr<Configs> Compile(std::vector<PoolOptions> pool_options) NX_REQUIRES(apply_mutex);
  std::shared_ptr<FailureLog> FailureLogAt(const std::string& path) NX_REQUIRES(apply_mutex);
  void RetireMissingPools(const Configs& configs) NX_REQUIRES(apply_mutex);
  void SyncPool(const std::string& name);
  void SyncDiscovered();
  void ScheduleSync() NX_REQUIRES(mutex);
  void Stop();
  // Pools in order of name; all if `name` is empty.
  std::vector<std::shared_ptr<Pool>> Pools(std::string_view name) const;
  void CollectMetadataSizes(std::vector<base::FamilySnapshot>* families) const;

  bool RemoveAliveElsewhere(const Loop& asking, std::vector<model::SeriesRef>* refs) override;

  const ManagerServices services;
  const ManagerOptions options;
  const std::shared_ptr<ScrapeMetrics> metrics;
  const std::shared_ptr<RunningGate> gate;
  MetadataPool metadata_pool;
  std::shared_ptr<const LoopShared> shared;  // Set once, right after construction.

  base::Mutex apply_mutex;  // Held during a whole Apply(); before mutex.
  std::map<std::string, std::shared_ptr<FailureLog>> failure_logs NX_GUARDED_BY(apply_mutex);

  mutable base::Mutex mutex;
  bool stopped NX_GUARDED_BY(mutex) = false;
  std::map<std::string, std::shared_ptr<Pool>, std::less<>> pools NX_GUARDED_BY(mutex);
  // Pools whose options are gone; kept until their loops have ended, so that Stop() finds them.
  std::vector<std::shared_ptr<Pool>> retired_pools NX_GUARDED_BY(mutex);
  // By pool and provider.
  std::map<std::string, std::map<std::string, Groups>> discovered NX_GUARDED_BY(mutex);
  std::set<std::string> unsynced NX_GUARDED_BY(mutex);  // Pools with newly discovered targets.
  bool sync_scheduled NX_GUARDED_BY(mutex) = false;
};

std::shared_ptr<FailureLog> Manager::Impl::FailureLogAt(const std::string& path) {
  if (path.empty()) return nullptr;
  std::shared_ptr<FailureLog>& log = failure_logs[path];
  if (log == nullptr) log = std::make_shared<FailureLog>(services.fs, path);
  return log;
}

absl::StatusOr<Manager::Impl::Configs> Manager::Impl::Compile(
    std::vector<PoolOptions> pool_options) {
  Configs configs;
  for (PoolOptions& one : pool_options) {
    const std::string name = one.job_name;
    std::shared_ptr<FailureLog> log = FailureLogAt(one.scrape_failure_log_file);
    NX_ASSIGN_OR_RETURN(std::shared_ptr<const PoolConfig> config,
                        CompilePoolOptions(std::move(one), std::move(log)));
    if (!configs.emplace(name, std::move(config)).second) {
      return base::InvalidArgument("found multiple scrape configs with job name \"", name, "\"");
    }
  }
  return configs;
}

void Manager::Impl::RetireMissingPools(const Configs& configs) {
  std::vector<std::shared_ptr<Pool>> gone;
  {
    base::MutexLock lock(&mutex);
    for (auto pool = pools.begin(); pool != pools.end();) {
      if (configs.contains(pool->first)) {
        ++pool;
        continue;
      }
      gone.push_back(pool->second);
      discovered.erase(pool->first);
      pool = pools.erase(pool);
    }
    std::erase_if(retired_pools, [](const auto& pool) { return pool->has_ended(); });
    retired_pools.insert(retired_pools.end(), gone.begin(), gone.end());
  }
  for (const std::shared_ptr<Pool>& pool : gone) pool->Retire();
}

absl::Status Manager::Impl::Apply(std::vector<PoolOptions> pool_options,
                                  const model::Labels& external_labels) {
  base::MutexLock apply_lock(&apply_mutex);
  NX_ASSIGN_OR_RETURN(const Configs configs, Compile(std::move(pool_options)));
  for (const auto& [path, log] : failure_logs) {
    if (const absl::Status status = log->Open(); !status.ok()) {
      services.logger->Error("scrape failure log", {{"err", base::Message(status)}});
    }
  }
  const uint64_t offset_seed = OffsetSeed(options.host_name, external_labels);
  RetireMissingPools(configs);
  for (const auto& [name, config] : configs) {
    std::shared_ptr<Pool> pool;
    {
      base::MutexLock lock(&mutex);
      if (stopped) return base::FailedPrecondition("scrape manager is stopped");
      std::shared_ptr<Pool>& slot = pools[name];
      if (slot == nullptr) {
        metrics->pools->Add();
        slot = std::make_shared<Pool>(shared, config, offset_seed, &metadata_pool);
      } else {
        pool = slot;
      }
    }
    if (pool != nullptr) {
      if (pool->config()->options == config->options) continue;
      const int64_t start_ns = services.clock->MonotonicNs();
      metrics->pool_reloads->Add();
      pool->Reconfigure(config);
      metrics->reload_length->With({base::FormatGoDuration(config->options.scrape_interval_ms)})
          ->Observe(static_cast<double>(services.clock->MonotonicNs() - start_ns) / 1e9);
    }
    SyncPool(name);
  }
  return absl::OkStatus();
}

void Manager::Impl::SyncPool(const std::string& name) {
  std::shared_ptr<Pool> pool;
  {
    base::MutexLock lock(&mutex);
    const auto found = pools.find(name);
    if (found == pools.end() || stopped) return;
    pool = found->second;
  }
  pool->Sync([&] {
    Groups groups;
    base::MutexLock lock(&mutex);
    unsynced.erase(name);
    for (const auto& [provider, provided] : discovered[name]) {
      groups.insert(groups.end(), provided.begin(), provided.end());
    }
    return groups;
  });
}

void Manager::Impl::ScheduleSync() {
  if (sync_scheduled) return;
  sync_scheduled = true;
  const int64_t due_ns =
      services.clock->MonotonicNs() + options.discovery_reload_interval_ms * kNsPerMs;
  services.scheduler->RunAt(due_ns, [self = shared_from_this()] { self->SyncDiscovered(); });
}

void Manager::Impl::SyncDiscovered() {
  const std::shared_ptr<void> gate_pass = gate->Enter();
  if (gate_pass == nullptr) return;
  std::set<std::string> names;
  {
    base::MutexLock lock(&mutex);
    sync_scheduled = false;
    names.swap(unsynced);
  }
  const auto sync = [self = shared_from_this(), names, gate_pass] {
    for (const std::string& name : names) self->SyncPool(name);
  };
  if (services.executor(sync)) return;
  base::MutexLock lock(&mutex);
  unsynced.insert(names.begin(), names.end());
  sync_scheduled = true;
  services.scheduler->RunAt(services.clock->MonotonicNs() + kRetryNs,
                            [self = shared_from_this()] { self->SyncDiscovered(); });
}

void Manager::Impl::Stop() {
  std::vector<std::shared_ptr<Pool>> all;
  {
    base::MutexLock lock(&mutex);
    stopped = true;
    for (const auto& [name, pool] : pools) all.push_back(pool);
    all.insert(all.end(), retired_pools.begin(), retired_pools.end());
  }
  for (const std::shared_ptr<Pool>& pool : all) pool->Halt();
  gate->CloseAndWait();
}

std::vector<std::shared_ptr<Pool>> Manager::Impl::Pools(std::string_view name) const {
  base::MutexLock lock(&mutex);
  std::vector<std::shared_ptr<Pool>> chosen;
  for (const auto& [pool_name, pool] : pools) {
    if (name.empty() || name == pool_name) chosen.push_back(pool);
  }
  return chosen;
}

bool Manager::Impl::RemoveAliveElsewhere(const Loop& asking, std::vector<model::SeriesRef>* refs) {
  bool found = false;
  for (const std::shared_ptr<Pool>& pool : Pools("")) {
    for (const std::shared_ptr<Loop>& loop : pool->Loops()) {
      if (loop.get() == &asking || !loop->has_scraped() ||
          loop->target()->public_labels() != asking.target()->public_labels()) {
        continue;
      }
      found = true;
      const std::vector<model::SeriesRef> alive = loop->AliveSeries();
      std::vector<model::SeriesRef> rest;
      std::set_difference(refs->begin(), refs->end(), alive.begin(), alive.end(),
                          std::back_inserter(rest));
      *refs = std::move(rest);
    }
  }
  return found;
}

void Manager::Impl::CollectMetadataSizes(std::vector<base::FamilySnapshot>* families) const {
  base::FamilySnapshot entries{"prometheus_target_metadata_cache_entries",
                               "Total number of metric metadata entries in the cache",
                               base::MetricType::kGauge,
                               {}};
  base::FamilySnapshot bytes{
      "prometheus_target_metadata_cache_bytes",
      "The number of bytes that are currently used for storing metric metadata in the cache",
      base::MetricType::kGauge,
      {}};
  for (const std::shared_ptr<Pool>& pool : Pools("")) {
    base::MetricPoint num_entries;
    num_entries.labels = {{"scrape_job", pool->config()->options.job_name}};
    base::MetricPoint num_bytes = num_entries;
    for (const std::shared_ptr<Loop>& loop : pool->Loops()) {
      num_entries.value += static_cast<double>(loop->target()->metadata().size());
      num_bytes.value += static_cast<double>(loop->target()->metadata().num_text_bytes());
    }
    entries.points.push_back(std::move(num_entries));
    bytes.points.push_back(std::move(num_bytes));
  }
  families->push_back(std::move(entries));
  families->push_back(std::move(bytes));
}

Manager::Manager(ManagerServices services, ManagerOptions options)
    : impl_(std::make_shared<Impl>(services, std::move(options))) {
  impl_->shared = std::make_shared<const LoopShared>(
      LoopShared{impl_->services, impl_->options, impl_->metrics, impl_->gate, impl_});
  services.registry->AddCollector(
      [weak = std::weak_ptr<Impl>(impl_)](std::vector<base::FamilySnapshot>* families) {
        if (const std::shared_ptr<Impl> impl = weak.lock()) impl->CollectMetadataSizes(families);
      });
}

Manager::~Manager() {
  base::MutexLock lock(&impl_->mutex);
  NX_CHECK(impl_->stopped);
}

absl::Status Manager::Apply(std::vector<PoolOptions> pools, const model::Labels& external_labels) {
  return impl_->Apply(std::move(pools), external_labels);
}

void Manager::SetTargetGroups(const std::string& scrape_pool, const std::string& provider,
                              std::vector<TargetGroup> groups) {
  std::vector<TargetGroupPtr> shared_groups;
  shared_groups.reserve(groups.size());
  for (TargetGroup& group : groups) {
    shared_groups.push_back(std::make_shared<const TargetGroup>(std::move(group)));
  }
  base::MutexLock lock(&impl_->mutex);
  if (impl_->stopped || !impl_->pools.contains(scrape_pool)) return;
  impl_->discovered[scrape_pool][provider] = std::move(shared_groups);
  impl_->unsynced.insert(scrape_pool);
  impl_->ScheduleSync();
}

void Manager::Stop() { impl_->Stop(); }

std::vector<std::string> Manager::PoolNames() const {
  base::MutexLock lock(&impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, pool] : impl_->pools) names.push_back(name);
  return names;
}

std::vector<ActiveTarget> Manager::ActiveTargets(std::string_view scrape_pool) const {
  std::vector<ActiveTarget> all;
  for (const std::shared_ptr<Pool>& pool : impl_->Pools(scrape_pool)) {
    std::vector<ActiveTarget> targets = pool->ActiveTargets();
    std::sort(targets.begin(), targets.end(), [](const ActiveTarget& a, const ActiveTarget& b) {
      return std::tie(a.labels, a.scrape_url) < std::tie(b.labels, b.scrape_url);
    });
    std::move(targets.begin(), targets.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<DroppedTarget> Manager::DroppedTargets(std::string_view scrape_pool) const {
  std::vector<DroppedTarget> all;
  for (const std::shared_ptr<Pool>& pool : impl_->Pools(scrape_pool)) {
    std::vector<DroppedTarget> targets = pool->DroppedTargets();
    std::move(targets.begin(), targets.end(), std::back_inserter(all));
  }
  return all;
}

std::map<std::string, uint64_t> Manager::DroppedTargetCounts() const {
  std::map<std::string, uint64_t> counts;
  for (const std::shared_ptr<Pool>& pool : impl_->Pools("")) {
    counts[pool->config()->options.job_name] = pool->num_dropped();
  }
  return counts;
}

std::vector<TargetMetadata> Manager::Metadata(std::string_view family) const {
  std::vector<TargetMetadata> all;
  for (const std::shared_ptr<Pool>& pool : impl_->Pools("")) {
    for (const std::shared_ptr<Loop>& loop : pool->Loops()) {
      const Target& target = *loop->target();
      TargetMetadata metadata{pool->config()->options.job_name, target.public_labels(),
                              target.metadata().List(family)};
      if (!metadata.families.empty()) all.push_back(std::move(metadata));
    }
  }
  return all;
}

absl::StatusOr<PoolOptions> Manager::OptionsOf(std::string_view scrape_pool) const {
  const std::vector<std::shared_ptr<Pool>> pools = impl_->Pools(scrape_pool);
  if (scrape_pool.empty() || pools.empty()) {
    return base::NotFound("scrape pool \"", scrape_pool, "\" not found");
  }
  return pools.front()->config()->options;
}

}  // namespace narthex::scrape
