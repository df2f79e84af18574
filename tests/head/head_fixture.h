// What tests of the head share: opening one, writing by labels, and reading a querier's samples
// back as text that compares.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/head/head.h"
#include "narthex/model/appendable.h"
#include "narthex/model/labels.h"
#include "narthex/model/queryable.h"
#include "narthex/model/stale.h"
#include "tests/support/manual_clock.h"

namespace narthex::head {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// One sample as text: floats and sums by their bits.
inline std::string Text(double value) { return std::to_string(std::bit_cast<uint64_t>(value)); }
inline std::string Text(const model::FloatHistogram& h) {
  if (model::IsStaleNan(h.sum)) return "stale histogram";
  std::string text = "schema " + std::to_string(h.layout->schema) + " count " + Text(h.count) +
                     " zero " + Text(h.zero_count) + " sum " + Text(h.sum);
  // Buckets by their index, empty ones left out: layouts may be wider than the sample.
  size_t at = 0;
  for (const auto* spans : {&h.layout->positive_spans, &h.layout->negative_spans}) {
    text += " |";
    int64_t bucket = 0;
    for (const model::BucketSpan& span : *spans) {
      bucket += span.offset;
      for (uint32_t i = 0; i < span.length; ++i, ++bucket, ++at) {
        if (h.buckets[at] == 0) continue;
        text += " " + std::to_string(bucket) + ":" + Text(h.buckets[at]);
      }
    }
  }
  for (const double bound : h.layout->custom_bounds) text += " <" + Text(bound);
  return text;
}
inline std::string Text(const model::Histogram& h) {
  if (model::IsStaleNan(h.sum)) return "stale histogram";
  return Text(model::ToFloat(h));
}

using Samples = std::map<int64_t, std::string>;
using Contents = std::map<Pairs, Samples>;

inline constexpr model::TimeRange kAllTime{.min_time_ms = std::numeric_limits<int64_t>::min(),
                                           .max_time_ms = std::numeric_limits<int64_t>::max()};

// All samples of a selection; also checks what cursors promise.
inline Contents ReadAll(const model::Querier& querier,
                        std::span<const model::Matcher> matchers = {},
                        model::TimeRange range = kAllTime) {
  Contents contents;
  model::SelectHints hints;
  hints.range = range;
  auto selection = querier.Select(matchers, hints);
  EXPECT_TRUE(selection.ok()) << selection.status();
  if (!selection.ok()) return contents;
  auto cursor = (*selection)->NewCursor(model::HistogramDetail::kFull);
  for (size_t i = 0; i < (*selection)->size(); ++i) {
    std::vector<model::SymbolLabel> labels;
    (*selection)->AppendLabels(i, &labels);
    Pairs pairs;
    for (const model::SymbolLabel& label : labels) {
      pairs.emplace_back(querier.symbols().Text(label.name), querier.symbols().Text(label.value));
    }
    EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
    EXPECT_FALSE(contents.contains(pairs));
    Samples& samples = contents[pairs];
    cursor->Seek(i, range);
    while (cursor->Next()) {
      const model::ColumnBatch& batch = cursor->batch();
      EXPECT_FALSE(batch.times_ms.empty());
      for (size_t row = 0; row < batch.times_ms.size(); ++row) {
        const int64_t time_ms = batch.times_ms[row];
        EXPECT_TRUE(range.Contains(time_ms));
        EXPECT_TRUE(samples.empty() || samples.rbegin()->first < time_ms);
        if (batch.kind == model::SampleKind::kFloat) {
          samples[time_ms] = Text(batch.values[row]);
          continue;
        }
        model::FloatHistogram h;
        h.layout = batch.layout;
        h.count = batch.counts[row];
        h.zero_count = batch.zero_counts[row];
        h.sum = batch.sums[row];
        const size_t width = batch.layout->num_buckets();
        h.buckets.assign(batch.buckets.begin() + static_cast<std::ptrdiff_t>(row * width),
                         batch.buckets.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
        samples[time_ms] = Text(h);
      }
    }
    EXPECT_TRUE(cursor->status().ok()) << cursor->status();
    if (samples.empty()) contents.erase(pairs);
  }
  return contents;
}

inline model::Matcher Match(model::MatchType type, std::string_view name, std::string_view value) {
  return model::Matcher::Create(type, name, value).value();
}

// A head with what it needs around it. Open() may be called again: the head restarts.
class HeadHarness {
 public:
  explicit HeadHarness(HeadOptions options = {}, base::Fs* fs = nullptr)
      : options_(std::move(options)), fs_(fs) {
    Open();
  }

  void Open() {
    head_.reset();
    registry_ = std::make_unique<base::Registry>(&clock_);
    auto head = Head::Open(
        options_,
        {.clock = &clock_, .fs = fs_, .logger = &base::NullLogger(), .registry = registry_.get()},
        nullptr);
    ASSERT_TRUE(head.ok()) << head.status();
    head_ = std::move(head).value();
  }
  void Close() {
    ASSERT_TRUE(head_->Close().ok());
    head_.reset();
  }

  // From the next Open() on.
  HeadOptions* options() { return &options_; }

  Head* operator->() { return head_.get(); }
  Head* get() { return head_.get(); }

  static model::SeriesRef Resolve(model::Appender* appender, const Pairs& pairs) {
    std::vector<model::Label> labels;
    for (const auto& [name, value] : pairs) labels.push_back({name, value});
    auto ref = appender->Resolve(labels);
    EXPECT_TRUE(ref.ok()) << ref.status();
    return ref.ok() ? *ref : model::kNoSeries;
  }
  static model::AppendOutcome AppendFloat(model::Appender* appender, model::SeriesRef ref,
                                          int64_t time_ms, double value) {
    const model::FloatSample sample{ref, time_ms, value};
    model::AppendOutcome outcome{};
    appender->AppendFloats({&sample, 1}, {&outcome, 1});
    return outcome;
  }
  // One committed sample.
  model::AppendOutcome Add(const Pairs& pairs, int64_t time_ms, double value) {
    auto appender = head_->NewAppender();
    const model::AppendOutcome outcome =
        AppendFloat(appender.get(), Resolve(appender.get(), pairs), time_ms, value);
    EXPECT_TRUE(appender->Commit().ok());
    return outcome;
  }
  Contents Read(std::span<const model::Matcher> matchers = {}, model::TimeRange range = kAllTime) {
    auto querier = head_->NewQuerier(kAllTime);
    EXPECT_TRUE(querier.ok());
    return ReadAll(**querier, matchers, range);
  }
  // The value of an own metric; for those with labels of the point whose only label is `label`.
  double Metric(std::string_view name, std::string_view label = "") const {
    for (const base::FamilySnapshot& family : registry_->Collect()) {
      if (family.name != name) continue;
      for (const base::MetricPoint& point : family.points) {
        if (label.empty() || (!point.labels.empty() && point.labels[0].second == label)) {
          return point.value;
        }
      }
    }
    return -1;
  }

 private:
  HeadOptions options_;
  base::Fs* const fs_;
  support::ManualClock clock_;
  std::unique_ptr<base::Registry> registry_;
  std::unique_ptr<Head> head_;
};

}  // namespace narthex::head
