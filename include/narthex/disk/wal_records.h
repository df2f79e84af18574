// What write-ahead log records say (docs/format/wal.md). A record holds a batch of one type; the
// first byte is the type. Encoders append one whole record to a string; decoders replace a batch
// with a record's contents, as views into the record where there is text. Decoders answer kDataLoss
// for malformed records and trust no count. Pure free functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/disk/head_chunks.h"
#include "narthex/model/appendable.h"
#include "narthex/model/exemplar.h"
#include "narthex/model/histogram.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::disk {

// On disk: never renumber. Readers skip numbers they do not know.
enum class RecordType : uint8_t {
  kUnknown = 0,
  kSeries = 1,
  kSamples = 2,
  kTombstones = 3,
  kExemplars = 4,
  kMmapMarkers = 5,  // In the out-of-order log only.
  kMetadata = 6,
  kHistograms = 7,
  kFloatHistograms = 8,
  kCustomHistograms = 9,  // Schema -53 only; 7 and 8 never hold it.
  kCustomFloatHistograms = 10,
  kSamplesV2 = 11,  // 11 to 13: with start times; read only.
  kHistogramsV2 = 12,
  kFloatHistogramsV2 = 13,
};

// kUnknown for an empty record or a number not listed above.
RecordType TypeOfRecord(std::string_view record);

// Series: refs and label sets.
struct SeriesToLog {
  model::SeriesRef ref = model::kNoSeries;
  std::span<const model::Label> labels;  // Sorted by name.
};
void EncodeSeries(std::span<const SeriesToLog> series, std::string* record);

struct SeriesBatch {
  struct Series {
    model::SeriesRef ref;
    uint32_t first_label;
    uint32_t num_labels;
  };
  std::vector<Series> series;
  std::vector<model::Label> labels;  // Of all series; views into the record.

  std::span<const model::Label> LabelsOf(const Series& one) const {
    return std::span(labels).subspan(one.first_label, one.num_labels);
  }
};
absl::Status DecodeSeries(std::string_view record, SeriesBatch* batch);

// Float samples; types kSamples and (read only) kSamplesV2.
void EncodeSamples(std::span<const model::FloatSample> samples, std::string* record);

struct SampleBatch {
  std::vector<model::FloatSample> samples;
  std::vector<int64_t> start_times_ms;  // One per sample, 0 unknown; empty for kSamples.
};
absl::Status DecodeSamples(std::string_view record, SampleBatch* batch);

// Histograms of either value type; kHistograms to kCustomFloatHistograms and their V2 forms.
template <typename H>
struct HistogramToLog {
  model::SeriesRef ref = model::kNoSeries;
  int64_t time_ms = 0;
  const H* histogram = nullptr;
};
// Exponential histograms go to one record and those with custom buckets to the other, in order; a
// record without a sample stays as it was.
void EncodeHistograms(std::span<const HistogramToLog<model::Histogram>> histograms,
                      std::string* exponential, std::string* custom);
void EncodeHistograms(std::span<const HistogramToLog<model::FloatHistogram>> histograms,
                      std::string* exponential, std::string* custom);

template <typename H>
struct HistogramBatch {
  struct Sample {
    model::SeriesRef ref = model::kNoSeries;
    int64_t time_ms = 0;
    int64_t start_time_ms = 0;  // 0: unknown.
    H histogram;
  };
  // Equal layouts of one record share one object. Schemas above 8 are reduced to it.
  std::vector<Sample> samples;
  size_t num_unknown_schemas = 0;  // Samples left out for their schema.
};
absl::Status DecodeHistograms(std::string_view record, HistogramBatch<model::Histogram>* batch);
absl::Status DecodeHistograms(std::string_view record,
                              HistogramBatch<model::FloatHistogram>* batch);

// A deletion: the closed interval [min_time_ms, max_time_ms] of a series. From the smallest to the
// largest int64_t: the series was dropped as a whole.
struct Tombstone {
  model::SeriesRef ref = model::kNoSeries;
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;
  bool operator==(const Tombstone&) const = default;
};
void EncodeTombstones(std::span<const Tombstone> tombstones, std::string* record);
absl::Status DecodeTombstones(std::string_view record, std::vector<Tombstone>* tombstones);

struct RefExemplar {
  model::SeriesRef ref = model::kNoSeries;
  model::Exemplar exemplar;
};
// REQUIRES: exemplars have times.
void EncodeExemplars(std::span<const RefExemplar> exemplars, std::string* record);
absl::Status DecodeExemplars(std::string_view record, std::vector<RefExemplar>* exemplars);

// What is known about a series' metric. Views: the caller's texts, or the record when decoded.
struct RefMetadata {
  model::SeriesRef ref = model::kNoSeries;
  model::MetricType type = model::MetricType::kUnknown;
  std::string_view unit;
  std::string_view help;
  bool operator==(const RefMetadata&) const = default;
};
void EncodeMetadata(std::span<const RefMetadata> metadata, std::string* record);
absl::Status DecodeMetadata(std::string_view record, std::vector<RefMetadata>* metadata);

// In the out-of-order log: what was logged for `ref` before is covered by head chunks up to
// `chunk`.
struct MmapMarker {
  model::SeriesRef ref = model::kNoSeries;
  HeadChunkRef chunk;  // {}: there is none yet.
  bool operator==(const MmapMarker&) const = default;
};
void EncodeMmapMarkers(std::span<const MmapMarker> markers, std::string* record);
absl::Status DecodeMmapMarkers(std::string_view record, std::vector<MmapMarker>* markers);

}  // namespace narthex::disk
