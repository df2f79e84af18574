// The native histograms of a series' open chunk. All samples of the chunk have one bucket layout,
// an object shared with every other series of that layout. Samples are rows of differences against
// the row before, in which a bucket takes as many bits as the difference that changed most, or one
// if few changed; the newest row's buckets are kept as narrow as their values.
//
// What a sample may follow in one chunk is the chunk format's rule (codec::OfferAfter), so that a
// full column is written as exactly one Prometheus chunk.
//
// Columns are changed by one writer at a time, under the stripe lock of their series.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "head/arena.h"
#include "head/paged_array.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/model/histogram.h"

namespace narthex::head {

// Gives equal layouts one object. Thread-compatible.
class LayoutTable {
 public:
  model::LayoutPtr Intern(const model::LayoutPtr& layout);
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  void Sweep();

  std::unordered_multimap<uint64_t, model::LayoutPtr> layouts_;
  size_t sweep_at_ = 1024;
  uint64_t num_bytes_ = 0;
};

// One open chunk. Counts hold integers or the bits of doubles.
struct HistogramColumn {
  model::LayoutPtr layout;
  uint64_t count = 0;  // Of the newest row ...
  uint64_t zero_count = 0;
  uint64_t sum_bits = 0;
  Handle last = 0;    // ... and its buckets, `width` bytes each; 0: all are 0.
  Handle rows = 0;    // A chain.
  uint32_t size = 0;  // Bytes of rows used.
  uint8_t width = 2;
  codec::CounterReset header = codec::CounterReset::kUnknown;
};

// H is model::Histogram or model::FloatHistogram. A column is used with one H only.
class HistogramColumns {
 public:
  // A new column, empty, without layout.
  uint32_t New();
  // Forgets the rows and the layout; the column may be started anew.
  void Clear(uint32_t id);
  void Free(uint32_t id);

  const HistogramColumn& operator[](uint32_t id) const { return columns_[id]; }

  // What `sample` needs. REQUIRES: the column has a row.
  template <typename H>
  codec::Verdict Offer(uint32_t id, const H& sample) const;

  // Adds the first row, which fixes layout and header.
  template <typename H>
  void Start(uint32_t id, const H& sample, codec::CounterReset header);
  // Adds a row. REQUIRES: Offer(sample).fit is kAppend or kWiden; `count` rows so far.
  template <typename H>
  void Append(uint32_t id, const H& sample, codec::Fit fit, size_t count);

  // The newest row. REQUIRES: the column has a row.
  template <typename H>
  void Newest(uint32_t id, H* out) const;

  // Replaces `*out` with all `count` rows as histograms of the column's layout.
  template <typename H>
  void Decode(uint32_t id, size_t count, std::vector<H>* out) const;
  // Replaces the columns but times with all `count` rows.
  template <typename H>
  void Decode(uint32_t id, size_t count, model::HistogramDetail detail,
              codec::HistogramColumns* out) const;

  // Gives back memory that nothing uses.
  void Trim() { arena_.Trim(); }

  uint64_t num_bytes() const {
    return columns_.num_bytes() + arena_.num_bytes() + layouts_.num_bytes() +
           free_.capacity() * sizeof(uint32_t);
  }

 private:
  std::unique_ptr<uint8_t[]> RowsOf(const HistogramColumn& column) const;
  template <typename H>
  void PutRow(HistogramColumn* column, const H& row);
  template <typename H>
  void Widen(uint32_t id, size_t count, const model::LayoutPtr& layout);
  template <typename H>
  void SetLast(HistogramColumn* column, const H& row);
  template <typename H>
  void LoadLast(const HistogramColumn& column, H* out) const;

  PagedArray<HistogramColumn, 64> columns_;
  std::vector<uint32_t> free_;
  Arena arena_;
  LayoutTable layouts_;
  std::string scratch_;  // One row.
};

}  // namespace narthex::head
