// Kills a process that writes through a head, over and over, and looks after each death whether
// everything it had acknowledged is there: floats, native histograms of both kinds, and ones with
// custom buckets. NARTHEX_TORTURE_CYCLES sets how often (a few times by default), NX_SEED repeats a
// run's decisions, though not the moments at which the system stops the process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "tests/head/head_fixture.h"

namespace narthex::head {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;
constexpr int64_t kStep = 1000;
constexpr int64_t kBatchesKept = 100;  // Truncation leaves at least so many.

int64_t TimeOf(int64_t batch) { return kStart + batch * kStep; }

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

HeadOptions Options(const std::string& directory) {
  HeadOptions options;
  options.wal_directory = directory + "/wal";
  options.chunks_directory = directory + "/chunks_head";
  options.wal_segment_bytes = 128 << 10;
  options.samples_per_chunk = 16;
  return options;
}

std::unique_ptr<Head> OpenHead(const std::string& directory, const base::Clock* clock) {
  auto head = Head::Open(
      Options(directory),
      {.clock = clock, .fs = &base::PosixFs(), .logger = &base::NullLogger(), .registry = nullptr},
      nullptr);
  return head.ok() ? std::move(head).value() : nullptr;
}

constexpr int kNumFloats = 20;
constexpr int kNumSeries = kNumFloats + 8;

// Some series end and others come with the batches.
Pairs NameOf(int series, int64_t batch) {
  Pairs pairs = {{"__name__", "m"}, {"i", std::to_string(series)}};
  if (series % 5 == 0) pairs.emplace_back("part", std::to_string(batch / 40));
  return pairs;
}

double FloatOf(int series, int64_t batch) {
  const auto number = static_cast<uint64_t>(batch * 64 + series);
  if (series % 4 == 0) return static_cast<double>(series);
  if (series % 4 == 1) return static_cast<double>(batch * 3 + series);
  return static_cast<double>(Mix(number) % 100'000) / (series % 4 == 2 ? 100 : 7);
}

// A counter that starts anew now and then; every fourth series has custom buckets.
model::Histogram HistogramOf(int series, int64_t batch) {
  model::HistogramLayout layout;
  const size_t num_buckets = 3 + static_cast<size_t>(series % 3) * 5;
  const int64_t age = batch % 50;
  model::Histogram h;
  for (size_t i = 0; i < num_buckets; ++i) {
    h.buckets.push_back(1 + age * static_cast<int64_t>(i + 1) + series);
  }
  layout.positive_spans = {{series % 4 == 0 ? 0 : 2, static_cast<uint32_t>(num_buckets)}};
  if (series % 4 == 0) {
    layout.schema = model::kCustomBucketsSchema;
    for (size_t i = 0; i + 1 < num_buckets; ++i) {
      layout.custom_bounds.push_back(static_cast<double>(i) * 0.25);
    }
  } else {
    layout.schema = 3;
    layout.zero_threshold = 0.001;
    h.zero_count = static_cast<uint64_t>(age);
  }
  h.count = h.zero_count;
  for (const int64_t bucket : h.buckets) h.count += static_cast<uint64_t>(bucket);
  h.sum = static_cast<double>(h.count) * 0.37;
  h.layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
  return h;
}

bool AddBatch(Head* head, int64_t batch) {
  auto appender = head->NewAppender();
  bool accepted = true;
  for (int series = 0; series < kNumSeries; ++series) {
    const auto ref = HeadHarness::Resolve(appender.get(), NameOf(series, batch));
    model::AppendOutcome outcome{};
    if (series < kNumFloats) {
      outcome =
          HeadHarness::AppendFloat(appender.get(), ref, TimeOf(batch), FloatOf(series, batch));
    } else if (series % 2 == 0) {
      outcome = appender->AppendHistogram(ref, TimeOf(batch), HistogramOf(series, batch));
    } else {
      outcome =
          appender->AppendHistogram(ref, TimeOf(batch), model::ToFloat(HistogramOf(series, batch)));
    }
    accepted = accepted && outcome == model::AppendOutcome::kAccepted;
  }
  return accepted && appender->Commit().ok();
}

// Writes batches from `first` on and tells each that was committed, until it is killed.
[[noreturn]] void Write(const std::string& directory, int64_t first, int acknowledge_fd) {
  support::ManualClock clock;
  const std::unique_ptr<Head> head = OpenHead(directory, &clock);
  if (head == nullptr) _exit(1);
  for (int64_t batch = first;; ++batch) {
    if (!AddBatch(head.get(), batch)) _exit(2);
    if (write(acknowledge_fd, &batch, sizeof batch) != sizeof batch) _exit(3);
    if (batch % 64 == 63 && !head->Truncate(TimeOf(batch - kBatchesKept)).ok()) _exit(4);
  }
}

// The newest batch acknowledged by a process that is killed after about `num_batches`.
int64_t WriteAndDie(const std::string& directory, int64_t first, uint64_t num_batches) {
  int pipes[2];
  EXPECT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipes[0]);
    Write(directory, first, pipes[1]);
  }
  close(pipes[1]);
  int64_t newest = first - 1;
  int64_t batch = 0;
  for (uint64_t i = 0; i < num_batches; ++i) {
    if (read(pipes[0], &batch, sizeof batch) != sizeof batch) break;
    newest = batch;
  }
  kill(child, SIGKILL);
  // What it had told before it died.
  while (read(pipes[0], &batch, sizeof batch) == sizeof batch) newest = batch;
  close(pipes[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer gave up: exit code " << WEXITSTATUS(status);
  return newest;
}

std::string TextOf(int series, int64_t batch) {
  return series < kNumFloats ? Text(FloatOf(series, batch)) : Text(HistogramOf(series, batch));
}

// Everything found is right, and of the batches up to `newest` nothing young is missing, but for
// those in `cut_short`: a writer died over them, so that a part may be there. The newest batch
// found.
int64_t Verify(const Contents& contents, int64_t newest, const std::set<int64_t>& cut_short) {
  int64_t last = newest;
  for (const auto& [pairs, samples] : contents) {
    const int series = std::stoi(pairs[1].second);
    for (const auto& [time_ms, text] : samples) {
      const int64_t batch = (time_ms - kStart) / kStep;
      EXPECT_EQ(pairs, NameOf(series, batch));
      EXPECT_EQ(text, TextOf(series, batch)) << "series " << series << " batch " << batch;
      last = std::max(last, batch);
    }
  }
  for (int64_t batch = std::max<int64_t>(0, newest + 1 - kBatchesKept); batch <= newest; ++batch) {
    if (cut_short.contains(batch)) continue;
    for (int series = 0; series < kNumSeries; ++series) {
      const auto found = contents.find(NameOf(series, batch));
      if (found == contents.end() || !found->second.contains(TimeOf(batch))) {
        ADD_FAILURE() << "lost: series " << series << " batch " << batch;
        return last;
      }
    }
  }
  return last;
}

TEST(HeadTortureTest, EverythingAcknowledgedOutlivesKilledWriters) {
  const char* const cycles_text = std::getenv("NARTHEX_TORTURE_CYCLES");
  const int cycles = cycles_text == nullptr ? 6 : std::atoi(cycles_text);
  const char* const seed_text = std::getenv("NX_SEED");
  const uint64_t seed =
      seed_text == nullptr ? std::random_device{}() : std::strtoull(seed_text, nullptr, 10);
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::string directory = std::filesystem::temp_directory_path() / "narthex_torture_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  int64_t next = 0;
  std::set<int64_t> cut_short;
  for (int cycle = 0; cycle < cycles && !::testing::Test::HasFailure(); ++cycle) {
    SCOPED_TRACE(::testing::Message() << "cycle " << cycle);
    // Now and then while it still starts.
    const int64_t newest = WriteAndDie(directory, next, random() % 8 == 0 ? 0 : random() % 300);
    support::ManualClock clock;
    const std::unique_ptr<Head> head = OpenHead(directory, &clock);
    ASSERT_NE(head, nullptr);
    auto querier = head->NewQuerier(kAllTime);
    next = Verify(ReadAll(**querier), newest, cut_short) + 1;
    for (int64_t batch = newest + 1; batch < next; ++batch) cut_short.insert(batch);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace narthex::head
