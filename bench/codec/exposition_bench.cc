// Reading bodies of 10,000 series with five labels each: ns per sample and bytes per second. Each
// run checks the number of samples and the sum of their values.
#include <benchmark/benchmark.h>

#include <string>

#include "codec/wire/field_writer.h"
#include "narthex/base/strings.h"
#include "narthex/codec/exposition/reader.h"

namespace narthex::codec {
namespace {

constexpr int kNumSeries = 10'000;

double ValueOf(int i) { return i % 3 == 0 ? i : i * 1.25; }

std::string LabelValue(int i) { return base::StrCat("10.0.", i / 256, ".", i % 256, ":9100"); }

std::string Line(int i) {
  return base::StrCat("http_requests_total{code=\"200\",handler=\"/api/v1/query\",instance=\"",
                      LabelValue(i), "\",job=\"server\",method=\"get\"} ", ValueOf(i), "\n");
}

std::string TextBody() {
  std::string body = "# HELP http_requests_total Requests.\n# TYPE http_requests_total counter\n";
  for (int i = 0; i < kNumSeries; ++i) body += Line(i);
  return body;
}

std::string OpenMetricsBody() {
  std::string body = "# HELP http_requests Requests.\n# TYPE http_requests counter\n";
  for (int i = 0; i < kNumSeries; ++i) body += Line(i);
  return body + "# EOF\n";
}

void AppendLabel(std::string* metric, std::string_view name, std::string_view value) {
  std::string label;
  AppendBytesField(&label, 1, name);
  AppendBytesField(&label, 2, value);
  AppendBytesField(metric, 1, label);
}

std::string ProtobufBody() {
  std::string family;
  AppendBytesField(&family, 1, "http_requests_total");
  AppendBytesField(&family, 2, "Requests.");
  AppendVarintField(&family, 3, 0);
  for (int i = 0; i < kNumSeries; ++i) {
    std::string metric;
    AppendLabel(&metric, "code", "200");
    AppendLabel(&metric, "handler", "/api/v1/query");
    AppendLabel(&metric, "instance", LabelValue(i));
    AppendLabel(&metric, "job", "server");
    AppendLabel(&metric, "method", "get");
    std::string counter;
    AppendDoubleField(&counter, 1, ValueOf(i));
    AppendBytesField(&metric, 3, counter);
    AppendBytesField(&family, 4, metric);
  }
  std::string body;
  AppendVarint(&body, family.size());
  return body + family;
}

// Histograms of 60 buckets; one sample each.
std::string NativeBody() {
  std::string family;
  AppendBytesField(&family, 1, "latency_seconds");
  AppendVarintField(&family, 3, 4);
  for (int i = 0; i < kNumSeries; ++i) {
    std::string histogram;
    AppendVarintField(&histogram, 1, 60);
    AppendDoubleField(&histogram, 2, ValueOf(i));
    AppendSintField(&histogram, 5, 3);
    for (const int32_t offset : {-40, 3}) {
      std::string span;
      AppendSintField(&span, 1, offset);
      AppendVarintField(&span, 2, 30);
      AppendBytesField(&histogram, 12, span);
    }
    std::string deltas;
    for (int bucket = 0; bucket < 60; ++bucket) {
      AppendVarint(&deltas, EncodeZigZag(bucket == 0 ? 5 : (bucket % 2 == 0 ? -1 : 1)));
    }
    AppendBytesField(&histogram, 13, deltas);
    std::string metric;
    AppendLabel(&metric, "instance", LabelValue(i));
    AppendBytesField(&metric, 7, histogram);
    AppendBytesField(&family, 4, metric);
  }
  std::string body;
  AppendVarint(&body, family.size());
  return body + family;
}

double ExpectedSum() {
  double sum = 0;
  for (int i = 0; i < kNumSeries; ++i) sum += ValueOf(i);
  return sum;
}

void Run(benchmark::State& state, ExpositionFormat format, const std::string& body) {
  ReaderOptions options;
  options.native_histograms = true;
  EntryBatch batch;
  const double expected = ExpectedSum();
  for (auto _ : state) {
    int num_samples = 0;
    double sum = 0;
    const auto reader = NewExpositionReader(format, body, options);
    while (reader->NextBatch(&batch)) {
      for (const Entry& entry : batch.entries) {
        if (entry.series_key.empty()) continue;
        ++num_samples;
        sum += entry.histogram != nullptr ? entry.histogram->sum : entry.value;
      }
    }
    if (!reader->status().ok() || num_samples != kNumSeries || sum != expected) {
      state.SkipWithError("wrong answer");
    }
  }
  state.SetItemsProcessed(state.iterations() * kNumSeries);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}

BENCHMARK_CAPTURE(Run, text, ExpositionFormat::kText, TextBody());
BENCHMARK_CAPTURE(Run, open_metrics, ExpositionFormat::kOpenMetrics, OpenMetricsBody());
BENCHMARK_CAPTURE(Run, protobuf, ExpositionFormat::kProtobuf, ProtobufBody());
BENCHMARK_CAPTURE(Run, native, ExpositionFormat::kProtobuf, NativeBody());

}  // namespace
}  // namespace narthex::codec

BENCHMARK_MAIN();
