// Time per sample of the write-ahead log: encoding and logging batches of a scrape's size, and
// reading them back. Every run checks what it read. Files go to a temporary directory, unsynced.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/base/fs.h"
#include "narthex/disk/wal.h"
#include "narthex/disk/wal_records.h"

namespace narthex::disk {
namespace {

constexpr size_t kNumBatches = 50;
constexpr size_t kSamplesPerBatch = 2000;
constexpr size_t kNumSamples = kNumBatches * kSamplesPerBatch;

std::vector<std::vector<model::FloatSample>> MakeBatches() {
  std::vector<std::vector<model::FloatSample>> batches(kNumBatches);
  uint64_t state = 1;
  int64_t time_ms = 1'700'000'000'000;
  for (auto& batch : batches) {
    for (size_t i = 0; i < kSamplesPerBatch; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      batch.push_back({1000 + i, time_ms, static_cast<double>(state >> 44)});
    }
    time_ms += 15'000;
  }
  return batches;
}

WalWriterOptions Options(const std::string& directory, int64_t compression) {
  WalWriterOptions options;
  options.directory = directory;
  options.compression = static_cast<WalCompression>(compression);
  return options;
}

std::string Directory() { return std::filesystem::temp_directory_path() / "narthex_wal_bench"; }

void Report(benchmark::State& state, uint64_t num_bytes) {
  const auto samples = static_cast<double>(state.iterations()) * static_cast<double>(kNumSamples);
  state.counters["ns/sample"] =
      benchmark::Counter(samples / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["B/sample"] = static_cast<double>(num_bytes) / static_cast<double>(kNumSamples);
}

void LogAll(const std::vector<std::vector<model::FloatSample>>& batches, WalWriter* writer) {
  std::string record;
  for (const auto& batch : batches) {
    record.clear();
    EncodeSamples(batch, &record);
    NX_CHECK(writer->Log(record).ok());
  }
}

size_t ReadAll(const std::string& directory, double* sum) {
  auto reader = WalReader::Open(&base::PosixFs(), directory).value();
  SampleBatch batch;
  size_t count = 0;
  while (reader->Next()) {
    NX_CHECK(DecodeSamples(reader->record(), &batch).ok());
    count += batch.samples.size();
    *sum += batch.samples.back().value;
  }
  NX_CHECK(!reader->damage().has_value());
  return count;
}

void LogSamples(benchmark::State& state) {
  const auto batches = MakeBatches();
  std::filesystem::remove_all(Directory());
  auto writer = WalWriter::Open(Options(Directory(), state.range(0)), &base::PosixFs()).value();
  for (auto _ : state) LogAll(batches, writer.get());
  const uint64_t num_bytes = writer->position().offset;
  double sum = 0;
  NX_CHECK_EQ(ReadAll(Directory(), &sum), kNumSamples * state.iterations());
  std::filesystem::remove_all(Directory());
  Report(state, num_bytes / state.iterations());
}
// So many that the segment is not completed, which would measure the disk.
BENCHMARK(LogSamples)->ArgName("compression")->Arg(0)->Arg(1)->Arg(2)->Iterations(100);

void ReplaySamples(benchmark::State& state) {
  const auto batches = MakeBatches();
  std::filesystem::remove_all(Directory());
  auto writer = WalWriter::Open(Options(Directory(), state.range(0)), &base::PosixFs()).value();
  LogAll(batches, writer.get());
  double want = 0;
  for (const auto& batch : batches) want += batch.back().value;
  for (auto _ : state) {
    double sum = 0;
    NX_CHECK_EQ(ReadAll(Directory(), &sum), kNumSamples);
    NX_CHECK_EQ(sum, want);
  }
  std::filesystem::remove_all(Directory());
  Report(state, writer->position().offset);
}
BENCHMARK(ReplaySamples)->ArgName("compression")->Arg(0)->Arg(1)->Arg(2);

void EncodeBatches(benchmark::State& state) {
  const auto batches = MakeBatches();
  std::string record;
  for (auto _ : state) {
    for (const auto& batch : batches) {
      record.clear();
      EncodeSamples(batch, &record);
      benchmark::DoNotOptimize(record.data());
    }
  }
  SampleBatch batch;
  NX_CHECK(DecodeSamples(record, &batch).ok());
  NX_CHECK_EQ(batch.samples.size(), kSamplesPerBatch);
  Report(state, record.size() * kNumBatches);
}
BENCHMARK(EncodeBatches);

}  // namespace
}  // namespace narthex::disk

BENCHMARK_MAIN();
