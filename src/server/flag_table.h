// The table of all flags. Data only; flags.cc interprets it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace narthex::server {

enum class FlagType : uint8_t { kText, kList, kBool, kDuration, kGoDuration, kInt, kBytes, kFloat };
enum class FlagMode : uint8_t { kBoth, kServer, kAgent };
enum class FlagEffect : uint8_t {
  kWorks,
  kNone,     // Accepted for compatibility; giving it is warned of at start.
  kIgnored,  // Means nothing outside the reference's runtime: accepted silently.
};

struct FlagSpec {
  std::string_view name;
  FlagType type;
  std::string_view default_value;
  FlagMode mode;
  FlagEffect effect;
  bool hidden;
  std::string_view help;
};

inline constexpr bool kShown = false;
inline constexpr bool kHidden = true;

using enum FlagType;
using enum FlagMode;
using enum FlagEffect;

inline constexpr auto kFlagTable = std::to_array<FlagSpec>({
    {"config.file", kText, "prometheus.yml", kBoth, kWorks, kShown, "Configuration file path."},
    {"config.auto-reload", kBool, "false", kBoth, kNone, kShown,
     "Reload when the configuration file changes."},
    {"config.auto-reload-interval", kDuration, "30s", kBoth, kNone, kShown,
     "How often to look for a changed configuration file."},
    {"web.listen-address", kList, "0.0.0.0:9090", kBoth, kWorks, kShown,
     "Address to listen on for the API and telemetry. Repeatable."},
    {"web.config.file", kText, "", kBoth, kNone, kShown,
     "File that turns on TLS and authentication."},
    {"web.read-timeout", kDuration, "5m", kBoth, kWorks, kShown,
     "Longest time to read a request; also closes idle connections."},
    {"web.max-connections", kInt, "512", kBoth, kWorks, kShown,
     "Most simultaneous connections over all listeners."},
    {"web.max-notifications-subscribers", kInt, "16", kBoth, kNone, kShown,
     "Most live notification subscribers."},
    {"web.external-url", kText, "", kBoth, kNone, kShown,
     "URL under which the server is reachable from outside."},
    {"web.route-prefix", kText, "", kBoth, kNone, kShown, "Prefix of the internal routes."},
    {"web.user-assets", kText, "", kBoth, kNone, kShown, "Folder served at /user."},
    {"web.enable-lifecycle", kBool, "false", kBoth, kWorks, kShown, "Serve /-/reload and /-/quit."},
    {"web.enable-admin-api", kBool, "false", kBoth, kNone, kShown, "Serve the admin API."},
    {"web.enable-remote-write-receiver", kBool, "false", kBoth, kWorks, kShown,
     "Accept remote write requests at /api/v1/write."},
    {"web.remote-write-receiver.accepted-protobuf-messages", kList,
     "prometheus.WriteRequest,io.prometheus.write.v2.Request", kBoth, kNone, kShown,
     "Messages the remote write receiver accepts. Repeatable."},
    {"web.enable-otlp-receiver", kBool, "false", kBoth, kNone, kShown,
     "Accept OTLP requests at /api/v1/otlp."},
    {"web.console.templates", kText, "consoles", kBoth, kIgnored, kShown,
     "Folder of console templates."},
    {"web.console.libraries", kText, "console_libraries", kBoth, kIgnored, kShown,
     "Folder of console libraries."},
    {"web.page-title", kText, "Prometheus Time Series Collection and Processing Server", kBoth,
     kNone, kShown, "Document title of the pages."},
    {"web.cors.origin", kText, ".*", kBoth, kWorks, kShown,
     "Anchored regular expression of the origins allowed by CORS."},
    {"web.search.max-limit", kInt, "10000", kServer, kNone, kShown,
     "Highest limit of the search API."},
    {"auto-gomaxprocs", kBool, "true", kBoth, kIgnored, kShown, "Accepted for compatibility."},
    {"auto-gomemlimit", kBool, "true", kBoth, kIgnored, kShown, "Accepted for compatibility."},
    {"auto-gomemlimit.ratio", kFloat, "0.9", kBoth, kIgnored, kShown,
     "Accepted for compatibility."},
    {"auto-gomemlimit.refresh-interval", kGoDuration, "0s", kBoth, kIgnored, kShown,
     "Accepted for compatibility."},
    {"storage.tsdb.path", kText, "data/", kServer, kWorks, kShown, "Data directory."},
    {"storage.tsdb.retention.time", kDuration, "", kServer, kNone, kShown,
     "How long samples are kept."},
    {"storage.tsdb.retention.size", kBytes, "", kServer, kNone, kShown,
     "Most bytes that blocks may take."},
    {"storage.tsdb.no-lockfile", kBool, "false", kServer, kWorks, kShown,
     "Do not make a lock file in the data directory."},
    {"storage.tsdb.head-chunks-write-queue-size", kInt, "0", kServer, kNone, kShown,
     "Queue of head chunks to be written."},
    {"storage.tsdb.delay-compact-file.path", kText, "", kServer, kNone, kShown,
     "Marker file of uploaded blocks."},
    {"storage.tsdb.min-block-duration", kDuration, "2h", kServer, kWorks, kHidden,
     "Range of a head block."},
    {"storage.tsdb.max-block-duration", kDuration, "", kServer, kNone, kHidden,
     "Longest range of a block."},
    {"storage.tsdb.max-block-chunk-segment-size", kBytes, "512MiB", kServer, kNone, kHidden,
     "Size of a block's chunk segments."},
    {"storage.tsdb.wal-segment-size", kBytes, "128MiB", kServer, kWorks, kHidden,
     "Size of the write-ahead log's segments."},
    {"storage.tsdb.allow-overlapping-compaction", kBool, "true", kServer, kNone, kHidden,
     "Merge overlapping blocks."},
    {"storage.tsdb.wal-compression", kBool, "true", kServer, kWorks, kHidden,
     "Compress the write-ahead log."},
    {"storage.tsdb.wal-compression-type", kText, "snappy", kServer, kWorks, kHidden,
     "snappy or zstd."},
    {"storage.tsdb.samples-per-chunk", kInt, "120", kServer, kWorks, kHidden,
     "Target number of samples a chunk."},
    {"storage.tsdb.delayed-compaction.max-percent", kInt, "10", kServer, kNone, kHidden,
     "Longest random delay of compaction, in percent of the chunk range."},
    {"storage.tsdb.block-reload-interval", kDuration, "1m", kServer, kNone, kHidden,
     "How often to look for new blocks."},
    {"storage.agent.path", kText, "data-agent/", kAgent, kNone, kShown, "Agent data directory."},
    {"storage.agent.wal-compression", kBool, "true", kAgent, kNone, kShown,
     "Compress the agent's log."},
    {"storage.agent.wal-compression-type", kText, "snappy", kAgent, kNone, kHidden,
     "snappy or zstd."},
    {"storage.agent.wal-segment-size", kBytes, "128MiB", kAgent, kNone, kHidden,
     "Size of the agent log's segments."},
    {"storage.agent.wal-truncate-frequency", kDuration, "2h", kAgent, kNone, kHidden,
     "How often the agent's log is cut."},
    {"storage.agent.retention.min-time", kDuration, "5m", kAgent, kNone, kShown,
     "Shortest age of samples the agent may drop."},
    {"storage.agent.retention.max-time", kDuration, "4h", kAgent, kNone, kShown,
     "Age at which the agent drops samples."},
    {"storage.agent.checkpoint-from-in-memory-series", kBool, "false", kAgent, kNone, kShown,
     "How the agent makes checkpoints."},
    {"storage.agent.checkpoint-batch-size", kInt, "1000", kAgent, kNone, kShown,
     "Batch size of the agent's checkpoints."},
    {"storage.agent.no-lockfile", kBool, "false", kAgent, kNone, kShown,
     "Do not make a lock file in the agent's directory."},
    {"storage.remote.flush-deadline", kDuration, "1m", kBoth, kNone, kShown,
     "How long to wait for remote write at shutdown."},
    {"storage.remote.read-sample-limit", kInt, "5e7", kServer, kNone, kShown,
     "Most samples of one remote read."},
    {"storage.remote.read-concurrent-limit", kInt, "10", kServer, kNone, kShown,
     "Most concurrent remote reads."},
    {"storage.remote.read-max-bytes-in-frame", kInt, "1048576", kServer, kNone, kShown,
     "Most bytes in a remote read frame."},
    {"rules.alert.for-outage-tolerance", kDuration, "1h", kServer, kNone, kShown,
     "Longest outage over which `for` state is restored."},
    {"rules.alert.for-grace-period", kDuration, "10m", kServer, kNone, kShown,
     "Shortest time between an alert and its restored `for` state."},
    {"rules.alert.resend-delay", kDuration, "1m", kServer, kNone, kShown,
     "Shortest time before an alert is sent again."},
    {"rules.max-concurrent-evals", kInt, "4", kServer, kNone, kShown,
     "Most concurrent rule evaluations."},
    {"alertmanager.notification-queue-capacity", kInt, "10000", kServer, kNone, kShown,
     "Capacity of the notification queue."},
    {"alertmanager.notification-batch-size", kInt, "256", kServer, kNone, kShown,
     "Most alerts in one notification."},
    {"alertmanager.drain-notification-queue-on-shutdown", kBool, "true", kServer, kNone, kShown,
     "Send what is queued before ending."},
    {"query.lookback-delta", kDuration, "5m", kServer, kWorks, kShown,
     "How far back an instant selector looks."},
    {"query.timeout", kDuration, "2m", kServer, kWorks, kShown, "Longest time of a query."},
    {"query.max-concurrency", kInt, "20", kServer, kWorks, kShown, "Most concurrent queries."},
    {"query.max-samples", kInt, "50000000", kServer, kWorks, kShown,
     "Most samples a query may hold in memory."},
    {"scrape.adjust-timestamps", kBool, "true", kBoth, kWorks, kHidden,
     "Align scrape timestamps to the schedule."},
    {"scrape.timestamp-tolerance", kGoDuration, "2ms", kBoth, kWorks, kHidden,
     "How far timestamps may be aligned."},
    {"scrape.discovery-reload-interval", kDuration, "5s", kBoth, kIgnored, kHidden,
     "Throttle of discovery updates."},
    {"enable-feature", kList, "", kBoth, kWorks, kShown,
     "Comma-separated features to turn on. Repeatable."},
    {"agent", kBool, "false", kBoth, kNone, kShown, "Run in agent mode."},
    {"log.level", kText, "info", kBoth, kWorks, kShown, "debug, info, warn or error."},
    {"log.format", kText, "logfmt", kBoth, kWorks, kShown, "logfmt or json."},
});

