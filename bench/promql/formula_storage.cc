#include "bench/promql/formula_storage.h"

#include <algorithm>
#include <unordered_map>

namespace narthex::bench {
namespace {

constexpr size_t kRowsPerBatch = 120;

class Symbols final : public model::SymbolTable {
 public:
  std::string_view Text(model::Symbol symbol) const override { return texts_[symbol]; }
  std::optional<model::Symbol> Find(std::string_view text) const override {
    const auto found = numbers_.find(std::string(text));
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }
  model::Symbol Intern(const std::string& text) {
    const auto [place, is_new] =
        numbers_.try_emplace(text, static_cast<model::Symbol>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return place->second;
  }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, model::Symbol> numbers_;
};

}  // namespace

struct FormulaStorage::Data {
  struct Series {
    std::vector<model::SymbolLabel> labels;
    bool is_histogram;
    double slope;
  };
  Symbols symbols;
  std::vector<Series> series;
  size_t num_samples = 0;
  model::LayoutPtr layout;
};

namespace {

using Data = FormulaStorage::Data;

class Cursor final : public model::SeriesCursor {
 public:
  Cursor(const Data* data, const std::vector<uint32_t>* selected)
      : data_(data), selected_(selected) {}

  void Seek(size_t index, model::TimeRange range) override {
    series_ = &data_->series[(*selected_)[index]];
    const int64_t first = std::max<int64_t>(0, range.min_time_ms + FormulaStorage::kStepMs - 1) /
                          FormulaStorage::kStepMs;
    const int64_t last = range.max_time_ms < 0 ? -1 : range.max_time_ms / FormulaStorage::kStepMs;
    next_ = static_cast<size_t>(first);
    end_ = std::min(data_->num_samples, static_cast<size_t>(last + 1));
  }

  bool Next() override {
    if (next_ >= end_) return false;
    const size_t rows = std::min(kRowsPerBatch, end_ - next_);
    times_.resize(rows);
    values_.resize(rows);
    for (size_t i = 0; i < rows; ++i) {
      times_[i] = static_cast<int64_t>(next_ + i) * FormulaStorage::kStepMs;
      values_[i] = series_->slope * static_cast<double>(next_ + i);
    }
    batch_.times_ms = times_;
    if (series_->is_histogram) {
      FillHistograms(rows);
    } else {
      batch_.kind = model::SampleKind::kFloat;
      batch_.values = values_;
    }
    next_ += rows;
    return true;
  }
  const model::ColumnBatch& batch() const override { return batch_; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  void FillHistograms(size_t rows) {
    constexpr size_t kWidth = FormulaStorage::kBuckets;
    counts_.resize(rows);
    zeros_.assign(rows, 0);
    hints_.assign(rows, model::CounterResetHint::kNotReset);
    buckets_.resize(rows * kWidth);
    for (size_t i = 0; i < rows; ++i) {
      counts_[i] = values_[i] * kWidth;
      std::fill_n(buckets_.begin() + static_cast<std::ptrdiff_t>(i * kWidth), kWidth, values_[i]);
    }
    batch_.kind = model::SampleKind::kHistogram;
    batch_.layout = data_->layout;
    batch_.counts = counts_;
    batch_.zero_counts = zeros_;
    batch_.sums = values_;
    batch_.hints = hints_;
    batch_.buckets = buckets_;
  }

  const Data* const data_;
  const std::vector<uint32_t>* const selected_;
  const Data::Series* series_ = nullptr;
  size_t next_ = 0, end_ = 0;
  std::vector<int64_t> times_;
  std::vector<double> values_, counts_, zeros_, buckets_;
  std::vector<model::CounterResetHint> hints_;
  model::ColumnBatch batch_;
};

class Selection final : public model::SeriesSelection {
 public:
  Selection(std::shared_ptr<const Data> data, std::vector<uint32_t> selected)
      : data_(std::move(data)), selected_(std::move(selected)) {}
  size_t size() const override { return selected_.size(); }
  void AppendLabels(size_t index, std::vector<model::SymbolLabel>* out) const override {
    const auto& labels = data_->series[selected_[index]].labels;
    out->insert(out->end(), labels.begin(), labels.end());
  }
  std::unique_ptr<model::SeriesCursor> NewCursor(model::HistogramDetail) const override {
    return std::make_unique<Cursor>(data_.get(), &selected_);
  }
  Latest FindLatest(size_t index, model::TimeRange range, model::LatestSample* out) const override {
    const Data::Series& series = data_->series[selected_[index]];
    if (series.is_histogram) return Latest::kAskCursor;
    const auto row = std::min(static_cast<int64_t>(data_->num_samples) - 1,
                              range.max_time_ms / FormulaStorage::kStepMs);
    out->time_ms = row * FormulaStorage::kStepMs;
    if (row < 0 || out->time_ms < range.min_time_ms) return Latest::kNone;
    out->kind = model::SampleKind::kFloat;
    out->value = series.slope * static_cast<double>(row);
    return Latest::kHave;
  }

 private:
  const std::shared_ptr<const Data> data_;
  const std::vector<uint32_t> selected_;
};

class FormulaQuerier final : public model::Querier {
 public:
  explicit FormulaQuerier(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  const model::SymbolTable& symbols() const override { return data_->symbols; }

  absl::StatusOr<std::unique_ptr<model::SeriesSelection>> Select(
      std::span<const model::Matcher> matchers, const model::SelectHints&) const override {
    std::vector<uint32_t> selected;
    for (uint32_t i = 0; i < data_->series.size(); ++i) {
      const bool all = std::ranges::all_of(matchers, [&](const model::Matcher& matcher) {
        const auto& labels = data_->series[i].labels;
        const auto label = std::ranges::find_if(labels, [&](const model::SymbolLabel& candidate) {
          return data_->symbols.Text(candidate.name) == matcher.name();
        });
        return matcher.Matches(label == labels.end() ? std::string_view()
                                                     : data_->symbols.Text(label->value));
      });
      if (all) selected.push_back(i);
    }
    return std::make_unique<Selection>(data_, std::move(selected));
  }
  absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const model::Matcher>,
                                                      size_t) const override {
    return std::vector<std::string>();
  }
  absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view,
                                                       std::span<const model::Matcher>,
                                                       size_t) const override {
    return std::vector<std::string>();
  }

 private:
  const std::shared_ptr<const Data> data_;
};

std::shared_ptr<const Data> MakeData(std::vector<FormulaSeries> series, size_t num_samples) {
  auto data = std::make_shared<Data>();
  data->num_samples = num_samples;
  for (const FormulaSeries& one : series) {
    Data::Series& made = data->series.emplace_back();
    made.is_histogram = one.is_histogram;
    made.slope = one.slope;
    for (const auto& [name, value] : one.labels) {
      made.labels.push_back({data->symbols.Intern(name), data->symbols.Intern(value)});
    }
  }
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->positive_spans = {{-20, FormulaStorage::kBuckets}};
  data->layout = layout;
  return data;
}

}  // namespace

FormulaStorage::FormulaStorage(std::vector<FormulaSeries> series, size_t num_samples)
    : data_(MakeData(std::move(series), num_samples)) {}

FormulaStorage::~FormulaStorage() = default;

absl::StatusOr<std::unique_ptr<model::Querier>> FormulaStorage::NewQuerier(model::TimeRange) const {
  return std::make_unique<FormulaQuerier>(data_);
}

}  // namespace narthex::bench
