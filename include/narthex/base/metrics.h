// The server's own metrics: counters, gauges, histograms (classic and native) and summaries, in a
// Registry that hands out consistent snapshots. Metric objects are thread-safe, live as long as
// their registry, and cost one relaxed atomic operation (counter, gauge) or a short lock
// (histogram, summary) per update. Names and help texts are Prometheus's where it has them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "narthex/base/clock.h"
#include "narthex/base/mutex.h"

namespace narthex::base {

class Counter {
 public:
  // REQUIRES: delta >= 0.
  void Add(double delta = 1);
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double delta);
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// A native histogram's state at one moment: exponential schema, sparse buckets by index.
struct NativeHistogramData {
  int32_t schema = 0;
  double zero_threshold = 0;
  uint64_t zero_count = 0;
  std::map<int32_t, uint64_t> positive;  // Bucket index -> count (not cumulative).
  std::map<int32_t, uint64_t> negative;
};

struct HistogramData {
  std::vector<double> upper_bounds;         // Finite, ascending; +Inf is implied.
  std::vector<uint64_t> cumulative_counts;  // One per upper bound.
  uint64_t count = 0;
  double sum = 0;
  bool has_native = false;
  NativeHistogramData native;
};

struct HistogramOptions {
  std::vector<double> bounds = {};  // Classic upper bounds; may be empty ("no classic").
  bool native = false;              // Also a native histogram: growth factor 1.1 (schema 3) ...
  uint32_t max_buckets = 100;  // ... of at most this many buckets; wider data lower the schema.
};

class Histogram {
 public:
  explicit Histogram(HistogramOptions options);
  void Observe(double value);
  HistogramData Collect() const;

 private:
  const HistogramOptions options_;
  mutable Mutex mutex_;
  HistogramData data_ NX_GUARDED_BY(mutex_);
};

struct SummaryOptions {
  std::vector<double> quantiles = {0.5, 0.9, 0.99};  // Empty: only _sum and _count.
  int64_t window_ms = 600'000;                       // Sliding; quantiles are NaN when empty.
};

struct SummaryData {
  std::vector<std::pair<double, double>> quantiles;  // (quantile, value)
  uint64_t count = 0;
  double sum = 0;
};

class Summary {
 public:
  Summary(SummaryOptions options, const Clock* clock);
  ~Summary();
  void Observe(double value);
  SummaryData Collect() const;

 private:
  struct State;
  const SummaryOptions options_;
  const Clock* const clock_;
  mutable Mutex mutex_;
  std::unique_ptr<State> state_ NX_PT_GUARDED_BY(mutex_);
};

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram, kSummary };

// One metric of a family in a snapshot. Only the member its family's type names is set.
struct MetricPoint {
  std::vector<std::pair<std::string, std::string>> labels;  // Sorted by name.
  double value = 0;
  HistogramData histogram;
  SummaryData summary;
};

struct FamilySnapshot {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::vector<MetricPoint> points;
};

// A family of one metric type told apart by the values of fixed label names. With() takes a lock:
// keep its result where updates are frequent. Thread-safe.
template <typename Metric>
class Family {
 public:
  using Maker = std::function<std::unique_ptr<Metric>()>;
  explicit Family(std::vector<std::string> label_names, Maker maker)
      : label_names_(std::move(label_names)), maker_(std::move(maker)) {}

  // The metric of these label values (one per label name), made at first use. Never null; valid
  // until Remove() of the same values.
  Metric* With(const std::vector<std::string>& label_values) {
    MutexLock lock(&mutex_);
    auto& slot = metrics_[label_values];
    if (slot == nullptr) slot = maker_();
    return slot.get();
  }
  // Forgets a metric. No one may hold its pointer any more.
  void Remove(const std::vector<std::string>& label_values) {
    MutexLock lock(&mutex_);
    metrics_.erase(label_values);
  }
  const std::vector<std::string>& label_names() const { return label_names_; }
  // Calls `visit(label_values, metric)` for each metric under the lock.
  template <typename Visit>
  void ForEach(Visit visit) const {
    MutexLock lock(&mutex_);
    for (const auto& [values, metric] : metrics_) visit(values, *metric);
  }

 private:
  const std::vector<std::string> label_names_;
  const Maker maker_;
  mutable Mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<Metric>> metrics_ NX_GUARDED_BY(mutex_);
};

// Owns metrics by family name; a name is registered once (a second time is a bug: NX_CHECK).
class Registry {
 public:
  explicit Registry(const Clock* clock);
  ~Registry();

  Counter* AddCounter(std::string name, std::string help);
  Gauge* AddGauge(std::string name, std::string help);
  Histogram* AddHistogram(std::string name, std::string help, HistogramOptions options);
  Summary* AddSummary(std::string name, std::string help, SummaryOptions options);

  Family<Counter>* AddCounterFamily(std::string name, std::string help,
                                    std::vector<std::string> label_names);
  Family<Gauge>* AddGaugeFamily(std::string name, std::string help,
                                std::vector<std::string> label_names);
  Family<Histogram>* AddHistogramFamily(std::string name, std::string help,
                                        std::vector<std::string> label_names,
                                        HistogramOptions options);
  Family<Summary>* AddSummaryFamily(std::string name, std::string help,
                                    std::vector<std::string> label_names, SummaryOptions options);

  // A gauge or counter whose value is read at collection time. `read` must be thread-safe and
  // outlive the registry's last Collect().
  void AddGaugeFunction(std::string name, std::string help, std::function<double()> read);
  void AddCounterFunction(std::string name, std::string help, std::function<double()> read);

  // Families that `collect` appends at collection time, for metrics with changing label sets.
  void AddCollector(std::function<void(std::vector<FamilySnapshot>*)> collect);

  // All families sorted by name, points sorted by label values.
  std::vector<FamilySnapshot> Collect() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace narthex::base
