#include "server/server.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "narthex/base/fs.h"
#include "narthex/base/scheduler.h"
#include "narthex/base/status.h"
#include "narthex/db/database.h"
#include "narthex/net/http_client.h"
#include "narthex/net/http_server.h"
#include "narthex/promql/engine.h"
#include "narthex/remote/write_receiver.h"
#include "narthex/scrape/manager.h"
#include "server/api/query_api.h"
#include "server/build_info.h"
#include "server/config_holder.h"
#include "server/process_metrics.h"
#include "server/web.h"

namespace narthex::server {
namespace {

constexpr int64_t kStopGraceMs = 5'000;
constexpr size_t kMaxQueuedRequests = 4'096;
constexpr size_t kMaxQueuedScrapes = 16'384;
constexpr size_t kMinHttpWorkers = 8;
// More threads than this cannot make queries faster.
constexpr int64_t kMaxQueryThreads = 1'024;

size_t NumCores() { return std::max<size_t>(1, std::thread::hardware_concurrency()); }

std::string HostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

model::Labels ExternalLabels(const Config& config) {
  std::vector<model::Label> labels;
  for (const auto& [name, value] : config.global.external_labels) labels.push_back({name, value});
  return model::Labels::FromPairs(std::move(labels));
}

promql::EngineOptions EngineOptionsOf(const Flags& flags, const Config& config) {
  promql::EngineOptions options;
  const int64_t lookback_ms = flags.DurationMs("query.lookback-delta");
  if (lookback_ms > 0) options.lookback_ms = lookback_ms;
  options.default_subquery_step_ms = config.global.evaluation_interval_ms;
  options.max_samples = static_cast<uint64_t>(flags.Int("query.max-samples"));
  options.enable_experimental_functions = flags.HasFeature("promql-experimental-functions");
  options.enable_extended_ranges = flags.HasFeature("promql-extended-range-selectors");
  options.enable_fill_modifiers = flags.HasFeature("promql-binop-fill-modifiers");
  options.delayed_name_removal = flags.HasFeature("promql-delayed-name-removal");
  return options;
}

db::DatabaseOptions DatabaseOptionsOf(const Flags& flags) {
  db::DatabaseOptions options;
  options.path = flags.Text("storage.tsdb.path");
  while (options.path.size() > 1 && options.path.back() == '/') options.path.pop_back();
  options.block_range_ms = flags.DurationMs("storage.tsdb.min-block-duration");
  options.wal_segment_bytes = flags.Bytes("storage.tsdb.wal-segment-size");
  options.wal_compression = !flags.Bool("storage.tsdb.wal-compression") ? db::WalCompression::kNone
                            : flags.Text("storage.tsdb.wal-compression-type") == "zstd"
                                ? db::WalCompression::kZstd
                                : db::WalCompression::kSnappy;
  options.samples_per_chunk = static_cast<uint32_t>(flags.Int("storage.tsdb.samples-per-chunk"));
  options.no_lockfile = flags.Bool("storage.tsdb.no-lockfile");
  return options;
}

void AddBuildInfo(base::Registry* registry) {
  registry
      ->AddGaugeFamily("prometheus_build_info", "What was built, as labels of a constant 1.",
                       {"version", "revision", "branch", "goversion", "goos", "goarch", "tags"})
      ->With({std::string(kCompatibleVersion), std::string(Revision()), std::string(kBranch),
              std::string(Compiler()), "linux", "amd64", "unknown"})
      ->Set(1);
}

}  // namespace

ConfigDefaults DefaultsOf(const Flags& flags) {
  return {.extra_scrape_metrics = flags.HasFeature("extra-scrape-metrics")};
}

// In order of construction; destruction runs backwards after Stop().
struct Server::Parts {
  Parts(const Flags* server_flags, Config initial, const base::Logger* server_logger,
        Lifecycle* server_lifecycle)
      : flags(server_flags),
        logger(server_logger),
        lifecycle(server_lifecycle),
        start_time_ms(clock.NowMs()),
        registry(&clock),
        engine(EngineOptionsOf(*server_flags, initial)),
        config(server_flags->Text("config.file"), DefaultsOf(*server_flags), std::move(initial),
               &base::PosixFs(), &clock, server_logger, &registry),
        http_workers("http", std::max(kMinHttpWorkers, 2 * NumCores()), kMaxQueuedRequests),
        scrape_workers("scrape", NumCores(), kMaxQueuedScrapes),
        scrape_timer("scrape-timer", &clock) {}

  absl::Status Listen();
  absl::Status OpenDatabase();
  void MakeServices();
  absl::Status Stop();

