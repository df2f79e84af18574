// /api/v1/query and /api/v1/query_range. Queries run on a pool of their own behind a bounded queue.
// Thread-safe.
#pragma once

#include <memory>

#include "narthex/base/clock.h"
#include "narthex/base/metrics.h"
#include "narthex/base/thread_pool.h"
#include "narthex/model/queryable.h"
#include "narthex/promql/engine.h"
#include "server/api/envelope.h"
#include "server/api/params.h"
#include "server/api/result_json.h"

namespace narthex::server {

struct QueryApiOptions {
  int64_t timeout_ms = 120'000;
  size_t max_concurrency = 20;
  size_t max_queued = 1'000;
};

class QueryApi {
 public:
  // All pointers must outlive this.
  QueryApi(QueryApiOptions options, const promql::Engine* engine, const model::Queryable* queryable,
           const base::Clock* clock, base::Registry* registry);
  // REQUIRES: Stop() was called.
  ~QueryApi();

  void Instant(const Params& params, Writer writer);
  void Range(const Params& params, Writer writer);

  // Cancels running queries, waits for them. Idempotent.
  void Stop();

 private:
  struct Job;
  struct Metrics;
  void Enqueue(std::shared_ptr<Job> job);
  void Run(Job* job);

  const QueryApiOptions options_;
  const promql::Engine* const engine_;
  const model::Queryable* const queryable_;
  const base::Clock* const clock_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<base::ThreadPool> pool_;
};

}  // namespace narthex::server
