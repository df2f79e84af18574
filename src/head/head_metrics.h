// The head's own metrics, under Prometheus's names. Immutable set of thread-safe metrics.
#pragma once

#include <memory>

#include "narthex/base/clock.h"
#include "narthex/base/metrics.h"

namespace narthex::head {

class HeadMetrics {
 public:
  // Registers in `registry`, or in a registry of its own if that is null.
  HeadMetrics(base::Registry* registry, const base::Clock* clock);

 private:
  std::unique_ptr<base::Registry> own_;  // First: the pointers below are its.
  base::Registry* const registry_;

 public:
  base::Counter* series_created;
  base::Counter* series_removed;
  base::Counter* series_not_found;
  base::Counter* chunks_created;
  base::Counter* chunks_removed;
  base::Counter* truncations;
  base::Counter* truncations_failed;
  base::Counter* appenders_created;
  base::Gauge* active_appenders;
  base::Gauge* replay_seconds;
  base::Counter* wal_corruptions;
  base::Counter* wal_page_flushes;
  base::Counter* wal_completed_pages;
  base::Counter* wal_writes_failed;
  base::Counter* wal_record_parts;
  base::Counter* wal_record_parts_bytes;
  base::Family<base::Counter>* wal_bytes_saved;
  base::Gauge* wal_segment;
  base::Family<base::Counter>* unknown_refs;
  // By kind of sample; the two kinds are fixed.
  struct ByKind {
    base::Counter* floats;
    base::Counter* histograms;
  };
  ByKind appended, out_of_bound, out_of_order, too_old;

  base::Registry* registry() const { return registry_; }
};

}  // namespace narthex::head
