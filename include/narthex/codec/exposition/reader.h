// Reads an exposition body (protobuf, OpenMetrics or Prometheus text) as a stream of entries, in
// batches. All formats give the same entries; conversions such as classic histograms to custom
// buckets are readers around readers. Pure: no clock, no I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/model/exemplar.h"
#include "narthex/model/histogram.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::codec {

enum class ExpositionFormat : uint8_t { kText, kOpenMetrics, kProtobuf };

enum class EntryKind : uint8_t { kFloat, kHistogram, kFloatHistogram, kType, kHelp, kUnit };

// One entry. All views and pointers are valid until the reader's next NextBatch().
struct Entry {
  EntryKind kind = EntryKind::kFloat;
  // kType/kHelp/kUnit: the family name; samples: the metric name.
  std::string_view name;
  // Samples: bytes that name the series within this target: equal bytes, equal labels. Protobuf
  // and text bodies may give different bytes for one series.
  std::string_view series_key;
  // kHelp: help text, kUnit: unit, unescaped.
  std::string_view text;
  model::MetricType type = model::MetricType::kUnknown;  // kType.
  // kFloat:
  double value = 0;
  // kHistogram / kFloatHistogram; as sent, not validated.
  const model::Histogram* histogram = nullptr;
  const model::FloatHistogram* float_histogram = nullptr;
  bool has_time = false;
  int64_t time_ms = 0;
  int64_t start_time_ms = 0;  // 0: not known.
  // Exemplars of this sample: [first_exemplar, first_exemplar + num_exemplars) of the batch.
  uint32_t first_exemplar = 0;
  uint32_t num_exemplars = 0;
  // The reader's own handle for Labels().
  uint32_t labels_index = 0;
};

struct EntryBatch {
  std::vector<Entry> entries;
  std::vector<model::Exemplar> exemplars;
};

// Thread-compatible.
class ExpositionReader {
 public:
  virtual ~ExpositionReader() = default;
  // Replaces `*batch` with the next entries (some hundreds). False at the end or on error.
  virtual bool NextBatch(EntryBatch* batch) = 0;
  // kInvalidArgument with the parser's message once NextBatch() returned false on a bad body.
  virtual absl::Status status() const = 0;
  // The labels of a sample entry of the last batch, `__name__` included, sorted as the builder
  // sorts; `le` and `quantile` are normalised ("1" -> "1.0"). Labels with empty values are none,
  // but the builder mentions them. Called for new series only.
  // kInvalidArgument: a label name comes twice.
  virtual absl::Status Labels(const Entry& entry, model::LabelsBuilder* out) const = 0;
};

struct ReaderOptions {
  // Native parts of protobuf histograms are read; otherwise only the classic ones.
  bool native_histograms = false;
  // Classic parts are read even where a native part exists.
  bool classic_with_native = false;
  // OpenMetrics `_created` lines give start times instead of samples.
  bool parse_start_times = false;
  // Samples get the labels `__type__` and `__unit__` where the body tells them.
  bool type_and_unit_labels = false;
  // Classic histograms become native ones with custom buckets, unless there is an exponential one
  // of the same labels. The classic series stay only with `classic_with_native`.
  bool convert_classic_to_custom_buckets = false;
};

// `body` must outlive the reader. Never null.
std::unique_ptr<ExpositionReader> NewExpositionReader(ExpositionFormat format,
                                                      std::string_view body,
                                                      const ReaderOptions& options);

// The format of a Content-Type header; `fallback` (a scrape protocol name such as
// "PrometheusText0.0.4", or "") is used when it is blank or unknown. kInvalidArgument with
// Prometheus's texts.
absl::StatusOr<ExpositionFormat> FormatOfContentType(std::string_view content_type,
                                                     std::string_view fallback);

}  // namespace narthex::codec
