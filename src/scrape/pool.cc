#include "scrape/pool.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "narthex/base/status.h"

namespace narthex::scrape {
namespace {

constexpr double kNsPerSecond = 1e9;

// Different names and values among the labels of `targets`.
size_t NumTexts(const std::vector<std::shared_ptr<Target>>& targets) {
  std::unordered_set<std::string_view> texts;
  for (const std::shared_ptr<Target>& target : targets) {
    for (const model::Label& label : target->labels().Views()) {
      texts.insert(label.name);
      texts.insert(label.value);
    }
  }
  return texts.size();
}

}  // namespace

Pool::Pool(std::shared_ptr<const LoopShared> shared, std::shared_ptr<const PoolConfig> config,
           uint64_t offset_seed, MetadataPool* metadata_pool)
    : shared_(std::move(shared)),
      offset_seed_(offset_seed),
      metadata_pool_(metadata_pool),
      config_(std::move(config)) {}

Pool::Found Pool::FindTargets(const std::vector<TargetGroupPtr>& groups,
                              const std::shared_ptr<const PoolConfig>& config) const {
  const PoolOptions& options = config->options;
  Found found;
  model::LabelsBuilder builder;
  for (const TargetGroupPtr& group : groups) {
    for (size_t i = 0; i < group->targets.size(); ++i) {
      TargetOrigin origin{group, i};
      absl::StatusOr<std::optional<model::Labels>> labels = TargetLabels(*config, origin);
      if (!labels.ok()) {
        ++found.num_failed;
        shared_->services.logger->Error(
            "creating target failed",
            {{"scrape_pool", options.job_name},
             {"err", base::StrCat("instance ", i, " in group ", group->source, ": ",
                                  base::Message(labels.status()))}});
        continue;
      }
      if (labels->has_value()) {
        found.targets.push_back(std::make_shared<Target>(**std::move(labels), config,
                                                         std::move(origin), metadata_pool_));
        continue;
      }
      ++found.num_dropped;
      if (options.keep_dropped_targets > 0 &&
          found.dropped.size() >= options.keep_dropped_targets) {
        continue;
      }
      SetDiscoveredLabels(options, origin, &builder);
      found.dropped.push_back({options.job_name, builder.Build()});
    }
  }
  return found;
}

void Pool::Sync(const std::function<std::vector<TargetGroupPtr>()>& find_discovered) {
  base::MutexLock sync_lock(&sync_mutex_);
  if (is_retired_) return;
  const base::Clock& clock = *shared_->services.clock;
  const int64_t start_ns = clock.MonotonicNs();
  const std::shared_ptr<const PoolConfig> current = config();
  const std::vector<std::string> job = {current->options.job_name};
  std::vector<TargetGroupPtr> groups = find_discovered();
  for (const TargetGroup& group : current->options.static_groups) {
    groups.push_back(std::make_shared<const TargetGroup>(group));
  }
  Found found = FindTargets(groups, current);
  const ScrapeMetrics& metrics = *shared_->metrics;
  metrics.pool_symbols->With(job)->Set(static_cast<double>(NumTexts(found.targets)));
  base::Counter* const failed = metrics.sync_failed->With(job);
  if (found.num_failed > 0) failed->Add(static_cast<double>(found.num_failed));
  {
    base::MutexLock lock(&mutex_);
    dropped_ = std::move(found.dropped);
    num_dropped_ = found.num_dropped;
    Reconcile(std::move(found.targets));
    ApplyTargetLimit();
    metrics.pool_targets->With(job)->Set(static_cast<double>(loops_.size()));
  }
  metrics.pool_target_limit->With(job)->Set(static_cast<double>(current->options.target_limit));
  const double length_s = static_cast<double>(clock.MonotonicNs() - start_ns) / kNsPerSecond;
  metrics.sync_length->With(job)->Observe(length_s);
  metrics.sync_length_histogram->With(job)->Observe(length_s);
  metrics.pool_syncs->With(job)->Add();
}

void Pool::Reconcile(std::vector<std::shared_ptr<Target>> targets) {
  std::erase_if(retired_, [](const auto& item) { return item.second.expired(); });
  std::set<uint64_t> wanted;
  for (std::shared_ptr<Target>& target : targets) {
    const uint64_t hash = target->hash();
    const bool is_repeated = !wanted.insert(hash).second;
    if (const auto known = loops_.find(hash); known != loops_.end()) {
      // Relabelling may give one target the labels of another: the later one is shown.
      known->second->target()->AdoptOrigin(*target);
      continue;
    }
    if (is_repeated) continue;
    if (const auto retired = retired_.find(hash); retired != retired_.end()) {
      const std::shared_ptr<Loop> loop = retired->second.lock();
      retired_.erase(retired);
      if (loop != nullptr && loop->Revive()) {
        loop->target()->AdoptOrigin(*target);
        loops_.emplace(hash, loop);
        continue;
      }
    }
    auto loop = std::make_shared<Loop>(shared_, config_, std::move(target));
    loops_.emplace(hash, loop);
    loop->Start(offset_seed_);
  }
  for (auto loop = loops_.begin(); loop != loops_.end();) {
    if (wanted.contains(loop->first)) {
      ++loop;
      continue;
    }
    loop->second->Retire();
    retired_[loop->first] = loop->second;
    loop = loops_.erase(loop);
  }
}

void Pool::ApplyTargetLimit() {
  const uint64_t limit = config_->options.target_limit;
  absl::Status error;
  if (limit > 0 && loops_.size() > limit) {
    shared_->metrics->exceeded_target_limit->Add();
    error = base::ResourceExhausted("target_limit exceeded (number of targets: ", loops_.size(),
                                    ", limit: ", limit, ")");
  }
  for (const auto& [hash, loop] : loops_) loop->SetForcedError(error);
}

void Pool::Reconfigure(std::shared_ptr<const PoolConfig> config) {
  base::MutexLock sync_lock(&sync_mutex_);
  base::MutexLock lock(&mutex_);
  const bool series_changed = !SeriesStayTheSame(config_->options, config->options);
  config_ = std::move(config);
  for (const auto& [hash, loop] : loops_) loop->Reconfigure(config_, series_changed);
  for (const auto& [hash, retired] : retired_) {
    // One that is revived later must know, too.
    if (const auto loop = retired.lock()) loop->Reconfigure(config_, series_changed);
  }
}

void Pool::Retire() {
  base::MutexLock sync_lock(&sync_mutex_);
  base::MutexLock lock(&mutex_);
  is_retired_ = true;
  for (const auto& [hash, loop] : loops_) {
    loop->Retire();
    retired_[hash] = loop;
  }
  loops_.clear();
  const std::vector<std::string> job = {config_->options.job_name};
  const ScrapeMetrics& metrics = *shared_->metrics;
  metrics.pool_syncs->Remove(job);
  metrics.pool_target_limit->Remove(job);
  metrics.pool_targets->Remove(job);
  metrics.pool_symbols->Remove(job);
  metrics.sync_length->Remove(job);
  metrics.sync_length_histogram->Remove(job);
  metrics.sync_failed->Remove(job);
}

void Pool::Halt() {
  base::MutexLock lock(&mutex_);
  for (const auto& [hash, loop] : loops_) loop->Halt();
  for (const auto& [hash, retired] : retired_) {
    if (const auto loop = retired.lock()) loop->Halt();
  }
}

bool Pool::has_ended() const {
  base::MutexLock lock(&mutex_);
  return loops_.empty() && std::all_of(retired_.begin(), retired_.end(),
                                       [](const auto& item) { return item.second.expired(); });
}

std::shared_ptr<const PoolConfig> Pool::config() const {
  base::MutexLock lock(&mutex_);
  return config_;
}

std::vector<ActiveTarget> Pool::ActiveTargets() const {
  std::vector<ActiveTarget> targets;
  for (const std::shared_ptr<Loop>& loop : Loops()) targets.push_back(loop->target()->Describe());
  return targets;
}

std::vector<DroppedTarget> Pool::DroppedTargets() const {
  base::MutexLock lock(&mutex_);
  return dropped_;
}

uint64_t Pool::num_dropped() const {
  base::MutexLock lock(&mutex_);
  return num_dropped_;
}

std::vector<std::shared_ptr<Loop>> Pool::Loops() const {
  base::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Loop>> loops;
  loops.reserve(loops_.size());
  for (const auto& [hash, loop] : loops_) loops.push_back(loop);
  return loops;
}

}  // namespace narthex::scrape
