// Decoding remote write messages of 2,000 series with six labels and one sample each, as senders
// cut them: ns per sample. Each run checks the number of samples and the sum of their values.
#include <benchmark/benchmark.h>
#include <snappy.h>

#include "codec/wire/field_writer.h"
#include "narthex/base/strings.h"
#include "narthex/codec/remote/write_v1.h"

namespace narthex::codec {
namespace {

constexpr int kNumSeries = 2000;
constexpr double kSum = kNumSeries * (kNumSeries - 1) / 2;

std::string Message() {
  std::string message;
  for (int i = 0; i < kNumSeries; ++i) {
    std::string series;
    const std::string instance = base::StrCat("10.0.", i / 256, ".", i % 256, ":9100");
    for (const auto& [name, value] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"__name__", "http_requests_total"},
             {"code", "200"},
             {"handler", "/api/v1/query"},
             {"instance", instance},
             {"job", "server"},
             {"method", "get"}}) {
      std::string label;
      AppendBytesField(&label, 1, name);
      AppendBytesField(&label, 2, value);
      AppendBytesField(&series, 1, label);
    }
    std::string sample;
    AppendDoubleField(&sample, 1, i);
    AppendVarintField(&sample, 2, 1'700'000'000'000);
    AppendBytesField(&series, 2, sample);
    AppendBytesField(&message, 1, series);
  }
  return message;
}

void Decode(benchmark::State& state, bool with_labels) {
  const std::string message = Message();
  WriteSeries series;
  std::vector<model::Label> labels;
  for (auto _ : state) {
    double sum = 0;
    size_t num_labels = 0;
    WriteRequestReader reader(message);
    while (reader.NextSeries(&series)) {
      if (with_labels && DecodeWriteLabels(series, &labels).ok()) num_labels += labels.size();
      for (const WriteSample& sample : series.samples) sum += sample.value;
    }
    if (sum != kSum || num_labels != (with_labels ? kNumSeries * 6 : 0)) {
      state.SkipWithError("wrong answer");
    }
  }
  state.SetItemsProcessed(state.iterations() * kNumSeries);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(message.size()));
}
BENCHMARK_CAPTURE(Decode, known_series, false);
BENCHMARK_CAPTURE(Decode, with_labels, true);

void Uncompress(benchmark::State& state) {
  const std::string message = Message();
  std::string block;
  snappy::Compress(message.data(), message.size(), &block);
  for (auto _ : state) {
    const auto bytes = UncompressSnappyBlock(block, kMaxWriteRequestBytes);
    if (!bytes.ok() || bytes->size() != message.size()) state.SkipWithError("wrong answer");
  }
  state.SetItemsProcessed(state.iterations() * kNumSeries);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(message.size()));
}
BENCHMARK(Uncompress);

}  // namespace
}  // namespace narthex::codec

BENCHMARK_MAIN();
