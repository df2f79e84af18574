// A pool's options in the form that scrapes use: rules compiled, headers written out. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/model/relabel.h"
#include "narthex/scrape/options.h"
#include "scrape/failure_log.h"

namespace narthex::scrape {

struct PoolConfig {
  PoolOptions options;
  std::vector<model::RelabelRule> target_rules;
  std::vector<model::RelabelRule> metric_rules;
  std::string accept;  // Request headers.
  std::string accept_encoding;
  std::string fallback;    // Protocol name or "".
  int32_t max_schema = 8;  // Finer native histograms are reduced to it.
  std::shared_ptr<const net::HttpClientOptions> http;
  std::shared_ptr<FailureLog> failure_log;  // May be null.
};

// kInvalidArgument as ValidatePoolOptions().
absl::StatusOr<std::shared_ptr<const PoolConfig>> CompilePoolOptions(
    PoolOptions options, std::shared_ptr<FailureLog> failure_log);

// Whether series that were scraped under `before` would get the same labels under `after`.
bool SeriesStayTheSame(PoolOptions before, PoolOptions after);

// The Accept header: protocols in order, weights falling from 0.6.
std::string AcceptHeader(const std::vector<ScrapeProtocol>& protocols, NameEscaping escaping);

// The finest schema whose buckets grow by at least `factor`; the finest of all for factors <= 1.
int32_t SchemaOfMinFactor(double factor);

}  // namespace narthex::scrape
