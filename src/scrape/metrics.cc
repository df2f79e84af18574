#include "scrape/metrics.h"

#include <string>
#include <vector>

namespace narthex::scrape {
namespace {

const std::vector<std::string> kByJob = {"scrape_job"};
const std::vector<std::string> kByInterval = {"interval"};

base::SummaryOptions LengthQuantiles() { return {.quantiles = {0.01, 0.05, 0.5, 0.9, 0.99}}; }
base::HistogramOptions LengthBuckets() { return {.bounds = {.01, .1, 1, 10}, .native = true}; }

std::string Name(std::string_view suffix) { return "prometheus_target_" + std::string(suffix); }

}  // namespace

ScrapeMetrics::ScrapeMetrics(base::Registry* r)
    : pools(r->AddCounter(Name("scrape_pools_total"),
                          "Total number of scrape pool creation attempts.")),
      pools_failed(r->AddCounter(Name("scrape_pools_failed_total"),
                                 "Total number of scrape pool creations that failed.")),
      pool_reloads(
          r->AddCounter(Name("scrape_pool_reloads_total"), "Total number of scrape pool reloads.")),
      pool_reloads_failed(r->AddCounter(Name("scrape_pool_reloads_failed_total"),
                                        "Total number of failed scrape pool reloads.")),
      exceeded_target_limit(r->AddCounter(Name("scrape_pool_exceeded_target_limit_total"),
                                          "Total number of times scrape pools hit the target "
                                          "limit, during sync or config reload.")),
      exceeded_label_limits(r->AddCounter(Name("scrape_pool_exceeded_label_limits_total"),
                                          "Total number of times scrape pools hit the label "
                                          "limits, during sync or config reload.")),
      exceeded_body_size_limit(
          r->AddCounter(Name("scrapes_exceeded_body_size_limit_total"),
                        "Total number of scrapes that hit the body size limit")),
      exceeded_sample_limit(
          r->AddCounter(Name("scrapes_exceeded_sample_limit_total"),
                        "Total number of scrapes that hit the sample limit and were rejected.")),
      exceeded_bucket_limit(r->AddCounter(
          Name("scrapes_exceeded_native_histogram_bucket_limit_total"),
          "Total number of scrapes that hit the native histogram bucket limit and were rejected.")),
      cache_flush_forced(r->AddCounter(Name("scrapes_cache_flush_forced_total"),
                                       "How many times a scrape cache was flushed due to getting "
                                       "big while scrapes are failing.")),
      duplicate_timestamp(r->AddCounter(
          Name("scrapes_sample_duplicate_timestamp_total"),
          "Total number of samples rejected due to duplicate timestamps but different values.")),
      out_of_order(r->AddCounter(
          Name("scrapes_sample_out_of_order_total"),
          "Total number of samples rejected due to not being out of the expected order.")),
      out_of_bounds(r->AddCounter(
          Name("scrapes_sample_out_of_bounds_total"),
          "Total number of samples rejected due to timestamp falling outside of the time bounds.")),
      exemplar_out_of_order(r->AddCounter(
          Name("scrapes_exemplar_out_of_order_total"),
          "Total number of exemplar rejected due to not being out of the expected order.")),
      scrape_duration(r->AddHistogram(
          Name("scrape_duration_seconds"),
          "Total duration of the scrape from start to commit completion in seconds.",
          {.bounds = {}, .native = true})),
      reload_length(r->AddSummaryFamily(
          Name("reload_length_seconds"),
          "Actual interval to reload the scrape pool with a given configuration.", kByInterval,
          LengthQuantiles())),
      interval_length(r->AddSummaryFamily(Name("interval_length_seconds"),
                                          "Actual intervals between scrapes.", kByInterval,
                                          LengthQuantiles())),
      interval_length_histogram(r->AddHistogramFamily(Name("interval_length_histogram_seconds"),
                                                      "Actual intervals between scrapes.",
                                                      kByInterval, LengthBuckets())),
      pool_target_limit(r->AddGaugeFamily(Name("scrape_pool_target_limit"),
                                          "Maximum number of targets allowed in this scrape pool.",
                                          kByJob)),
      pool_targets(r->AddGaugeFamily(Name("scrape_pool_targets"),
                                     "Current number of targets in this scrape pool.", kByJob)),
      pool_symbols(r->AddGaugeFamily(Name("scrape_pool_symboltable_items"),
                                     "Current number of symbols in table for this scrape pool.",
                                     kByJob)),
      pool_syncs(r->AddCounterFamily(Name("scrape_pool_sync_total"),
                                     "Total number of syncs that were executed on a scrape pool.",
                                     kByJob)),
      sync_length(r->AddSummaryFamily(Name("sync_length_seconds"),
                                      "Actual interval to sync the scrape pool.", kByJob,
                                      LengthQuantiles())),
      sync_length_histogram(r->AddHistogramFamily(Name("sync_length_histogram_seconds"),
                                                  "Actual interval to sync the scrape pool.",
                                                  kByJob, LengthBuckets())),
      sync_failed(r->AddCounterFamily(Name("sync_failed_total"),
                                      "Total number of target sync failures.", kByJob)) {}

}  // namespace narthex::scrape
