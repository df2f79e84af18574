// Writing, opening and reading a block of many series, in files of a temporary directory. Peak
// memory is what the kernel counted for the whole process. Every run checks what it read.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "disk/block/block_writer.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/disk/block.h"

namespace narthex::disk {
namespace {

constexpr uint32_t kSeriesPerMetric = 1000;
constexpr int kNumLabels = 6;

std::string Directory() {
  return (std::filesystem::temp_directory_path() / ("block_bench." + std::to_string(::getpid())))
      .string();
}

BlockWriterOptions Options() {
  BlockWriterOptions options;
  options.parent_directory = Directory();
  options.ulid = Ulid::Make(1, {});
  return options;
}

// Memory now, in MiB, by the kernel's count of pages.
double ResidentMib() {
  std::ifstream file("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

double PeakMib() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string Padded(std::string_view prefix, uint32_t number) {
  std::string digits = std::to_string(number);
  return std::string(prefix) + std::string(8 - digits.size(), '0') + digits;
}

// Labels as exporters have them: metric, instance, job, path, region, zone.
absl::Status Write(uint32_t num_series) {
  NX_ASSIGN_OR_RETURN(const auto writer, BlockWriter::Create(Options(), &base::PosixFs()));
  const uint32_t num_metrics = (num_series + kSeriesPerMetric - 1) / kSeriesPerMetric;
  NX_RETURN_IF_ERROR(writer->AddSymbol("").status());
  const char* const names[kNumLabels] = {"__name__", "instance", "job", "path", "region", "zone"};
  model::Symbol name = 0;
  // "__name__" < "a.." < "instance" ...: values of each label have a prefix that keeps the order.
  std::vector<model::Symbol> name_symbols;
  NX_ASSIGN_OR_RETURN(name, writer->AddSymbol(names[0]));
  name_symbols.push_back(name);
  NX_ASSIGN_OR_RETURN(const model::Symbol instances, writer->AddSymbol(Padded("host", 0)));
  for (uint32_t i = 1; i < kSeriesPerMetric; ++i) {
    NX_RETURN_IF_ERROR(writer->AddSymbol(Padded("host", i)).status());
  }
  for (int i = 1; i < kNumLabels; ++i) {
    NX_ASSIGN_OR_RETURN(name, writer->AddSymbol(names[i]));
    name_symbols.push_back(name);
    if (i == 2) NX_RETURN_IF_ERROR(writer->AddSymbol("job_a").status());
    if (i == 2) NX_RETURN_IF_ERROR(writer->AddSymbol("job_b").status());
    if (i != 2) continue;
    for (uint32_t k = 0; k < num_metrics; ++k) {
      NX_RETURN_IF_ERROR(writer->AddSymbol(Padded("metric", k)).status());
    }
  }
  const model::Symbol job_a = name_symbols[2] + 1;
  const model::Symbol metrics = name_symbols[2] + 3;
  std::vector<int64_t> times;
  std::vector<double> values;
  for (int64_t i = 0; i < 120; ++i) {
    times.push_back(i * 15000);
    values.push_back(static_cast<double>(i * 3));
  }
  std::string chunk;
  codec::EncodeXorChunk(times, values, &chunk);
  std::vector<ChunkToWrite> chunks;
  for (int64_t k = 0; k < 4; ++k) {
    chunks.push_back({k * 1800000, k * 1800000 + 1785000, codec::ChunkEncoding::kXor, chunk});
  }
  for (uint32_t i = 0; i < num_series; ++i) {
    const uint32_t instance = i % kSeriesPerMetric;
    const model::SymbolLabel labels[] = {{name_symbols[0], metrics + i / kSeriesPerMetric},
                                         {name_symbols[1], instances + instance},
                                         {name_symbols[2], job_a + instance % 2},
                                         {name_symbols[3], instances + instance / 3},
                                         {name_symbols[4], instances + instance % 7},
                                         {name_symbols[5], instances + instance % 50}};
    NX_RETURN_IF_ERROR(writer->AddSeries(labels, chunks));
  }
  BlockMeta meta;
  meta.max_time_ms = 7200000;
  return writer->Finish(meta).status();
}

void WriteBlock(benchmark::State& state) {
  const auto num_series = static_cast<uint32_t>(state.range(0));
  std::filesystem::create_directories(Directory());
  const double before = ResidentMib();
  for (auto _ : state) {
    std::filesystem::remove_all(Directory() + "/" + Options().ulid.ToString());
    NX_CHECK(Write(num_series).ok());
  }
  state.counters["ns/series"] = benchmark::Counter(
      num_series, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["peak_rise_MiB"] = PeakMib() - before;
}
BENCHMARK(WriteBlock)->Arg(500000)->Unit(benchmark::kMillisecond);

std::string BlockPath() { return Directory() + "/" + Options().ulid.ToString(); }

void OpenBlock(benchmark::State& state) {
  uint64_t memory_bytes = 0;
  for (auto _ : state) {
    const auto block = Block::Open(&base::PosixFs(), BlockPath()).value();
    memory_bytes = block->index().num_memory_bytes();
    NX_CHECK_EQ(block->index().LabelNames().size(), size_t{kNumLabels});
  }
  state.counters["memory_KiB"] = static_cast<double>(memory_bytes) / 1024;
}
BENCHMARK(OpenBlock)->Unit(benchmark::kMicrosecond);

void SelectFiveThousandSeries(benchmark::State& state) {
  const auto block = Block::Open(&base::PosixFs(), BlockPath()).value();
  const std::vector<model::Matcher> matchers = {
      model::Matcher::Create(model::MatchType::kRegex, "__name__", "metric0000010.").value(),
      model::Matcher::Create(model::MatchType::kEqual, "job", "job_a").value()};
  SeriesEntry entry;
  for (auto _ : state) {
    const Refs refs = SelectSeries(block->index(), matchers).value();
    NX_CHECK_EQ(refs.size(), size_t{5000});
    for (const uint32_t ref : refs) NX_CHECK(block->index().ReadSeries(ref, &entry).ok());
    NX_CHECK_EQ(entry.chunks.size(), size_t{4});
  }
  state.counters["ns/series"] = benchmark::Counter(
      5000, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(SelectFiveThousandSeries)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace narthex::disk

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(narthex::disk::Directory());
  return 0;
}
