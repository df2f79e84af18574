// One endpoint to scrape, and how its last scrape went. What names it (labels, URL, interval) is
// immutable; the rest is thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "narthex/base/mutex.h"
#include "narthex/model/labels.h"
#include "narthex/scrape/manager.h"
#include "scrape/metadata_store.h"
#include "scrape/pool_config.h"

namespace narthex::scrape {

// Where discovery found a target: the group is shared by all of its targets.
struct TargetOrigin {
  std::shared_ptr<const TargetGroup> group;
  size_t index = 0;
  const LabelMap& own_labels() const { return group->targets[index]; }
};

// The labels of a target before relabelling: its own, the group's, and what the pool's options add.
void SetDiscoveredLabels(const PoolOptions& options, const TargetOrigin& origin,
                         model::LabelsBuilder* labels);

// All labels of the target that `origin` makes, internal ones included; nullopt if relabelling
// drops it. kInvalidArgument: no or a bad address, interval, timeout, flag or value.
absl::StatusOr<std::optional<model::Labels>> TargetLabels(const PoolConfig& config,
                                                          const TargetOrigin& origin);

class Target {
 public:
  // REQUIRES: `labels` came from TargetLabels().
  Target(model::Labels labels, std::shared_ptr<const PoolConfig> config, TargetOrigin origin,
         MetadataPool* metadata_pool);

  const model::Labels& labels() const { return labels_; }
  // Without the internal ones (`__...`).
  const model::Labels& public_labels() const { return public_labels_; }
  const std::string& url() const { return url_; }
  std::string_view unix_socket() const { return labels_.Get("__unix_socket__"); }
  int64_t interval_ms() const { return interval_ms_; }
  int64_t timeout_ms() const { return timeout_ms_; }
  // Names the target within its pool: labels and URL.
  uint64_t hash() const { return hash_; }
  // A flag of the options that a label of this target may overrule.
  bool Flag(std::string_view label_name, bool otherwise) const;

  // Takes over where discovery found `newer`, a target of the same hash, for display.
  void AdoptOrigin(const Target& newer);
  void Report(int64_t scrape_ms, double duration_s, const absl::Status& result);
  ActiveTarget Describe() const;
  MetadataStore& metadata() { return metadata_; }
  const MetadataStore& metadata() const { return metadata_; }

 private:
  const model::Labels labels_;
  const model::Labels public_labels_;
  const std::string url_;
  const int64_t interval_ms_;
  const int64_t timeout_ms_;
  const uint64_t hash_;
  MetadataStore metadata_;

  mutable base::Mutex mutex_;
  std::shared_ptr<const PoolConfig> config_ NX_GUARDED_BY(mutex_);
  TargetOrigin origin_ NX_GUARDED_BY(mutex_);
  TargetHealth health_ NX_GUARDED_BY(mutex_) = TargetHealth::kUnknown;
  std::string last_error_ NX_GUARDED_BY(mutex_);
  int64_t last_scrape_ms_ NX_GUARDED_BY(mutex_) = 0;
  double last_duration_s_ NX_GUARDED_BY(mutex_) = 0;
};

// Label names that overrule options per target.
inline constexpr std::string_view kNativeHistogramsLabel = "__scrape_native_histograms__";
inline constexpr std::string_view kClassicHistogramsLabel = "__always_scrape_classic_histograms__";
inline constexpr std::string_view kConvertHistogramsLabel =
    "__convert_classic_histograms_to_nhcb__";

}  // namespace narthex::scrape
