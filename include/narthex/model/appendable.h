// The door for whoever writes samples. An Appender collects one batch (a scrape, a request, a rule
// evaluation) and commits it as a whole: after Commit() the batch is in the write-ahead log and
// visible to new queriers at once; a reader never sees part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/model/exemplar.h"
#include "narthex/model/histogram.h"
#include "narthex/model/labels.h"
#include "narthex/model/metadata.h"

namespace narthex::model {

// A series' number within one database; 0 is no series. A ref stays good until its series is
// dropped for want of samples, after which appends to it answer kUnknownSeries.
using SeriesRef = uint64_t;
inline constexpr SeriesRef kNoSeries = 0;

struct FloatSample {
  SeriesRef ref = kNoSeries;
  int64_t time_ms = 0;
  double value = 0;
};

// What became of one sample; all of these are everyday, so no Status. Anything but kAccepted and
// kDuplicateSame is not stored.
enum class AppendOutcome : uint8_t {
  kAccepted,
  kDuplicateSame,     // Same time and same value as the newest sample: accepted silently.
  kDuplicate,         // Same time, other value: "duplicate sample for timestamp".
  kOutOfOrder,        // "out of order sample"
  kOutOfBounds,       // Before what the database takes: "out of bounds"
  kTooOld,            // Outside the out-of-order window: "too old sample"
  kUnknownSeries,     // Resolve again.
  kInvalidHistogram,  // See Validate() of histogram.h.
};
inline bool IsStored(AppendOutcome outcome) {
  return outcome == AppendOutcome::kAccepted || outcome == AppendOutcome::kDuplicateSame;
}
// Prometheus's error text of an outcome; "" for the stored ones.
std::string_view OutcomeText(AppendOutcome outcome);

// Thread-compatible; bound to one batch. After Commit() or Rollback() only destruction is allowed;
// destruction without either rolls back.
class Appender {
 public:
  virtual ~Appender() = default;

  // The series of `labels` (sorted by name, no empty values), created if it is new.
  // kInvalidArgument: "empty labelset: invalid sample", `label name "x" is not unique: invalid
  // sample`; kResourceExhausted: the database takes no new series now.
  virtual absl::StatusOr<SeriesRef> Resolve(std::span<const Label> labels) = 0;

  // Adds samples; outcomes[i] says what became of samples[i]. REQUIRES: sizes are equal.
  virtual void AppendFloats(std::span<const FloatSample> samples,
                            std::span<AppendOutcome> outcomes) = 0;

  // Adds one native histogram. The histogram is copied.
  virtual AppendOutcome AppendHistogram(SeriesRef ref, int64_t time_ms,
                                        const Histogram& histogram) = 0;
  virtual AppendOutcome AppendHistogram(SeriesRef ref, int64_t time_ms,
                                        const FloatHistogram& histogram) = 0;

  // A failure never fails the batch. kFailedPrecondition when exemplars are not stored;
  // kInvalidArgument with Prometheus's texts ("out of order exemplar", ...).
  virtual absl::Status AppendExemplar(SeriesRef ref, const Exemplar& exemplar) = 0;

  // Sets the metadata of the series' metric; a no-op when unchanged.
  virtual void SetMetadata(SeriesRef ref, const Metadata& metadata) = 0;

  // On error nothing of the batch is visible or logged. kResourceExhausted: the disk is full.
  virtual absl::Status Commit() = 0;
  virtual void Rollback() = 0;
};

// Thread-safe.
class Appendable {
 public:
  virtual ~Appendable() = default;
  // Never null. The database must outlive the appender.
  virtual std::unique_ptr<Appender> NewAppender() = 0;
};

}  // namespace narthex::model
