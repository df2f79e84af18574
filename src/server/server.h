// The running server: everything wired together, started and stopped in order. Bound to the main
// thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "narthex/base/log.h"
#include "server/config/config.h"
#include "server/flags.h"
#include "server/lifecycle.h"

namespace narthex::server {

// Defaults of the configuration file that the command line sets.
ConfigDefaults DefaultsOf(const Flags& flags);

class Server {
 public:
  // Opens the listeners, then the database (the API answers 503 meanwhile), then applies the
  // configuration and gets ready. All pointers must outlive the server.
  // kUnavailable: an address or the data directory cannot be used, with the reason.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Flags* flags, Config config,
                                                       const base::Logger* logger,
                                                       Lifecycle* lifecycle);
  ~Server();

  // Serves until the process is asked to end; then stops everything. The status of the database's
  // closing.
  absl::Status Run();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace narthex::server
