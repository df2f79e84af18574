// The metrics of the scrape room (prometheus_target_*). Thread-safe.
#pragma once

#include "narthex/base/metrics.h"

namespace narthex::scrape {

struct ScrapeMetrics {
  explicit ScrapeMetrics(base::Registry* registry);

  base::Counter* const pools;
  base::Counter* const pools_failed;
  base::Counter* const pool_reloads;
  base::Counter* const pool_reloads_failed;
  base::Counter* const exceeded_target_limit;
  base::Counter* const exceeded_label_limits;
  base::Counter* const exceeded_body_size_limit;
  base::Counter* const exceeded_sample_limit;
  base::Counter* const exceeded_bucket_limit;
  base::Counter* const cache_flush_forced;
  base::Counter* const duplicate_timestamp;
  base::Counter* const out_of_order;
  base::Counter* const out_of_bounds;
  base::Counter* const exemplar_out_of_order;
  base::Histogram* const scrape_duration;
  base::Family<base::Summary>* const reload_length;    // interval
  base::Family<base::Summary>* const interval_length;  // interval
  base::Family<base::Histogram>* const interval_length_histogram;
  base::Family<base::Gauge>* const pool_target_limit;  // scrape_job, as all below
  base::Family<base::Gauge>* const pool_targets;
  base::Family<base::Gauge>* const pool_symbols;
  base::Family<base::Counter>* const pool_syncs;
  base::Family<base::Summary>* const sync_length;
  base::Family<base::Histogram>* const sync_length_histogram;
  base::Family<base::Counter>* const sync_failed;
};

}  // namespace narthex::scrape
