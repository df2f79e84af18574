#include "head/head_metrics.h"

namespace narthex::head {
namespace {

HeadMetrics::ByKind AddByKind(base::Registry* registry, const char* name, const char* help) {
  base::Family<base::Counter>* const family = registry->AddCounterFamily(name, help, {"type"});
  return {.floats = family->With({"float"}), .histograms = family->With({"histogram"})};
}

}  // namespace

HeadMetrics::HeadMetrics(base::Registry* registry, const base::Clock* clock)
    : own_(registry == nullptr ? std::make_unique<base::Registry>(clock) : nullptr),
      registry_(registry == nullptr ? own_.get() : registry) {
  base::Registry* const r = registry_;
  series_created = r->AddCounter("prometheus_tsdb_head_series_created_total",
                                 "Total number of series created in the head");
  series_removed = r->AddCounter("prometheus_tsdb_head_series_removed_total",
                                 "Total number of series removed in the head");
  series_not_found = r->AddCounter("prometheus_tsdb_head_series_not_found_total",
                                   "Total number of requests for series that were not found.");
  chunks_created = r->AddCounter("prometheus_tsdb_head_chunks_created_total",
                                 "Total number of chunks created in the head");
  chunks_removed = r->AddCounter("prometheus_tsdb_head_chunks_removed_total",
                                 "Total number of chunks removed in the head");
  truncations = r->AddCounter("prometheus_tsdb_head_truncations_total",
                              "Total number of head truncations attempted.");
  truncations_failed = r->AddCounter("prometheus_tsdb_head_truncations_failed_total",
                                     "Total number of head truncations that failed.");
  appenders_created = r->AddCounter("prometheus_tsdb_head_appenders_created_total",
                                    "Total number of appenders created in the head");
  active_appenders = r->AddGauge("prometheus_tsdb_head_active_appenders",
                                 "Number of currently active appender transactions");
  replay_seconds = r->AddGauge("prometheus_tsdb_data_replay_duration_seconds",
                               "Time taken to replay the data on disk.");
  wal_corruptions =
      r->AddCounter("prometheus_tsdb_wal_corruptions_total", "Total number of WAL corruptions.");
  wal_page_flushes =
      r->AddCounter("prometheus_tsdb_wal_page_flushes_total", "Total number of page flushes.");
  wal_completed_pages = r->AddCounter("prometheus_tsdb_wal_completed_pages_total",
                                      "Total number of completed pages.");
  wal_writes_failed = r->AddCounter("prometheus_tsdb_wal_writes_failed_total",
                                    "Total number of write log writes that failed.");
  wal_record_parts = r->AddCounter("prometheus_tsdb_wal_record_part_writes_total",
                                   "Total number of record parts written before flushing.");
  wal_record_parts_bytes =
      r->AddCounter("prometheus_tsdb_wal_record_parts_bytes_written_total",
                    "Total number of record part bytes written before flushing, including"
                    " CRC and compression headers.");
  wal_bytes_saved = r->AddCounterFamily(
      "prometheus_tsdb_wal_record_bytes_saved_total",
      "Total number of bytes saved by the optional record compression. Use this metric to learn"
      " about the effectiveness compression.",
      {"compression"});
  wal_segment = r->AddGauge("prometheus_tsdb_wal_segment_current",
                            "Write log segment index that TSDB is currently writing to.");
  unknown_refs = r->AddCounterFamily(
      "prometheus_tsdb_wal_replay_unknown_refs_total",
      "Total number of unknown series references encountered during WAL replay.", {"type"});
  appended = AddByKind(r, "prometheus_tsdb_head_samples_appended_total",
                       "Total number of appended samples.");
  out_of_bound = AddByKind(r, "prometheus_tsdb_out_of_bound_samples_total",
                           "Total number of out of bound samples ingestion failed attempts with out"
                           " of order support disabled.");
  out_of_order = AddByKind(r, "prometheus_tsdb_out_of_order_samples_total",
                           "Total number of out of order samples ingestion failed attempts due to"
                           " out of order being disabled.");
  too_old = AddByKind(r, "prometheus_tsdb_too_old_samples_total",
                      "Total number of out of order samples ingestion failed attempts with out of"
                      " support enabled, but sample outside of time window.");
}

}  // namespace narthex::head
