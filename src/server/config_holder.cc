#include "server/config_holder.h"

#include <cmath>

#include "narthex/base/status.h"

namespace narthex::server {

ConfigHolder::ConfigHolder(std::string path, ConfigDefaults defaults, Config initial, base::Fs* fs,
                           const base::Clock* clock, const base::Logger* logger,
                           base::Registry* registry)
    : path_(std::move(path)),
      defaults_(defaults),
      fs_(fs),
      clock_(clock),
      logger_(logger),
      successful_(registry->AddGauge("prometheus_config_last_reload_successful",
                                     "Whether the last configuration reload attempt was "
                                     "successful.")),
      success_time_(registry->AddGauge("prometheus_config_last_reload_success_timestamp_seconds",
                                       "Timestamp of the last successful configuration reload.")),
      current_(std::make_shared<const Config>(std::move(initial))) {}

absl::Status ConfigHolder::ApplyLocked(std::shared_ptr<const Config> config) {
  for (const std::string& warning : config->warnings) {
    logger_->Warn("configuration", {{"file", path_}, {"warning", warning}});
  }
  NX_RETURN_IF_ERROR(apply_(*config));
  successful_->Set(1);
  success_time_->Set(static_cast<double>(clock_->NowMs()) / 1000);
  base::MutexLock lock(&mutex_);
  current_ = std::move(config);
  return absl::OkStatus();
}

absl::Status ConfigHolder::Install(Apply apply) {
  base::MutexLock lock(&reload_mutex_);
  apply_ = std::move(apply);
  NX_RETURN_IF_ERROR(ApplyLocked(current()));
  logger_->Info("Completed loading of configuration file", {{"filename", path_}});
  return absl::OkStatus();
}

absl::Status ConfigHolder::Reload() {
  base::MutexLock lock(&reload_mutex_);
  if (apply_ == nullptr) return base::FailedPrecondition("the server is still starting");
  logger_->Info("Loading configuration file", {{"filename", path_}});
  auto config = LoadConfig(path_, defaults_, fs_);
  absl::Status status =
      config.ok() ? ApplyLocked(std::make_shared<const Config>(*std::move(config)))
                  : base::WithContext(config.status(), base::StrCat("couldn't load configuration "
                                                                    "(--config.file=\"",
                                                                    path_, "\")"));
  if (status.ok()) {
    logger_->Info("Completed loading of configuration file", {{"filename", path_}});
  } else {
    successful_->Set(0);
    logger_->Error("Error reloading config", {{"err", base::Message(status)}});
  }
  return status;
}

std::shared_ptr<const Config> ConfigHolder::current() const {
  base::MutexLock lock(&mutex_);
  return current_;
}

bool ConfigHolder::last_reload_successful() const { return successful_->value() == 1; }

int64_t ConfigHolder::last_success_ms() const {
  return static_cast<int64_t>(std::round(success_time_->value() * 1000));
}

}  // namespace narthex::server
