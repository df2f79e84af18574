#include "narthex/base/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/native_buckets.h"
#include "base/quantile_window.h"
#include "narthex/base/check.h"

namespace narthex::base {

void Counter::Add(double delta) {
  NX_DCHECK(delta >= 0);
  value_.fetch_add(delta, std::memory_order_relaxed);
}

void Gauge::Add(double delta) { value_.fetch_add(delta, std::memory_order_relaxed); }

// Until Collect() the classic counts are those of the single buckets.
Histogram::Histogram(HistogramOptions options) : options_(std::move(options)) {
  NX_CHECK(std::is_sorted(options_.bounds.begin(), options_.bounds.end()));
  MutexLock lock(&mutex_);
  data_.upper_bounds = options_.bounds;
  data_.cumulative_counts.resize(options_.bounds.size());
  data_.has_native = options_.native;
  if (options_.native) {
    data_.native.schema = kOwnMetricsSchema;
    data_.native.zero_threshold = kOwnMetricsZeroThreshold;
  }
}

void Histogram::Observe(double value) {
  MutexLock lock(&mutex_);
  ++data_.count;
  data_.sum += value;
  if (std::isnan(value)) return;  // In no bucket but +Inf, which is the count.
  const auto bound = std::lower_bound(data_.upper_bounds.begin(), data_.upper_bounds.end(), value);
  if (bound != data_.upper_bounds.end()) {
    ++data_.cumulative_counts[static_cast<size_t>(bound - data_.upper_bounds.begin())];
  }
  if (options_.native) ObserveNative(value, options_.max_buckets, &data_.native);
}

HistogramData Histogram::Collect() const {
  HistogramData snapshot;
  {
    MutexLock lock(&mutex_);
    snapshot = data_;
  }
  uint64_t sum = 0;
  for (uint64_t& count : snapshot.cumulative_counts) count = sum += count;
  return snapshot;
}

struct Summary::State {
  explicit State(int64_t window_ms) : window(window_ms) {}
  QuantileWindow window;
  uint64_t count = 0;
  double sum = 0;
};

Summary::Summary(SummaryOptions options, const Clock* clock)
    : options_(std::move(options)),
      clock_(clock),
      state_(std::make_unique<State>(options_.window_ms)) {}

Summary::~Summary() = default;

void Summary::Observe(double value) {
  const int64_t now_ms = clock_->MonotonicNs() / 1'000'000;
  MutexLock lock(&mutex_);
  ++state_->count;
  state_->sum += value;
  if (!options_.quantiles.empty()) state_->window.Observe(value, now_ms);
}

SummaryData Summary::Collect() const {
  const int64_t now_ms = clock_->MonotonicNs() / 1'000'000;
  SummaryData data;
  MutexLock lock(&mutex_);
  data.count = state_->count;
  data.sum = state_->sum;
  const std::vector<double> values = state_->window.Quantiles(options_.quantiles, now_ms);
  for (size_t i = 0; i < values.size(); ++i) {
    data.quantiles.emplace_back(options_.quantiles[i], values[i]);
  }
  return data;
}

namespace {

MetricPoint PointOf(const Counter& counter) {
  MetricPoint point;
  point.value = counter.value();
  return point;
}
MetricPoint PointOf(const Gauge& gauge) {
  MetricPoint point;
  point.value = gauge.value();
  return point;
}
MetricPoint PointOf(const Histogram& histogram) {
  MetricPoint point;
  point.histogram = histogram.Collect();
  return point;
}
MetricPoint PointOf(const Summary& summary) {
  MetricPoint point;
  point.summary = summary.Collect();
  return point;
}

void SortPoints(FamilySnapshot* family) {
  for (MetricPoint& point : family->points) std::sort(point.labels.begin(), point.labels.end());
  std::sort(family->points.begin(), family->points.end(),
            [](const MetricPoint& a, const MetricPoint& b) { return a.labels < b.labels; });
}

}  // namespace

struct Registry::Impl {
  using Points = std::vector<MetricPoint>;
  struct Entry {
    std::string help;
    MetricType type;
    std::function<void(Points*)> collect;  // Owns the metrics it reads.
  };

  explicit Impl(const Clock* c) : clock(c) {}

  void Add(std::string name, std::string help, MetricType type,
           std::function<void(Points*)> collect) {
    MutexLock lock(&mutex);
    const bool is_new =
        entries.emplace(std::move(name), Entry{std::move(help), type, std::move(collect)}).second;
    NX_CHECK(is_new);
  }

  template <typename Metric>
  Metric* AddMetric(std::string name, std::string help, MetricType type,
                    std::shared_ptr<Metric> metric) {
    Metric* const raw = metric.get();
    Add(std::move(name), std::move(help), type,
        [metric = std::move(metric)](Points* points) { points->push_back(PointOf(*metric)); });
    return raw;
  }

