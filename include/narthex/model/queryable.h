// The door for whoever reads samples. A Querier is a consistent view of a time range. Select()
// finds series without touching samples; a cursor then hands out whole columns, up to a chunk's
// worth of times and values at once. Labels are symbols (symbols.h) of the querier's table.
//
// One query uses one Querier, so that all its symbols are of one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/model/histogram.h"
#include "narthex/model/matcher.h"
#include "narthex/model/symbols.h"

namespace narthex::model {

// Closed: both ends are in it. Unix milliseconds.
struct TimeRange {
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;
  bool Contains(int64_t time_ms) const { return min_time_ms <= time_ms && time_ms <= max_time_ms; }
};

// What of a histogram the reader needs. kCountAndSum batches have no buckets, though the layout is
// the real one; as their reader cannot find counter resets himself, their hints tell kReset from
// kNotReset wherever the cursor has read a histogram before since its Seek().
enum class HistogramDetail : uint8_t { kFull, kCountAndSum };

enum class SampleKind : uint8_t { kFloat, kHistogram };

// One run of samples of one kind, times ascending. All spans have times_ms.size() rows and are
// valid until the cursor's next call.
struct ColumnBatch {
  SampleKind kind = SampleKind::kFloat;
  std::span<const int64_t> times_ms;
  // kFloat:
  std::span<const double> values;
  // kHistogram: all rows have one layout. Integer histograms come as floats. Staleness is a stale
  // NaN in `sums` (such a row's counts mean nothing).
  LayoutPtr layout;
  std::span<const double> counts;
  std::span<const double> zero_counts;
  std::span<const double> sums;
  std::span<const CounterResetHint> hints;
  std::span<const double> buckets;  // Row-major, layout->num_buckets() a row; empty without detail.
};

// The newest sample of a series at a moment.
struct LatestSample {
  int64_t time_ms = 0;
  SampleKind kind = SampleKind::kFloat;
  double value = 0;          // kFloat
  FloatHistogram histogram;  // kHistogram; without buckets under kCountAndSum
};

// Reads the samples of series of one selection, one series after another, reusing its buffers.
// Thread-compatible; different cursors of one selection may be used by different threads.
class SeriesCursor {
 public:
  virtual ~SeriesCursor() = default;
  // Starts on series `index` within `range`; the next Next() gives its first batch.
  virtual void Seek(size_t index, TimeRange range) = 0;
  // Moves to the next batch. False at the end or on error: see status().
  virtual bool Next() = 0;
  // REQUIRES: the last Next() returned true.
  virtual const ColumnBatch& batch() const = 0;
  // kDataLoss: a chunk cannot be read.
  virtual absl::Status status() const = 0;
};

// The series a Select() found, without samples. Immutable; thread-safe. The Querier must outlive
// it.
class SeriesSelection {
 public:
  virtual ~SeriesSelection() = default;
  virtual size_t size() const = 0;
  // Appends the labels of series `index`, sorted by the text of their names.
  virtual void AppendLabels(size_t index, std::vector<SymbolLabel>* out) const = 0;
  virtual std::unique_ptr<SeriesCursor> NewCursor(HistogramDetail detail) const = 0;
  // The newest sample with range.min_time_ms <= time <= range.max_time_ms, if it can be told
  // without reading chunks. kHave: *out is set; kNone: there is no such sample; kAskCursor: not
  // known here, read it through a cursor. Histograms always answer kAskCursor unless kept decoded.
  enum class Latest : uint8_t { kHave, kNone, kAskCursor };
  virtual Latest FindLatest(size_t index, TimeRange range, LatestSample* out) const = 0;
};

// Hints: what the caller will do with the samples. All optional; answers must not depend on them.
struct SelectHints {
  TimeRange range;       // Samples outside will not be asked for.
  int64_t step_ms = 0;   // 0: instant.
  int64_t range_ms = 0;  // Width of a range selector; 0 for instant selectors.
  std::string function;  // The function directly around the selector, or "".
  HistogramDetail detail = HistogramDetail::kFull;
  size_t limit = 0;  // At most so many series are needed; 0: all.
};

// Thread-safe.
class Querier {
 public:
  virtual ~Querier() = default;
  // Valid as long as the querier. Find() never learns a text later on.
  virtual const SymbolTable& symbols() const = 0;

  // Series that match all of `matchers` and may have samples in the hints' range, in a fixed but
  // unspecified order, each label set once.
  virtual absl::StatusOr<std::unique_ptr<SeriesSelection>> Select(
      std::span<const Matcher> matchers, const SelectHints& hints) const = 0;

  // Sorted, unique; of the series that match all of `matchers` (empty: all series). At most `limit`
  // if it is not 0.
  virtual absl::StatusOr<std::vector<std::string>> LabelNames(std::span<const Matcher> matchers,
                                                              size_t limit) const = 0;
  virtual absl::StatusOr<std::vector<std::string>> LabelValues(std::string_view name,
                                                               std::span<const Matcher> matchers,
                                                               size_t limit) const = 0;
};

// Thread-safe.
class Queryable {
 public:
  virtual ~Queryable() = default;
  // The view holds what was committed before the call. The database must outlive the querier.
  virtual absl::StatusOr<std::unique_ptr<Querier>> NewQuerier(TimeRange range) const = 0;
};

}  // namespace narthex::model
