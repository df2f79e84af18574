// The routes of the server and what they answer while it starts, runs and stops. Thread-safe once
// built.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "narthex/base/regex.h"
#include "narthex/db/database.h"
#include "narthex/remote/write_receiver.h"
#include "narthex/scrape/manager.h"
#include "server/api/query_api.h"
#include "server/config_holder.h"
#include "server/flags.h"
#include "server/lifecycle.h"
#include "server/router.h"

namespace narthex::server {

// What exists once the database is open. `receiver` is null when it is turned off.
struct ReadyServices {
  const db::Database* database = nullptr;
  QueryApi* query = nullptr;
  const scrape::Manager* scrape = nullptr;
  remote::WriteReceiver* receiver = nullptr;
};

// All must outlive the Web.
struct WebContext {
  const Flags* flags = nullptr;
  ConfigHolder* config = nullptr;
  Lifecycle* lifecycle = nullptr;
  const base::Clock* clock = nullptr;
  base::Registry* registry = nullptr;
  int64_t start_time_ms = 0;
  std::string external_url;  // "http://host:9090"
};

class Web {
 public:
  explicit Web(WebContext context);

  // Answers a request. Until SetReady() only health, metrics and replay progress are served.
  void Serve(const net::HttpRequest& request, Writer writer) const {
    router_.Serve(request, writer);
  }

  void SetReplayProgress(const db::ReplayProgress& progress);
  // The services must live until the HTTP server stopped.
  void SetReady(const ReadyServices& services);
  void SetStopping() { state_.store(State::kStopping, std::memory_order_release); }

 private:
  enum class State : uint8_t { kStarting, kReady, kStopping };
  bool is_ready() const { return state_.load(std::memory_order_acquire) == State::kReady; }
  net::HeaderList CorsHeaders(const net::HttpRequest& request) const;

  void AddHealthRoutes();
  void AddLifecycleRoutes();
  void AddQueryRoutes();
  void AddTargetRoutes();
  void AddStatusRoutes();
  void AddMetricsRoute();
  void AddReceiverRoute();
  // Wraps a handler of parameters: bad escapes are answered here.
  RouteHandler WithParams(std::function<void(const Params&, const PathValues&, Writer)> handle);

  const WebContext context_;
  const base::Regex cors_origin_;
  std::atomic<State> state_{State::kStarting};
  ReadyServices services_;  // Set before state_ becomes kReady, unchanged after.
  mutable base::Mutex progress_mutex_;
  db::ReplayProgress progress_ NX_GUARDED_BY(progress_mutex_);
  Router router_;
};

}  // namespace narthex::server