  template <typename Metric>
  Family<Metric>* AddFamily(std::string name, std::string help, MetricType type,
                            std::vector<std::string> label_names,
                            typename Family<Metric>::Maker maker) {
    auto family = std::make_shared<Family<Metric>>(std::move(label_names), std::move(maker));
    Family<Metric>* const raw = family.get();
    Add(std::move(name), std::move(help), type, [family = std::move(family)](Points* points) {
      family->ForEach([&](const std::vector<std::string>& values, const Metric& metric) {
        MetricPoint point = PointOf(metric);
        for (size_t i = 0; i < values.size(); ++i) {
          point.labels.emplace_back(family->label_names()[i], values[i]);
        }
        points->push_back(std::move(point));
      });
    });
    return raw;
  }

  void AddFunction(std::string name, std::string help, MetricType type,
                   std::function<double()> read) {
    Add(std::move(name), std::move(help), type,
        [read = std::move(read)](Points* points) { points->emplace_back().value = read(); });
  }

  const Clock* const clock;
  mutable Mutex mutex;
  // Only ever grow; what they hold is used without the lock.
  std::map<std::string, Entry> entries NX_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<const std::function<void(std::vector<FamilySnapshot>*)>>> collectors
      NX_GUARDED_BY(mutex);
};

Registry::Registry(const Clock* clock) : impl_(std::make_unique<Impl>(clock)) {}
Registry::~Registry() = default;

Counter* Registry::AddCounter(std::string name, std::string help) {
  return impl_->AddMetric(std::move(name), std::move(help), MetricType::kCounter,
                          std::make_shared<Counter>());
}

Gauge* Registry::AddGauge(std::string name, std::string help) {
  return impl_->AddMetric(std::move(name), std::move(help), MetricType::kGauge,
                          std::make_shared<Gauge>());
}

Histogram* Registry::AddHistogram(std::string name, std::string help, HistogramOptions options) {
  return impl_->AddMetric(std::move(name), std::move(help), MetricType::kHistogram,
                          std::make_shared<Histogram>(std::move(options)));
}

Summary* Registry::AddSummary(std::string name, std::string help, SummaryOptions options) {
  return impl_->AddMetric(std::move(name), std::move(help), MetricType::kSummary,
                          std::make_shared<Summary>(std::move(options), impl_->clock));
}

Family<Counter>* Registry::AddCounterFamily(std::string name, std::string help,
                                            std::vector<std::string> label_names) {
  return impl_->AddFamily<Counter>(std::move(name), std::move(help), MetricType::kCounter,
                                   std::move(label_names), std::make_unique<Counter>);
}

Family<Gauge>* Registry::AddGaugeFamily(std::string name, std::string help,
                                        std::vector<std::string> label_names) {
  return impl_->AddFamily<Gauge>(std::move(name), std::move(help), MetricType::kGauge,
                                 std::move(label_names), std::make_unique<Gauge>);
}

Family<Histogram>* Registry::AddHistogramFamily(std::string name, std::string help,
                                                std::vector<std::string> label_names,
                                                HistogramOptions options) {
  return impl_->AddFamily<Histogram>(
      std::move(name), std::move(help), MetricType::kHistogram, std::move(label_names),
      [options = std::move(options)] { return std::make_unique<Histogram>(options); });
}

Family<Summary>* Registry::AddSummaryFamily(std::string name, std::string help,
                                            std::vector<std::string> label_names,
                                            SummaryOptions options) {
  return impl_->AddFamily<Summary>(std::move(name), std::move(help), MetricType::kSummary,
                                   std::move(label_names),
                                   [options = std::move(options), clock = impl_->clock] {
                                     return std::make_unique<Summary>(options, clock);
                                   });
}

void Registry::AddGaugeFunction(std::string name, std::string help, std::function<double()> read) {
  impl_->AddFunction(std::move(name), std::move(help), MetricType::kGauge, std::move(read));
}

void Registry::AddCounterFunction(std::string name, std::string help,
                                  std::function<double()> read) {
  impl_->AddFunction(std::move(name), std::move(help), MetricType::kCounter, std::move(read));
}

void Registry::AddCollector(std::function<void(std::vector<FamilySnapshot>*)> collect) {
  MutexLock lock(&impl_->mutex);
  impl_->collectors.push_back(
      std::make_shared<const std::function<void(std::vector<FamilySnapshot>*)>>(
          std::move(collect)));
}

std::vector<FamilySnapshot> Registry::Collect() const {
  // The lock is not held while reading: a read function may take locks of its own, under which
  // someone else adds a metric. Entries never move or go.
  std::vector<std::pair<const std::string*, const Impl::Entry*>> entries;
  std::vector<std::shared_ptr<const std::function<void(std::vector<FamilySnapshot>*)>>> collectors;
  {
    MutexLock lock(&impl_->mutex);
    for (const auto& [name, entry] : impl_->entries) entries.emplace_back(&name, &entry);
    collectors = impl_->collectors;
  }
  std::vector<FamilySnapshot> families;
  for (const auto& [name, entry] : entries) {
    FamilySnapshot& family = families.emplace_back();
    family.name = *name;
    family.help = entry->help;
    family.type = entry->type;
    entry->collect(&family.points);
  }
  for (const auto& collect : collectors) (*collect)(&families);
  for (FamilySnapshot& family : families) SortPoints(&family);
  std::stable_sort(
      families.begin(), families.end(),
      [](const FamilySnapshot& a, const FamilySnapshot& b) { return a.name < b.name; });
  return families;
}

}  // namespace narthex::base
