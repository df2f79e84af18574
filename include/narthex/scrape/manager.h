// Scrapes all targets of all pools and appends what they expose. Runs on threads it is given: the
// scheduler starts scrapes, the HTTP client fetches, the executor parses and appends. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/clock.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/base/scheduler.h"
#include "narthex/model/appendable.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"
#include "narthex/net/http_client.h"
#include "narthex/scrape/options.h"
#include "narthex/scrape/target_group.h"

namespace narthex::scrape {

// Queues a task on a pool; false when the pool is full (the task is offered again a little later).
using Executor = std::function<bool(std::function<void()>)>;

// Everything must outlive the manager.
struct ManagerServices {
  const base::Clock* clock = nullptr;
  base::Scheduler* scheduler = nullptr;
  net::HttpClient* http = nullptr;
  Executor executor;
  model::Appendable* appendable = nullptr;
  base::Registry* registry = nullptr;
  const base::Logger* logger = nullptr;
  base::Fs* fs = nullptr;  // For scrape failure logs.
};

struct ManagerOptions {
  std::string user_agent = "Prometheus/3.14.0";
  std::string host_name = {};  // With the external labels it spreads several servers' scrapes.
  // Updates of discovered targets are taken over at most this often.
  int64_t discovery_reload_interval_ms = 5'000;
  bool append_metadata = false;  // Hands metadata to the appender (feature metadata-wal-records).
  bool type_and_unit_labels = false;  // Samples get `__type__` and `__unit__` (that feature).
};

enum class TargetHealth : uint8_t { kUnknown, kUp, kDown };
std::string_view TargetHealthName(TargetHealth health);  // "unknown", "up", "down"

struct ActiveTarget {
  std::string scrape_pool;
  std::string scrape_url;
  model::Labels labels;             // As its series carry them.
  model::Labels discovered_labels;  // Before relabelling.
  TargetHealth health = TargetHealth::kUnknown;
  std::string last_error;
  int64_t last_scrape_ms = 0;  // 0: never.
  double last_scrape_duration_s = 0;
  std::string scrape_interval;  // "15s"
  std::string scrape_timeout;
};

struct DroppedTarget {
  std::string scrape_pool;
  model::Labels discovered_labels;
};

struct MetricMetadata {
  std::string family;
  model::Metadata metadata;
};

struct TargetMetadata {
  std::string scrape_pool;
  model::Labels labels;
  std::vector<MetricMetadata> families;  // Sorted by name.
};

class Manager {
 public:
  Manager(ManagerServices services, ManagerOptions options);
  // REQUIRES: Stop() was called.
  ~Manager();

  // Makes `pools` what is scraped. Pools whose options did not change go on undisturbed; of changed
  // ones the targets that stay keep their schedule, and their caches where the change allows it.
  // Targets that go away end with staleness markers a little more than two intervals later.
  // On error (kInvalidArgument, as ValidatePoolOptions(); a job name twice) nothing changes.
  absl::Status Apply(std::vector<PoolOptions> pools, const model::Labels& external_labels);

  // For discovery: replaces all groups that `provider` found for a pool. Unknown pools are ignored.
  // Taken over at the next tick of the discovery reload interval.
  void SetTargetGroups(const std::string& scrape_pool, const std::string& provider,
                       std::vector<TargetGroup> groups);

  // Starts no more scrapes and waits for those that run; writes no staleness markers, as the
  // targets go on living. Stop the HTTP client first, lest this waits for slow targets. Idempotent.
  void Stop();

  // For the API. Sorted by pool; targets by labels. An empty name means all pools.
  std::vector<std::string> PoolNames() const;
  std::vector<ActiveTarget> ActiveTargets(std::string_view scrape_pool = "") const;
  std::vector<DroppedTarget> DroppedTargets(std::string_view scrape_pool = "") const;
  std::map<std::string, uint64_t> DroppedTargetCounts() const;
  // What the targets said about their metrics. An empty `family` means all.
  std::vector<TargetMetadata> Metadata(std::string_view family = "") const;
  // kNotFound: `scrape pool "x" not found`.
  absl::StatusOr<PoolOptions> OptionsOf(std::string_view scrape_pool) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace narthex::scrape
