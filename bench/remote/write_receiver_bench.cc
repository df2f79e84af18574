// Whole remote write requests of 2,000 series with six labels and one sample each, into a storage
// that only counts: ns per sample of everything but storage. Each run checks what was stored.
#include <benchmark/benchmark.h>
#include <snappy.h>

#include <map>

#include "codec/wire/field_writer.h"
#include "narthex/base/clock.h"
#include "narthex/base/strings.h"
#include "narthex/remote/write_receiver.h"

namespace narthex::remote {
namespace {

constexpr int kNumSeries = 2000;
constexpr double kSum = kNumSeries * (kNumSeries - 1) / 2;

// Takes everything and adds up values.
class CountingStorage final : public model::Appendable {
 public:
  std::unique_ptr<model::Appender> NewAppender() override;
  double sum = 0;
  int64_t num_resolves = 0;
};

class CountingAppender final : public model::Appender {
 public:
  explicit CountingAppender(CountingStorage* storage) : storage_(storage) {}
  absl::StatusOr<model::SeriesRef> Resolve(std::span<const model::Label>) override {
    return ++storage_->num_resolves;
  }
  void AppendFloats(std::span<const model::FloatSample> samples,
                    std::span<model::AppendOutcome> outcomes) override {
    for (size_t i = 0; i < samples.size(); ++i) {
      storage_->sum += samples[i].value;
      outcomes[i] = model::AppendOutcome::kAccepted;
    }
  }
  model::AppendOutcome AppendHistogram(model::SeriesRef, int64_t,
                                       const model::Histogram&) override {
    return model::AppendOutcome::kAccepted;
  }
  model::AppendOutcome AppendHistogram(model::SeriesRef, int64_t,
                                       const model::FloatHistogram&) override {
    return model::AppendOutcome::kAccepted;
  }
  absl::Status AppendExemplar(model::SeriesRef, const model::Exemplar&) override {
    return absl::OkStatus();
  }
  void SetMetadata(model::SeriesRef, const model::Metadata&) override {}
  absl::Status Commit() override { return absl::OkStatus(); }
  void Rollback() override {}

 private:
  CountingStorage* const storage_;
};

std::unique_ptr<model::Appender> CountingStorage::NewAppender() {
  return std::make_unique<CountingAppender>(this);
}

std::string Body() {
  std::string message;
  for (int i = 0; i < kNumSeries; ++i) {
    const std::map<std::string, std::string> labels = {
        {"__name__", "http_requests_total"},
        {"code", "200"},
        {"handler", "/api/v1/query"},
        {"instance", base::StrCat("10.0.", i / 256, ".", i % 256, ":9100")},
        {"job", "server"},
        {"method", "get"}};
    std::string series;
    for (const auto& [name, value] : labels) {
      std::string label;
      codec::AppendBytesField(&label, 1, name);
      codec::AppendBytesField(&label, 2, value);
      codec::AppendBytesField(&series, 1, label);
    }
    std::string sample;
    codec::AppendDoubleField(&sample, 1, i);
    codec::AppendVarintField(&sample, 2, 1'700'000'000'000);
    codec::AppendBytesField(&series, 2, sample);
    codec::AppendBytesField(&message, 1, series);
  }
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  return body;
}

void Handle(benchmark::State& state, size_t max_cached_series) {
  const std::string body = Body();
  CountingStorage storage;
  base::Registry registry(&base::SystemClock());
  WriteReceiverOptions options;
  options.max_cached_series = max_cached_series;
  WriteReceiver receiver(options, &storage, &base::SystemClock(), &base::NullLogger(), &registry);
  WriteRequest request;
  request.body = body;
  for (auto _ : state) {
    storage.sum = 0;
    if (receiver.Handle(request).status != 204 || storage.sum != kSum) {
      state.SkipWithError("wrong answer");
    }
  }
  state.SetItemsProcessed(state.iterations() * kNumSeries);
}
BENCHMARK_CAPTURE(Handle, known_series, 1 << 20);
BENCHMARK_CAPTURE(Handle, without_cache, 0);

}  // namespace
}  // namespace narthex::remote

BENCHMARK_MAIN();