  const Flags* const flags;
  const base::Logger* const logger;
  Lifecycle* const lifecycle;
  const base::Clock& clock = base::SystemClock();
  const int64_t start_time_ms;
  base::Registry registry;
  const promql::Engine engine;
  ConfigHolder config;
  base::ThreadPool http_workers;
  base::ThreadPool scrape_workers;
  base::TimerThread scrape_timer;
  std::unique_ptr<net::HttpServer> http_server;
  std::unique_ptr<Web> web;
  std::unique_ptr<db::Database> database;
  std::unique_ptr<QueryApi> query_api;
  std::unique_ptr<net::HttpClient> http_client;
  std::unique_ptr<scrape::Manager> scrape;
  std::unique_ptr<remote::WriteReceiver> receiver;
};

absl::Status Server::Parts::Listen() {
  net::HttpServerOptions options;
  options.listen_addresses = flags->List("web.listen-address");
  options.max_connections = static_cast<size_t>(flags->Int("web.max-connections"));
  options.read_timeout_ms = flags->DurationMs("web.read-timeout");
  auto server = net::HttpServer::Listen(options, &http_workers, logger);
  if (!server.ok()) return base::WithContext(server.status(), "unable to start web listener");
  http_server = *std::move(server);
  for (size_t i = 0; i < options.listen_addresses.size(); ++i) {
    logger->Info("Listening on",
                 {{"address", options.listen_addresses[i]}, {"port", http_server->ports()[i]}});
  }
  WebContext context;
  context.flags = flags;
  context.config = &config;
  context.lifecycle = lifecycle;
  context.clock = &clock;
  context.registry = &registry;
  context.start_time_ms = start_time_ms;
  context.external_url = base::StrCat("http://", HostName(), ":", http_server->ports().front());
  web = std::make_unique<Web>(std::move(context));
  http_server->Serve([this](const net::HttpRequest& request, Writer writer) {
    web->Serve(request, std::move(writer));
  });
  return absl::OkStatus();
}

absl::Status Server::Parts::OpenDatabase() {
  db::DatabaseContext context;
  context.clock = &clock;
  context.fs = &base::PosixFs();
  context.logger = logger;
  context.registry = &registry;
  logger->Info("Starting TSDB ...", {{"path", flags->Text("storage.tsdb.path")}});
  auto opened = db::Database::Open(
      DatabaseOptionsOf(*flags), context,
      [this](const db::ReplayProgress& progress) { web->SetReplayProgress(progress); });
  if (!opened.ok()) return base::WithContext(opened.status(), "opening storage failed");
  database = *std::move(opened);
  logger->Info("TSDB started");
  return absl::OkStatus();
}

void Server::Parts::MakeServices() {
  QueryApiOptions query_options;
  query_options.timeout_ms = flags->DurationMs("query.timeout");
  const int64_t max_concurrency = flags->Int("query.max-concurrency");
  query_options.max_concurrency = static_cast<size_t>(std::min(max_concurrency, kMaxQueryThreads));
  if (max_concurrency > kMaxQueryThreads) {
    logger->Warn("query.max-concurrency is lowered to its limit", {{"limit", kMaxQueryThreads}});
  }
  query_api = std::make_unique<QueryApi>(query_options, &engine, database.get(), &clock, &registry);

  http_client = net::HttpClient::Create();
  scrape::ManagerServices services;
  services.clock = &clock;
  services.scheduler = &scrape_timer;
  services.http = http_client.get();
  services.executor = [this](std::function<void()> task) {
    return scrape_workers.TrySubmit(std::move(task));
  };
  services.appendable = database.get();
  services.registry = &registry;
  services.logger = logger;
  services.fs = &base::PosixFs();
  scrape::ManagerOptions scrape_options;
  scrape_options.host_name = HostName();
  scrape_options.append_metadata = flags->HasFeature("metadata-wal-records");
  scrape = std::make_unique<scrape::Manager>(services, scrape_options);

  if (flags->Bool("web.enable-remote-write-receiver")) {
    remote::WriteReceiverOptions options;
    options.hash_seed =
        static_cast<uint64_t>(std::random_device()()) << 32 | std::random_device()();
    receiver =
        std::make_unique<remote::WriteReceiver>(options, database.get(), &clock, logger, &registry);
  }
}

absl::Status Server::Parts::Stop() {
  logger->Info("Stopping scrape manager...");
  if (web != nullptr) web->SetStopping();
  if (http_client != nullptr) http_client->Stop();
  if (scrape != nullptr) scrape->Stop();
  scrape_timer.Stop();
  scrape_workers.Stop();
  // Connections first: once they are closed, queries are cancelled and nobody waits for a slow
  // client.
  if (http_server != nullptr) http_server->Stop(kStopGraceMs);
  http_workers.Stop();
  if (query_api != nullptr) query_api->Stop();
  if (database == nullptr) return absl::OkStatus();
  const absl::Status status = database->Close();
  logger->Info("See you next time!");
  return status;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Flags* flags, Config config,
                                                      const base::Logger* logger,
                                                      Lifecycle* lifecycle) {
  auto parts = std::make_unique<Parts>(flags, std::move(config), logger, lifecycle);
  AddBuildInfo(&parts->registry);
  AddProcessMetrics(&parts->registry, parts->start_time_ms);
  absl::Status status = parts->Listen();
  if (status.ok()) status = parts->OpenDatabase();
  if (status.ok()) {
    parts->MakeServices();
    Parts* raw = parts.get();
    status = parts->config.Install([raw](const Config& applied) {
      return raw->scrape->Apply(applied.scrape_configs, ExternalLabels(applied));
    });
  }
  if (!status.ok()) {
    base::IgnoreError(parts->Stop(), "the first error is the one to tell");
    return status;
  }
  parts->web->SetReady({.database = parts->database.get(),
                        .query = parts->query_api.get(),
                        .scrape = parts->scrape.get(),
                        .receiver = parts->receiver.get()});
  logger->Info("Server is ready to receive web requests.");
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

absl::Status Server::Run() {
  for (;;) {
    if (parts_->lifecycle->Wait() == LifecycleEvent::kTerminate) break;
    base::IgnoreError(parts_->config.Reload(), "the reload has told its error to log and metrics");
  }
  parts_->logger->Warn("Received an OS signal, exiting gracefully...");
  return parts_->Stop();
}

}  // namespace narthex::server
