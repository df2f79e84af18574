// Time per chunk of head chunk files: writing, checking them at opening, and reading by place in
// random order. Every run checks what it read. Files go to a temporary directory.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/base/fs.h"
#include "narthex/disk/head_chunks.h"

namespace narthex::disk {
namespace {

constexpr uint64_t kNumChunks = 200'000;
constexpr size_t kChunkBytes = 180;  // 120 samples of a gauge.

class Directory {
 public:
  Directory() : path_(std::filesystem::temp_directory_path() / "head_chunks_bench_XXXXXX") {
    NX_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<HeadChunkFiles> Open(const Directory& directory, uint64_t* num_chunks) {
  return HeadChunkFiles::Open({.directory = directory.path()}, &base::PosixFs(),
                              [&](HeadChunkRef, const HeadChunk&) {
                                ++*num_chunks;
                                return true;
                              })
      .value();
}

std::vector<HeadChunkRef> WriteAll(HeadChunkFiles* files) {
  std::vector<HeadChunkRef> refs;
  refs.reserve(kNumChunks);
  const std::string bytes(kChunkBytes, 'x');
  HeadChunk chunk;
  chunk.bytes = bytes;
  for (uint64_t i = 0; i < kNumChunks; ++i) {
    chunk.series = i + 1;
    refs.push_back(files->Write(chunk).value());
  }
  return refs;
}

void SetRates(benchmark::State& state) {
  state.counters["ns_per_chunk"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kNumChunks) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Write(benchmark::State& state) {
  for (auto _ : state) {
    const Directory directory;
    uint64_t num_chunks = 0;
    const auto files = Open(directory, &num_chunks);
    NX_CHECK_EQ(WriteAll(files.get()).size(), kNumChunks);
    NX_CHECK(files->Flush().ok());
  }
  SetRates(state);
}
BENCHMARK(BM_Write)->Unit(benchmark::kMillisecond);

void BM_Open(benchmark::State& state) {
  const Directory directory;
  uint64_t num_chunks = 0;
  auto files = Open(directory, &num_chunks);
  WriteAll(files.get());
  NX_CHECK(files->Close().ok());
  for (auto _ : state) {
    num_chunks = 0;
    files = Open(directory, &num_chunks);
    NX_CHECK_EQ(num_chunks, kNumChunks);
  }
  SetRates(state);
}
BENCHMARK(BM_Open)->Unit(benchmark::kMillisecond);

void BM_ReadInRandomOrder(benchmark::State& state) {
  const Directory directory;
  uint64_t num_chunks = 0;
  const auto files = Open(directory, &num_chunks);
  const std::vector<HeadChunkRef> refs = WriteAll(files.get());
  for (auto _ : state) {
    HeadChunkReader reader(files.get());
    uint64_t at = 0, sum = 0;
    for (uint64_t i = 0; i < kNumChunks; ++i) {
      at = (at + 77'773) % kNumChunks;
      sum += reader.Get(refs[at])->series;
    }
    NX_CHECK_EQ(sum, kNumChunks * (kNumChunks + 1) / 2);
  }
  SetRates(state);
}
BENCHMARK(BM_ReadInRandomOrder)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace narthex::disk

BENCHMARK_MAIN();
