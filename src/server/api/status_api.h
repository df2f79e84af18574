// /api/v1/status/*. Thread-safe, free functions.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "narthex/db/database.h"
#include "server/api/envelope.h"
#include "server/api/params.h"

namespace narthex::server {

struct RuntimeInfo {
  int64_t start_time_ms = 0;
  int64_t now_ms = 0;
  bool reload_config_success = false;
  int64_t last_config_time_ms = 0;
  uint64_t corruption_count = 0;
  std::string storage_retention;
};

void HandleConfig(const std::string& yaml, Writer writer);
void HandleFlags(const std::map<std::string, std::string>& flags, Writer writer);
void HandleRuntimeInfo(const RuntimeInfo& info, Writer writer);
void HandleBuildInfo(Writer writer);
void HandleTsdbStatus(const Params& params, const db::Database& database, Writer writer);
void HandleWalReplay(const db::ReplayProgress& progress, Writer writer);

}  // namespace narthex::server
