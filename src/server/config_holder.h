// The configuration in force and its reloads. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "narthex/base/clock.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/base/mutex.h"
#include "server/config/config.h"

namespace narthex::server {

class ConfigHolder {
 public:
  // Makes a configuration effective; on error it stays without effect.
  using Apply = std::function<absl::Status(const Config&)>;

  // `initial` is what was loaded at start; it counts as loaded once Install() succeeded. All
  // pointers must outlive this.
  ConfigHolder(std::string path, ConfigDefaults defaults, Config initial, base::Fs* fs,
               const base::Clock* clock, const base::Logger* logger, base::Registry* registry);

  // Applies the initial configuration and every later one through `apply`.
  absl::Status Install(Apply apply);
  // Reads the file again and applies it. On error the old one stays in force, and the log, the
  // metrics and the status say so. kFailedPrecondition before Install().
  absl::Status Reload();

  std::shared_ptr<const Config> current() const;
  bool last_reload_successful() const;
  int64_t last_success_ms() const;

 private:
  absl::Status ApplyLocked(std::shared_ptr<const Config> config) NX_REQUIRES(reload_mutex_);

  const std::string path_;
  const ConfigDefaults defaults_;
  base::Fs* const fs_;
  const base::Clock* const clock_;
  const base::Logger* const logger_;
  base::Gauge* const successful_;
  base::Gauge* const success_time_;
  base::Mutex reload_mutex_;  // Held over a whole reload.
  Apply apply_ NX_GUARDED_BY(reload_mutex_);
  mutable base::Mutex mutex_;  // Below reload_mutex_.
  std::shared_ptr<const Config> current_ NX_GUARDED_BY(mutex_);
};

}  // namespace narthex::server
