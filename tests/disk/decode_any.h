// Decodes a record as whatever its type byte says.
#pragma once

#include <string_view>
#include <vector>

#include "narthex/disk/wal_records.h"

namespace narthex::disk {

// True if the type is known and the record well-formed.
inline bool DecodeAny(std::string_view record) {
  switch (TypeOfRecord(record)) {
    case RecordType::kUnknown:
      return false;
    case RecordType::kSeries: {
      SeriesBatch batch;
      return DecodeSeries(record, &batch).ok();
    }
    case RecordType::kSamples:
    case RecordType::kSamplesV2: {
      SampleBatch batch;
      return DecodeSamples(record, &batch).ok();
    }
    case RecordType::kTombstones: {
      std::vector<Tombstone> tombstones;
      return DecodeTombstones(record, &tombstones).ok();
    }
    case RecordType::kExemplars: {
      std::vector<RefExemplar> exemplars;
      return DecodeExemplars(record, &exemplars).ok();
    }
    case RecordType::kMmapMarkers: {
      std::vector<MmapMarker> markers;
      return DecodeMmapMarkers(record, &markers).ok();
    }
    case RecordType::kMetadata: {
      std::vector<RefMetadata> metadata;
      return DecodeMetadata(record, &metadata).ok();
    }
    case RecordType::kHistograms:
    case RecordType::kCustomHistograms:
    case RecordType::kHistogramsV2: {
      HistogramBatch<model::Histogram> batch;
      return DecodeHistograms(record, &batch).ok();
    }
    case RecordType::kFloatHistograms:
    case RecordType::kCustomFloatHistograms:
    case RecordType::kFloatHistogramsV2: {
      HistogramBatch<model::FloatHistogram> batch;
      return DecodeHistograms(record, &batch).ok();
    }
  }
  return false;
}

}  // namespace narthex::disk
