// Time per sample of reading and writing chunks of realistic samples; every run checks what it read
// against what was written. Bytes per sample are a counter.
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"

namespace narthex::codec {
namespace {

constexpr size_t kNumChunks = 512;
constexpr size_t kSamplesPerChunk = 120;

enum class Values : uint8_t { kConstant, kSlowCounter, kCounter, kGauge3Decimals, kFloatCounter };

struct FloatChunk {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
  std::string bytes;
};

// `jitter_ms`: scrapes come up to that much early or late.
std::vector<FloatChunk> MakeFloatChunks(Values kind, int jitter_ms) {
  std::mt19937_64 random(1);
  std::vector<FloatChunk> chunks(kNumChunks);
  for (FloatChunk& chunk : chunks) {
    double value = static_cast<double>(random() % 100'000);
    for (size_t i = 0; i < kSamplesPerChunk; ++i) {
      int64_t time_ms = 1'700'000'000'000 + static_cast<int64_t>(i) * 15'000;
      if (jitter_ms > 0) {
        time_ms +=
            static_cast<int64_t>(random() % static_cast<uint64_t>(2 * jitter_ms + 1)) - jitter_ms;
      }
      switch (kind) {
        case Values::kConstant:
          break;
        case Values::kSlowCounter:
          if (random() % 20 == 0) value += 1;
          break;
        case Values::kCounter:
          value += static_cast<double>(random() % 300);
          break;
        case Values::kGauge3Decimals:
          value = static_cast<double>(random() % 1'000'000) / 1000;
          break;
        case Values::kFloatCounter:
          value += static_cast<double>(random() % 1'000'000) / 1'000'000;
          break;
      }
      chunk.times_ms.push_back(time_ms);
      chunk.values.push_back(value);
    }
    EncodeXorChunk(chunk.times_ms, chunk.values, &chunk.bytes);
  }
  return chunks;
}

template <typename Chunk>
double BytesPerSample(const std::vector<Chunk>& chunks) {
  double bytes = 0, samples = 0;
  for (const Chunk& chunk : chunks) {
    bytes += static_cast<double>(chunk.bytes.size());
    samples += static_cast<double>(chunk.times_ms.size());
  }
  return bytes / samples;
}

void Report(benchmark::State& state, size_t samples_per_round, double bytes_per_sample) {
  const auto samples =
      static_cast<double>(state.iterations()) * static_cast<double>(samples_per_round);
  state.counters["ns/sample"] =
      benchmark::Counter(samples / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["B/sample"] = bytes_per_sample;
}

void DecodeFloats(benchmark::State& state) {
  const auto chunks =
      MakeFloatChunks(static_cast<Values>(state.range(0)), static_cast<int>(state.range(1)));
  FloatColumns columns;
  for (const FloatChunk& chunk : chunks) {
    NX_CHECK(DecodeFloatChunk(ChunkEncoding::kXor, chunk.bytes, &columns).ok());
    NX_CHECK(columns.times_ms == chunk.times_ms && columns.values == chunk.values);
  }
  for (auto _ : state) {
    for (const FloatChunk& chunk : chunks) {
      const bool ok = DecodeFloatChunk(ChunkEncoding::kXor, chunk.bytes, &columns).ok();
      benchmark::DoNotOptimize(ok);
      benchmark::ClobberMemory();
    }
  }
  Report(state, kNumChunks * kSamplesPerChunk, BytesPerSample(chunks));
}
BENCHMARK(DecodeFloats)->ArgNames({"values", "jitter"})->ArgsProduct({{0, 1, 2, 3, 4}, {0, 5}});

void EncodeFloats(benchmark::State& state) {
  const auto chunks =
      MakeFloatChunks(static_cast<Values>(state.range(0)), static_cast<int>(state.range(1)));
  std::string bytes;
  for (auto _ : state) {
    for (const FloatChunk& chunk : chunks) {
      EncodeXorChunk(chunk.times_ms, chunk.values, &bytes);
      benchmark::DoNotOptimize(bytes.data());
    }
  }
  NX_CHECK(bytes == chunks.back().bytes);
  Report(state, kNumChunks * kSamplesPerChunk, BytesPerSample(chunks));
}
BENCHMARK(EncodeFloats)->ArgNames({"values", "jitter"})->ArgsProduct({{0, 2, 3}, {0, 5}});

struct HistogramChunk {
  std::vector<int64_t> times_ms;
  std::vector<model::Histogram> samples;
  std::string bytes;
};

// Bell-shaped observations over `num_buckets` buckets, `rate` of them a scrape, 5 ms of jitter. A
// chunk grows to 1024 bytes and holds ten samples at least.
std::vector<HistogramChunk> MakeHistogramChunks(size_t num_buckets, int rate) {
  std::mt19937_64 random(1);
  auto layout = std::make_shared<model::HistogramLayout>();
  layout->schema = 3;
  layout->zero_threshold = 0x1p-128;
  layout->positive_spans = {{-10, static_cast<uint32_t>(num_buckets)}};
  const double middle = static_cast<double>(num_buckets) / 2;
  std::normal_distribution<double> bucket_of(middle, middle / 3);
  std::poisson_distribution<int> observations(rate);
  model::Histogram now;
  now.layout = layout;
  now.buckets.assign(num_buckets, 0);
  std::vector<HistogramChunk> chunks(64);
  int64_t time_ms = 1'700'000'000'000;
  for (HistogramChunk& chunk : chunks) {
    HistogramAppender appender = HistogramAppender::Open(&chunk.bytes).value();
    while (chunk.bytes.size() < 1024 || chunk.samples.size() < 10) {
      for (int n = observations(random); n > 0; --n) {
        const double at = std::clamp(bucket_of(random), 0.0, static_cast<double>(num_buckets - 1));
        ++now.buckets[static_cast<size_t>(at)];
        ++now.count;
        now.sum += std::exp2(at / 8);
      }
      time_ms += 15'000 + static_cast<int64_t>(random() % 11) - 5;
      appender.Append(time_ms, now);
      chunk.times_ms.push_back(time_ms);
      chunk.samples.push_back(now);
    }
  }
  return chunks;
}

void DecodeHistograms(benchmark::State& state) {
  const auto detail = static_cast<model::HistogramDetail>(state.range(2));
  const auto num_buckets = static_cast<size_t>(state.range(0));
  const auto chunks = MakeHistogramChunks(num_buckets, static_cast<int>(state.range(1)));
  HistogramColumns columns;
  size_t num_samples = 0;
  for (const HistogramChunk& chunk : chunks) {
    NX_CHECK(DecodeHistogramChunk(ChunkEncoding::kHistogram, chunk.bytes, detail, &columns).ok());
    NX_CHECK(columns.times_ms == chunk.times_ms);
    const model::FloatHistogram last = model::ToFloat(chunk.samples.back());
    NX_CHECK_EQ(columns.counts.back(), last.count);
    if (detail == model::HistogramDetail::kFull) {
      NX_CHECK(std::equal(last.buckets.begin(), last.buckets.end(),
                          columns.buckets.end() - static_cast<ptrdiff_t>(num_buckets)));
    }
    num_samples += chunk.samples.size();
  }
  for (auto _ : state) {
    for (const HistogramChunk& chunk : chunks) {
      const bool ok =
          DecodeHistogramChunk(ChunkEncoding::kHistogram, chunk.bytes, detail, &columns).ok();
      benchmark::DoNotOptimize(ok);
      benchmark::ClobberMemory();
    }
  }
  Report(state, num_samples, BytesPerSample(chunks));
}
BENCHMARK(DecodeHistograms)
    ->ArgNames({"buckets", "rate", "counts_only"})
    ->ArgsProduct({{10, 60, 160}, {5, 150, 15000}, {0, 1}});

void AppendHistograms(benchmark::State& state) {
  const auto chunks = MakeHistogramChunks(static_cast<size_t>(state.range(0)), 150);
  size_t num_samples = 0;
  for (const HistogramChunk& chunk : chunks) num_samples += chunk.samples.size();
  std::string bytes;
  for (auto _ : state) {
    for (const HistogramChunk& chunk : chunks) {
      bytes.clear();
      HistogramAppender appender = HistogramAppender::Open(&bytes).value();
      for (size_t i = 0; i < chunk.samples.size(); ++i) {
        NX_CHECK(appender.Offer(chunk.samples[i]).fit == Fit::kAppend);
        appender.Append(chunk.times_ms[i], chunk.samples[i]);
      }
      NX_CHECK(bytes == chunk.bytes);
    }
  }
  Report(state, num_samples, BytesPerSample(chunks));
}
BENCHMARK(AppendHistograms)->ArgName("buckets")->Arg(10)->Arg(60)->Arg(160);

}  // namespace
}  // namespace narthex::codec

BENCHMARK_MAIN();
