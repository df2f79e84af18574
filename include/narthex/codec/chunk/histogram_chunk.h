// Chunks of native histograms (encodings 2, 3, 5 and 6, docs/format/chunks.md). A chunk has one
// bucket layout, fixed by its first sample. Ask Offer() what a sample needs, then append it, widen
// the layout or cut a new chunk. Reading gives whole columns.
// Integer histograms are model::Histogram, float ones model::FloatHistogram; `H` is either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/codec/chunk/encoding.h"
#include "narthex/model/histogram.h"
#include "narthex/model/queryable.h"

namespace narthex::codec {

// What the chunk must undergo before it takes a sample. All three are expected, so no Status.
enum class Fit : uint8_t { kAppend, kWiden, kCut };

// Top two bits of a chunk's flags byte. On disk: never renumber.
enum class CounterReset : uint8_t { kUnknown = 0, kNotReset = 0x40, kReset = 0x80, kGauge = 0xC0 };

struct Verdict {
  Fit fit = Fit::kAppend;
  // Of the chunk that the sample starts if one is cut here, be it for `fit` or for another reason
  // (size, time).
  CounterReset next_header = CounterReset::kUnknown;
  bool operator==(const Verdict&) const = default;
};

// The verdict on `sample` after `last`, the newest sample of a chunk: `last.layout` is the chunk's
// layout, `last.hint` is kGauge if and only if the chunk's header is. O(buckets); nothing but a
// look at the counts if both share one layout object.
Verdict OfferAfter(const model::Histogram& last, const model::Histogram& sample);
Verdict OfferAfter(const model::FloatHistogram& last, const model::FloatHistogram& sample);

// The header of a chunk started by `sample` when no chunk comes before it.
CounterReset FirstHeader(model::CounterResetHint hint);

// The layout that a chunk of layout `chunk` takes when a sample of layout `sample` widens it (Fit
// kWiden): all buckets of both. `hint` is the sample's.
model::LayoutPtr WidenedLayout(const model::LayoutPtr& chunk, const model::LayoutPtr& sample,
                               model::CounterResetHint hint);

// Writes the buckets of a histogram of layout `from` as `to` lays them out, new ones 0; buckets
// that `to` lacks are left out. REQUIRES: one bucket per bucket of each layout.
void SpreadBuckets(const model::HistogramLayout& from, std::span<const int64_t> buckets,
                   const model::HistogramLayout& to, std::span<int64_t> out);
void SpreadBuckets(const model::HistogramLayout& from, std::span<const double> buckets,
                   const model::HistogramLayout& to, std::span<double> out);

// Appends histograms to one chunk; the chunk is complete after every call. Thread-compatible.
// Times are Unix milliseconds. Staleness markers (sum is the stale NaN) are appended as such.
template <typename H>
class BasicHistogramAppender {
 public:
  // Continues `*chunk`, or starts it if empty. The caller owns it, keeps it alive as long as the
  // appender, and changes it no other way. kDataLoss: the bytes are no chunk of this kind.
  static absl::StatusOr<BasicHistogramAppender> Open(std::string* chunk);

  // Says what `sample` needs; changes nothing. An empty chunk takes any sample.
  Verdict Offer(const H& sample) const;

  // Writes one sample. The first one fixes the layout and the header: `first_header` then, which
  // is FirstHeader() or the verdict of the chunk before; later ones ignore it.
  // REQUIRES: Offer(sample).fit == Fit::kAppend, num_samples() < kMaxChunkSamples.
  void Append(int64_t time_ms, const H& sample, CounterReset first_header = CounterReset::kUnknown);

  // Re-codes the chunk so that `sample` fits. REQUIRES: Offer(sample).fit == Fit::kWiden.
  void Widen(const H& sample);

  size_t num_samples() const { return num_samples_; }
  int64_t last_time_ms() const { return time_ms_; }
  // The newest sample in the chunk's layout. REQUIRES: num_samples() > 0.
  const H& last() const { return last_; }
  CounterReset header() const;

 private:
  using Bucket = typename decltype(H::buckets)::value_type;
  using Count = decltype(H::count);

  // State of one XOR-coded number; histogram_appender.cc knows its meaning.
  struct Window {
    uint8_t leading = 0xff;
    uint8_t trailing = 0;
  };

  explicit BasicHistogramAppender(std::string* chunk) : chunk_(chunk) {}
  void WriteFirst(int64_t time_ms, const H& sample);
  void WriteNext(int64_t time_ms, const H& sample);
  // The sample's buckets in the chunk's layout; valid until the next call.
  std::span<const Bucket> InChunkLayout(const H& sample);

  std::string* chunk_;
  size_t num_samples_ = 0;
  uint8_t num_free_bits_ = 0;  // Of the chunk's last byte.
  int64_t time_ms_ = 0;
  uint64_t time_delta_ms_ = 0;
  H last_;  // In the chunk's layout.
  Window sum_window_;
  // Integer histograms: changes against the sample before, buckets as absolute counts.
  uint64_t count_delta_ = 0;
  uint64_t zero_count_delta_ = 0;
  std::vector<uint64_t> bucket_deltas_;
  // Float histograms.
  Window count_window_;
  Window zero_count_window_;
  std::vector<Window> bucket_windows_;
  std::vector<Bucket> spread_;  // Scratch of InChunkLayout().
};

using HistogramAppender = BasicHistogramAppender<model::Histogram>;
using FloatHistogramAppender = BasicHistogramAppender<model::FloatHistogram>;

// The samples of one chunk as columns, all with times_ms.size() rows. Reused from chunk to chunk.
template <typename Count, typename Bucket>
struct BasicHistogramColumns {
  // The chunk's; the object stays the same if the next chunk has an equal layout.
  model::LayoutPtr layout;
  CounterReset header = CounterReset::kUnknown;
  std::vector<int64_t> times_ms;
  std::vector<Count> counts;
  std::vector<Count> zero_counts;
  std::vector<double> sums;  // The stale NaN: the row is a staleness marker, its numbers are 0.
  std::vector<model::CounterResetHint> hints;
  std::vector<Bucket> buckets;  // Row-major, layout->num_buckets() a row; empty for kCountAndSum.
};
using HistogramColumns = BasicHistogramColumns<double, double>;
using IntegerHistogramColumns = BasicHistogramColumns<uint64_t, int64_t>;

// Replaces `*columns` with all samples of `chunk`. Schemas above 8 are reduced to it.
// kInvalidArgument: not a histogram encoding (the integer form takes integer encodings only);
// kDataLoss: bad bytes (then `*columns` has no rows).
absl::Status DecodeHistogramChunk(ChunkEncoding encoding, std::string_view chunk,
                                  model::HistogramDetail detail, HistogramColumns* columns);
absl::Status DecodeHistogramChunk(ChunkEncoding encoding, std::string_view chunk,
                                  model::HistogramDetail detail, IntegerHistogramColumns* columns);

// Which row of a chunk: the first, or the last that is no stale marker.
enum class ChunkRow : uint8_t { kFirst, kLast };

// Replaces `*out` with one row of `chunk`, buckets included, and `*scratch` with all of them.
// False: the row is a stale marker (kLast: all are) and `*out` stays. Errors as
// DecodeHistogramChunk().
absl::StatusOr<bool> DecodeHistogramRow(ChunkEncoding encoding, std::string_view chunk,
                                        ChunkRow which, HistogramColumns* scratch,
                                        model::FloatHistogram* out);

}  // namespace narthex::codec
