#include "tests/support/fake_queryable.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "narthex/model/histogram_math.h"
#include "narthex/model/stale.h"
#include "narthex/model/symbols.h"

namespace narthex::testing {
namespace {

using AllSeries = std::shared_ptr<const std::vector<FakeSeries>>;

class FakeCursor final : public model::SeriesCursor {
 public:
  FakeCursor(const AllSeries& all, const std::vector<size_t>* indexes, size_t batch_rows,
             model::HistogramDetail detail)
      : all_(all), indexes_(indexes), batch_rows_(batch_rows), detail_(detail) {}

  void Seek(size_t index, model::TimeRange range) override {
    samples_ = &(*all_)[(*indexes_)[index]].samples;
    range_ = range;
    next_ = 0;
    previous_ = nullptr;
    while (next_ < samples_->size() && (*samples_)[next_].time_ms < range.min_time_ms) ++next_;
  }

  bool Next() override {
    times_.clear();
    for (auto* column : {&values_, &counts_, &zero_counts_, &sums_, &buckets_}) column->clear();
    hints_.clear();
    batch_ = {};
    while (next_ < samples_->size() && times_.size() < batch_rows_) {
      const FakeSample& sample = (*samples_)[next_];
      if (sample.time_ms > range_.max_time_ms || !Fits(sample)) break;
      Take(sample);
      ++next_;
    }
    Publish();
    return !times_.empty();
  }

  const model::ColumnBatch& batch() const override { return batch_; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  bool Fits(const FakeSample& sample) const {
    if (times_.empty()) return true;
    const bool is_histogram = sample.histogram != nullptr;
    if (is_histogram != (batch_.kind == model::SampleKind::kHistogram)) return false;
    return !is_histogram || sample.histogram->layout == batch_.layout;
  }

  void Take(const FakeSample& sample) {
    times_.push_back(sample.time_ms);
    if (sample.histogram == nullptr) {
      values_.push_back(sample.value);
      return;
    }
    const model::FloatHistogram& histogram = *sample.histogram;
    batch_.kind = model::SampleKind::kHistogram;
    batch_.layout = histogram.layout;
    counts_.push_back(histogram.count);
    zero_counts_.push_back(histogram.zero_count);
    sums_.push_back(histogram.sum);
    hints_.push_back(detail_ == model::HistogramDetail::kFull ? histogram.hint
                                                              : CompleteHint(histogram));
    previous_ = &histogram;
    if (detail_ == model::HistogramDetail::kFull) {
      buckets_.insert(buckets_.end(), histogram.buckets.begin(), histogram.buckets.end());
    }
  }

  model::CounterResetHint CompleteHint(const model::FloatHistogram& histogram) const {
    if (histogram.hint != model::CounterResetHint::kUnknown || previous_ == nullptr) {
      return histogram.hint;
    }
    return model::DetectReset(histogram, *previous_) ? model::CounterResetHint::kReset
                                                     : model::CounterResetHint::kNotReset;
  }

  void Publish() {
    batch_.times_ms = times_;
    batch_.values = values_;
    batch_.counts = counts_;
    batch_.zero_counts = zero_counts_;
    batch_.sums = sums_;
    batch_.hints = hints_;
    batch_.buckets = buckets_;
  }

  const AllSeries all_;
  const std::vector<size_t>* const indexes_;
  const size_t batch_rows_;
  const model::HistogramDetail detail_;
  const std::vector<FakeSample>* samples_ = nullptr;
  model::TimeRange range_;
  size_t next_ = 0;
  const model::FloatHistogram* previous_ = nullptr;  // The last one read since Seek().
  std::vector<int64_t> times_;
  std::vector<double> values_, counts_, zero_counts_, sums_, buckets_;
  std::vector<model::CounterResetHint> hints_;
  model::ColumnBatch batch_;
};

// Symbols as a storage hands them out: below model::kOverlayBit.
class FakeSymbols final : public model::SymbolTable {
 public:
  std::string_view Text(model::Symbol symbol) const override { return texts_[symbol]; }
  std::optional<model::Symbol> Find(std::string_view text) const override {
    const auto found = numbers_.find(text);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }
  void Intern(std::string_view text) {
    if (Find(text).has_value()) return;
    const auto number = static_cast<model::Symbol>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
  }

 private:
  std::deque<std::string> texts_;  // Stable addresses.
  std::unordered_map<std::string_view, model::Symbol> numbers_;
};

class FakeSelection final : public model::SeriesSelection {
 public:
  FakeSelection(AllSeries all, const model::SymbolTable* symbols, std::vector<size_t> indexes,
                size_t batch_rows)
      : all_(std::move(all)),
        symbols_(symbols),
        indexes_(std::move(indexes)),
        batch_rows_(batch_rows) {}