// Features of --enable-feature. Those that are always on or mean nothing here are kIgnored.
struct FeatureSpec {
  std::string_view name;
  FlagEffect effect;
};
inline constexpr auto kFeatureTable = std::to_array<FeatureSpec>({
    {"exemplar-storage", kNone},
    {"memory-snapshot-on-shutdown", kNone},
    {"extra-scrape-metrics", kWorks},
    {"metadata-wal-records", kWorks},
    {"promql-per-step-stats", kNone},
    {"auto-reload-config", kNone},
    {"concurrent-rule-eval", kNone},
    {"promql-experimental-functions", kWorks},
    {"promql-duration-expr", kIgnored},
    {"promql-at-modifier", kIgnored},
    {"promql-negative-offset", kIgnored},
    {"native-histograms", kIgnored},
    {"ooo-native-histograms", kIgnored},
    {"created-timestamp-zero-ingestion", kNone},
    {"st-storage", kNone},
    {"xor2-encoding", kNone},
    {"histograms-st-encoding", kNone},
    {"st-synthesis", kNone},
    {"use-start-timestamps", kNone},
    {"delayed-compaction", kNone},
    {"promql-delayed-name-removal", kWorks},
    {"promql-extended-range-selectors", kWorks},
    {"promql-binop-fill-modifiers", kWorks},
    {"old-ui", kNone},
    {"otlp-deltatocumulative", kNone},
    {"otlp-native-delta-ingestion", kNone},
    {"type-and-unit-labels", kNone},
    {"use-uncached-io", kNone},
    {"fast-startup", kNone},
    {"search-api", kNone},
});

}  // namespace narthex::server
