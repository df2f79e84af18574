// Remote write messages of version 1 (prometheus.WriteRequest), decoded in place: one series at a
// time, views into the message, buffers reused from series to series. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The default limit of a message, compressed or not.
inline constexpr size_t kMaxWriteRequestBytes = 32 << 20;

// Decodes a snappy block. kInvalidArgument: "snappy: corrupt input"; kResourceExhausted: "decoded
// size exceeds the N bytes limit". The declared size is looked at before memory is taken.
absl::StatusOr<std::string> UncompressSnappyBlock(std::string_view block, size_t max_bytes);

struct WriteSample {
  double value = 0;
  int64_t time_ms = 0;
};

// A native histogram, not validated, except that kInvalidArgument in `status` says that its counts
// do not fit its spans; then only the time is good.
struct WriteHistogram {
  absl::Status status;
  int64_t time_ms = 0;
  bool is_float = false;
  model::Histogram histogram;             // If !is_float.
  model::FloatHistogram float_histogram;  // If is_float.
};

// One series of a message. Views into the message.
struct WriteSeries {
  // All of it, encoded.
  std::string_view bytes;
  // The encoded labels alone, where they lie in one piece, else empty. Equal bytes, equal labels:
  // a receiver that knows them need not decode them.
  std::string_view labels_bytes;
  std::vector<WriteSample> samples;
  std::vector<model::Exemplar> exemplars;
  std::vector<WriteHistogram> histograms;
};

// The labels of a series as they were sent: in any order, names maybe repeated, texts not checked.
absl::Status DecodeWriteLabels(const WriteSeries& series, std::vector<model::Label>* labels);

struct WriteMetadata {
  std::string_view family;
  model::MetricType type = model::MetricType::kUnknown;
  std::string_view help;
  std::string_view unit;
};

// Walks a WriteRequest. Thread-compatible.
class WriteRequestReader {
 public:
  // `message` must outlive this and all it hands out.
  explicit WriteRequestReader(std::string_view message)
      : series_left_(message), metadata_left_(message) {}

  // Decodes the next series into `*series`. False at the end, and on malformed bytes: see status().
  bool NextSeries(WriteSeries* series);
  // The same for metadata; each of the two walks the whole message.
  bool NextMetadata(WriteMetadata* metadata);

  // kInvalidArgument once one of the two returned false on malformed bytes.
  const absl::Status& status() const { return status_; }

 private:
  bool NextField(uint32_t number, std::string_view* left, std::string_view* bytes);

  std::string_view series_left_;    // What NextSeries() has not seen.
  std::string_view metadata_left_;  // What NextMetadata() has not seen.
  absl::Status status_;
};

}  // namespace narthex::codec