  size_t size() const override { return indexes_.size(); }
  void AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const override {
    for (const auto& [name, value] : (*all_)[indexes_[index]].labels) {
      out->push_back({symbols_->Find(name).value(), symbols_->Find(value).value()});
    }
  }
  std::unique_ptr<model::SeriesCursor> NewCursor(model::HistogramDetail detail) const override {
    return std::make_unique<FakeCursor>(all_, &indexes_, batch_rows_, detail);
  }
  Latest FindLatest(size_t index, model::TimeRange range, model::LatestSample* out) const override {
    const std::vector<FakeSample>& samples = (*all_)[indexes_[index]].samples;
    // Like a database that keeps its newest sample decoded: only that one is known without chunks.
    if (samples.empty() || samples.front().time_ms > range.max_time_ms) return Latest::kNone;
    const FakeSample& newest = samples.back();
    if (newest.time_ms < range.min_time_ms) return Latest::kNone;
    if (newest.time_ms > range.max_time_ms || newest.histogram != nullptr) {
      return Latest::kAskCursor;
    }
    out->time_ms = newest.time_ms;
    out->kind = model::SampleKind::kFloat;
    out->value = newest.value;
    return Latest::kHave;
  }

 private:
  const AllSeries all_;
  const model::SymbolTable* const symbols_;
  const std::vector<size_t> indexes_;
  const size_t batch_rows_;
};

bool MatchesAll(const FakeSeries& series, std::span<const model::Matcher> matchers) {
  return std::ranges::all_of(matchers, [&](const model::Matcher& matcher) {
    const auto label = std::ranges::find(series.labels, matcher.name(),
                                         [](const auto& pair) { return pair.first; });
    return matcher.Matches(label == series.labels.end() ? std::string_view() : label->second);
  });
}

class FakeQuerier final : public model::Querier {
 public:
  FakeQuerier(AllSeries all, size_t batch_rows) : all_(std::move(all)), batch_rows_(batch_rows) {
    for (const FakeSeries& series : *all_) {
      for (const auto& [name, value] : series.labels) {
        symbols_.Intern(name);
        symbols_.Intern(value);
      }
    }
  }

  const model::SymbolTable& symbols() const override { return symbols_; }

  absl::StatusOr<std::unique_ptr<model::SeriesSelection>> Select(
      std::span<const model::Matcher> matchers, const model::SelectHints& hints) const override {
    std::vector<size_t> indexes;
    for (size_t i = 0; i < all_->size(); ++i) {
      const FakeSeries& series = (*all_)[i];
      const bool in_range = std::ranges::any_of(series.samples, [&](const FakeSample& sample) {
        return hints.range.Contains(sample.time_ms);
      });
      if (in_range && MatchesAll(series, matchers)) indexes.push_back(i);
    }
    return std::make_unique<FakeSelection>(all_, &symbols_, std::move(indexes), batch_rows_);
  }

  absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const model::Matcher> matchers,
                                                      size_t limit) const override {
    std::set<std::string> names;
    ForEachLabel(matchers, [&](const auto& label) { names.insert(label.first); });
    return First(names, limit);
  }

  absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view name,
                                                       std::span<const model::Matcher> matchers,
                                                       size_t limit) const override {
    std::set<std::string> values;
    ForEachLabel(matchers, [&](const auto& label) {
      if (label.first == name) values.insert(label.second);
    });
    return First(values, limit);
  }

 private:
  template <typename Visit>
  void ForEachLabel(std::span<const model::Matcher> matchers, Visit visit) const {
    for (const FakeSeries& series : *all_) {
      if (MatchesAll(series, matchers)) std::ranges::for_each(series.labels, visit);
    }
  }
  static std::vector<std::string> First(const std::set<std::string>& texts, size_t limit) {
    std::vector<std::string> out(texts.begin(), texts.end());
    if (limit != 0 && out.size() > limit) out.resize(limit);
    return out;
  }

  const AllSeries all_;
  const size_t batch_rows_;
  FakeSymbols symbols_;
};

// A ref is the index of a label set among those resolved, from 1.
class FakeAppender final : public model::Appender {
 public:
  explicit FakeAppender(FakeQueryable* target) : target_(target) {}

  absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label> labels) override {
    auto& pairs = resolved_.emplace_back();
    for (const model::Label& label : labels) pairs.emplace_back(label.name, label.value);
    return resolved_.size();
  }
  void AppendFloats(std::span<const model::FloatSample> samples,
                    std::span<model::AppendOutcome> outcomes) override {
    for (size_t i = 0; i < samples.size(); ++i) {
      floats_.push_back(samples[i]);
      outcomes[i] = model::AppendOutcome::kAccepted;
    }
  }
  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::Histogram& histogram) override {
    return AppendHistogram(ref, time_ms, model::ToFloat(histogram));
  }
  model::AppendOutcome AppendHistogram(model::SeriesRef ref, int64_t time_ms,
                                       const model::FloatHistogram& histogram) override {
    histograms_.push_back({ref, time_ms, histogram});
    return model::AppendOutcome::kAccepted;
  }
  absl::Status AppendExemplar(model::SeriesRef, const model::Exemplar&) override {
    return absl::OkStatus();
  }
  void SetMetadata(model::SeriesRef, const model::Metadata&) override {}
  absl::Status Commit() override {
    std::vector<std::vector<std::pair<int64_t, double>>> by_ref(resolved_.size());
    for (const model::FloatSample& sample : floats_) {
      by_ref[sample.ref - 1].emplace_back(sample.time_ms, sample.value);
    }
    for (size_t i = 0; i < resolved_.size(); ++i) target_->AddFloats(resolved_[i], by_ref[i]);
    for (Pending& pending : histograms_) {
      target_->AddHistogram(resolved_[pending.ref - 1], pending.time_ms,
                            std::move(pending.histogram));
    }
    for (auto& labels : resolved_) target_->SetHints(std::move(labels));
    return absl::OkStatus();
  }
  void Rollback() override {}

 private:
  struct Pending {
    model::SeriesRef ref;
    int64_t time_ms;
    model::FloatHistogram histogram;
  };
  FakeQueryable* const target_;
  std::vector<std::vector<std::pair<std::string, std::string>>> resolved_;
  std::vector<model::FloatSample> floats_;
  std::vector<Pending> histograms_;
};

}  // namespace

std::unique_ptr<model::Appender> FakeQueryable::NewAppender() {
  return std::make_unique<FakeAppender>(this);
}

FakeSeries* FakeQueryable::Series(std::vector<std::pair<std::string, std::string>> labels) {
  std::ranges::sort(labels);
  // Queriers keep what they saw.
  if (series_.use_count() > 1) series_ = std::make_shared<std::vector<FakeSeries>>(*series_);
  const auto found = std::ranges::find(*series_, labels, &FakeSeries::labels);
  if (found != series_->end()) return &*found;
  series_->push_back({std::move(labels), {}});
  return &series_->back();
}

void FakeQueryable::AddFloats(std::vector<std::pair<std::string, std::string>> labels,
                              const std::vector<std::pair<int64_t, double>>& samples) {
  FakeSeries* series = Series(std::move(labels));
  for (const auto& [time_ms, value] : samples) series->samples.push_back({time_ms, value, nullptr});
  std::ranges::stable_sort(series->samples, {}, &FakeSample::time_ms);
}

void FakeQueryable::AddHistogram(std::vector<std::pair<std::string, std::string>> labels,
                                 int64_t time_ms, model::FloatHistogram histogram) {
  if (histogram.layout == nullptr) histogram.layout = model::EmptyLayout();
  FakeSeries* series = Series(std::move(labels));
  series->samples.push_back(
      {time_ms, 0, std::make_shared<const model::FloatHistogram>(std::move(histogram))});
  std::ranges::stable_sort(series->samples, {}, &FakeSample::time_ms);
}

void FakeQueryable::SetHints(std::vector<std::pair<std::string, std::string>> labels) {
  using model::CounterResetHint;
  const model::FloatHistogram* previous = nullptr;
  for (FakeSample& sample : Series(std::move(labels))->samples) {
    const bool is_histogram =
        sample.histogram != nullptr && !model::IsStaleNan(sample.histogram->sum);
    if (!is_histogram) {
      previous = nullptr;
      continue;
    }
    model::FloatHistogram histogram = *sample.histogram;
    const bool is_gauge = histogram.hint == CounterResetHint::kGauge;
    // The first one of a chunk is unknown, and a reset begins a chunk.
    const bool goes_on = previous != nullptr && previous->hint != CounterResetHint::kGauge &&
                         !is_gauge && !model::DetectReset(histogram, *previous);
    if (!is_gauge)
      histogram.hint = goes_on ? CounterResetHint::kNotReset : CounterResetHint::kUnknown;
    sample.histogram = std::make_shared<const model::FloatHistogram>(std::move(histogram));
    previous = sample.histogram.get();
  }
}

void FakeQueryable::Clear() { series_ = std::make_shared<std::vector<FakeSeries>>(); }

absl::StatusOr<std::unique_ptr<model::Querier>> FakeQueryable::NewQuerier(
    model::TimeRange /*range*/) const {
  return std::make_unique<FakeQuerier>(series_, batch_rows_);
}

}  // namespace narthex::testing
