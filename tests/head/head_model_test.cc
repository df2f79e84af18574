// The head against a naive twin: random batches of all sample types, weird values, type changes,
// stale markers, late samples and, with a log, restarts. Prints its seed; NX_SEED sets it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/head/head_fixture.h"
#include "tests/support/fault_fs.h"

namespace narthex::head {
namespace {

using model::AppendOutcome;

constexpr int64_t kStart = 1'700'000'000'000;
constexpr int64_t kRange = 600'000;

uint64_t Seed() {
  if (const char* const seed = std::getenv("NX_SEED")) return std::strtoull(seed, nullptr, 10);
  return std::random_device{}();
}

class HeadModelTest : public testing::Test {
 protected:
  enum class Kind : uint8_t { kNone, kFloat, kHistogram, kFloatHistogram };
  struct TwinSeries {
    Samples samples;
    Kind last = Kind::kNone;
    double last_value = 0;
    uint64_t counter = 0;
    std::vector<int64_t> buckets;
  };
  struct Pending {
    Pairs pairs;
    int64_t time_ms;
    std::string text;
    Kind kind;
  };

  uint64_t Roll(uint64_t sides) { return random_() % sides; }

  double RandomValue(TwinSeries* series) {
    switch (Roll(40)) {
      case 0:
        return model::StaleNan();
      case 1:
        return std::bit_cast<double>(random_());
      case 2:
        return -0.0;
      case 3:
        return model::NormalNan();
      case 4:
        return static_cast<double>(Roll(1000)) / 8;
      default:
        break;
    }
    switch (Roll(3)) {
      case 0:
        return series->last_value;
      case 1:
        return series->last_value + static_cast<double>(Roll(5000));
      default:
        return static_cast<double>(Roll(100'000)) / 100;
    }
  }

  // Mostly a counter over a growing layout, now and then a reset, a gap, a gauge or custom bounds.
  model::Histogram RandomHistogram(TwinSeries* series) {
    model::HistogramLayout layout;
    model::Histogram h;
    if (Roll(25) == 0) {
      h.sum = model::StaleNan();
      h.layout = model::EmptyLayout();
      return h;
    }
    std::vector<int64_t>& buckets = series->buckets;
    if (buckets.empty() || Roll(30) == 0) buckets.assign(1 + Roll(20), 0);
    if (Roll(10) == 0 && buckets.size() < 40) buckets.push_back(0);
    for (int64_t& bucket : buckets) {
      if (Roll(3) == 0) bucket += static_cast<int64_t>(Roll(4) == 0 ? Roll(100'000) : Roll(5));
    }
    if (Roll(6) == 0) {
      layout.schema = model::kCustomBucketsSchema;
      for (size_t i = 0; i + 1 < buckets.size(); ++i) {
        layout.custom_bounds.push_back(static_cast<double>(i) * 0.5);
      }
      layout.positive_spans = {{0, static_cast<uint32_t>(buckets.size())}};
      h.buckets = buckets;
    } else {
      layout.schema = static_cast<int32_t>(Roll(12) == 0 ? Roll(13) : 3);
      layout.zero_threshold = 0.001;
      h.zero_count = Roll(3) == 0 ? series->counter++ : series->counter;
      // Only populated buckets, each a span of its own.
      int32_t next = 0;
      for (size_t i = 0; i < buckets.size(); ++i) {
        if (buckets[i] == 0) continue;
        const auto index = static_cast<int32_t>(i) - 5;
        layout.positive_spans.push_back({h.buckets.empty() ? index : index - next, 1});
        next = index + 1;
        h.buckets.push_back(buckets[i]);
      }
      if (Roll(8) == 0) {
        layout.negative_spans = {{0, 1}, {2, 1}};
        h.buckets.push_back(1);
        h.buckets.push_back(3);
      }
    }
    h.count = h.zero_count;
    for (const int64_t bucket : h.buckets) h.count += static_cast<uint64_t>(bucket);
    h.sum = Roll(2) == 0 ? static_cast<double>(h.count) * 0.37 : static_cast<double>(h.count);
    if (Roll(15) == 0) h.hint = model::CounterResetHint::kGauge;
    if (Roll(40) == 0) h.hint = model::CounterResetHint::kReset;
    h.layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
    return h;
  }

  // What is read back: schemas above 8 were reduced.
  static std::string StoredText(model::Histogram h) {
    if (!model::IsStaleNan(h.sum) && h.layout->schema > 8) model::ReduceResolution(&h, 8);
    return Text(h);
  }
  static std::string StoredText(model::FloatHistogram h) {
    if (!model::IsStaleNan(h.sum) && h.layout->schema > 8) model::ReduceResolution(&h, 8);
    return Text(h);
  }

  void OneBatch(HeadHarness* head) {
    auto appender = (*head)->NewAppender();
    std::vector<Pending> pending;
    const bool commit = Roll(10) != 0;
    std::map<Pairs, TwinSeries> scratch = twin_;
    const size_t num_samples = 1 + Roll(40);
    for (size_t i = 0; i < num_samples; ++i) {
      const Pairs pairs = {{"__name__", "m" + std::to_string(Roll(3))},
                           {"i", std::to_string(Roll(12))}};
      OneSample(appender.get(), pairs, &scratch[pairs], &twin_[pairs], &pending);
    }
    if (!commit) {
      appender->Rollback();
      return;
    }
    ASSERT_TRUE(appender->Commit().ok());
    for (const Pending& one : pending) {
      // Of several samples of one time in a batch the first stays.
      TwinSeries& series = twin_[one.pairs];
      if (!series.samples.empty() && series.samples.rbegin()->first >= one.time_ms) continue;
      series.samples[one.time_ms] = one.text;
    }
    for (auto& [pairs, series] : twin_) {
      const TwinSeries& after = scratch[pairs];
      series.last = after.last;
      series.last_value = after.last_value;
      series.counter = after.counter;
      series.buckets = after.buckets;
    }
  }

  // `series`: as of the samples of this batch so far; `committed`: as of the batches before.
  void OneSample(model::Appender* appender, const Pairs& pairs, TwinSeries* series,
                 TwinSeries* committed, std::vector<Pending>* pending) {
    const model::SeriesRef ref = HeadHarness::Resolve(appender, pairs);
    const Samples& samples = committed->samples;
    // Within a batch each series moves on, so that what a batch holds is what it stores.
    int64_t& batch_time = batch_times_[pairs];
    batch_time = std::max(batch_time, now_ms_) + 1 + static_cast<int64_t>(Roll(3));
    int64_t time_ms = batch_time;
    const bool late = Roll(20) == 0 && !samples.empty();
    if (late) time_ms = samples.rbegin()->first - static_cast<int64_t>(Roll(3));
    AppendOutcome outcome{};
    std::string text;
    Kind kind = Roll(20) == 0 ? static_cast<Kind>(1 + Roll(3)) : series->last;
    if (kind == Kind::kNone) kind = static_cast<Kind>(1 + Roll(3));
    if (kind == Kind::kFloat || Roll(50) == 0) {
      const double value = RandomValue(series);
      outcome = HeadHarness::AppendFloat(appender, ref, time_ms, value);
      // A late marker meets what is stored, not what this batch holds.
      const Kind ended = late ? committed->last : series->last;
      const bool ends_histogram = model::IsStaleNan(value) && ended > Kind::kFloat;
      text = ends_histogram ? "stale histogram" : Text(value);
      kind = ends_histogram ? series->last : Kind::kFloat;
      if (outcome == AppendOutcome::kAccepted) series->last_value = value;
    } else if (kind == Kind::kHistogram) {
      const model::Histogram h = RandomHistogram(series);
      outcome = appender->AppendHistogram(ref, time_ms, h);
      text = StoredText(h);
    } else {
      model::FloatHistogram h;
      const model::Histogram integer = RandomHistogram(series);
      if (model::IsStaleNan(integer.sum)) {
        h.sum = integer.sum;
        h.layout = integer.layout;
      } else {
        h = model::ToFloat(integer);
        h.hint = integer.hint;
      }
      outcome = appender->AppendHistogram(ref, time_ms, h);
      text = StoredText(h);
    }
    if (late) {
      const bool same_time = time_ms == samples.rbegin()->first;
      if (!same_time) {
        ASSERT_EQ(outcome, AppendOutcome::kOutOfOrder);
      } else {
        ASSERT_TRUE(outcome == AppendOutcome::kDuplicate ||
                    (outcome == AppendOutcome::kDuplicateSame && samples.at(time_ms) == text))
            << "stored " << samples.at(time_ms) << "\noffered " << text;
      }
      return;
    }
    ASSERT_EQ(outcome, AppendOutcome::kAccepted);
    pending->push_back({pairs, time_ms, text, kind});
    series->last = kind;
  }

  // Names the first difference only: the lists are long.
  static void ExpectSamples(const Samples& found, const Samples& expected) {
    for (const auto& [time_ms, text] : expected) {
      const auto sample = found.find(time_ms);
      ASSERT_NE(sample, found.end()) << "missing at " << time_ms << ": " << text;
      ASSERT_EQ(sample->second, text) << "at " << time_ms;
    }
    ASSERT_EQ(found.size(), expected.size());
  }

  void ExpectEqual(HeadHarness* head) {
    Contents expected;
    for (const auto& [pairs, series] : twin_) {
      if (!series.samples.empty()) expected[pairs] = series.samples;
    }
    const Contents found = head->Read();
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [pairs, samples] : expected) {
      ASSERT_NO_FATAL_FAILURE(ExpectSamples(found.at(pairs), samples))
          << pairs[0].second << " " << pairs[1].second;
    }
    // A part of the time.
    const int64_t from =
        kStart + static_cast<int64_t>(Roll(static_cast<uint64_t>(now_ms_ - kStart + 1)));
    const model::TimeRange range{.min_time_ms = from,
                                 .max_time_ms = from + static_cast<int64_t>(Roll(2 * kRange))};
    const Contents part = head->Read({}, range);
    for (auto& [pairs, samples] : expected) {
      std::erase_if(samples, [&](const auto& sample) { return !range.Contains(sample.first); });
      if (samples.empty()) {
        ASSERT_FALSE(part.contains(pairs));
      } else {
        ASSERT_EQ(part.at(pairs), samples);
      }
    }
  }

  // Drops what is older than a range, as after a block was written.
  void Truncate(HeadHarness* head) {
    const int64_t cut_ms = now_ms_ - kRange;
    ASSERT_TRUE((*head)->Truncate(cut_ms).ok());
    for (auto& [pairs, series] : twin_) {
      std::erase_if(series.samples, [&](const auto& sample) { return sample.first < cut_ms; });
    }
    head->options()->min_valid_time_ms = cut_ms;
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(head)) << "after truncation";
  }

  void Run(HeadHarness* head, bool restart, bool truncate = false) {
    for (int step = 0; step < 600; ++step) {
      ASSERT_NO_FATAL_FAILURE(OneBatch(head)) << "step " << step;
      batch_times_.clear();
      now_ms_ += 100 + static_cast<int64_t>(Roll(15'000));
      if (step % 30 == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectEqual(head)) << "step " << step;
      }
      if (truncate && step % 50 == 49) {
        ASSERT_NO_FATAL_FAILURE(Truncate(head)) << "step " << step;
      }
      if (restart && step % 100 == 99) {
        ASSERT_NO_FATAL_FAILURE(head->Close());
        ASSERT_NO_FATAL_FAILURE(head->Open());
        ASSERT_NO_FATAL_FAILURE(ExpectEqual(head)) << "restart after step " << step;
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(head));
  }

  const uint64_t seed_ = Seed();
  std::mt19937_64 random_{seed_};
  std::map<Pairs, TwinSeries> twin_;
  std::map<Pairs, int64_t> batch_times_;
  int64_t now_ms_ = kStart;
};

TEST_F(HeadModelTest, InMemoryItHoldsWhatItAccepted) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  HeadOptions options;
  options.block_range_ms = kRange;
  HeadHarness head(options);
  Run(&head, /*restart=*/false);
}

TEST_F(HeadModelTest, WithALogItHoldsWhatItAcceptedOverRestarts) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  support::FaultFs fs;
  HeadOptions options;
  options.block_range_ms = kRange;
  options.wal_directory = "db/wal";
  options.wal_segment_bytes = 64 << 10;
  HeadHarness head(options, &fs);
  Run(&head, /*restart=*/true);
}

TEST_F(HeadModelTest, WithChunkFilesItHoldsWhatIsYoungerThanTheCut) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  support::FaultFs fs;
  HeadOptions options;
  options.block_range_ms = kRange;
  options.wal_directory = "db/wal";
  options.chunks_directory = "db/chunks_head";
  options.samples_per_chunk = 8;
  HeadHarness head(options, &fs);
  Run(&head, /*restart=*/true, /*truncate=*/true);
}

TEST_F(HeadModelTest, WithTinyChunksItHoldsWhatItAccepted) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  HeadOptions options;
  options.block_range_ms = kRange;
  options.samples_per_chunk = 2;
  HeadHarness head(options);
  Run(&head, /*restart=*/false);
}

}  // namespace
}  // namespace narthex::head
