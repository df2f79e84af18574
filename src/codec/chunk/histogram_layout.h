// The layout at the front of a histogram chunk: its bytes, and walking and merging of spans.
//
//   zero threshold | schema | positive spans | negative spans | custom bounds (schema -53 only)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/chunk/bit_stream.h"
#include "narthex/model/histogram.h"

namespace narthex::codec {

void WriteLayout(BitWriter* writer, const model::HistogramLayout& layout);

// Reads a layout whose buckets can be in the bytes that follow: each takes a bit. False: it cannot,
// or the schema is not known; `*layout` is anything then.
[[nodiscard]] bool ReadLayout(BitReader& reader, model::HistogramLayout* layout);

// Walks the bucket indexes of one side; empty spans are passed over.
class SpanCursor {
 public:
  explicit SpanCursor(std::span<const model::BucketSpan> spans) : spans_(spans) { Settle(); }
  bool done() const { return span_ == spans_.size(); }
  // REQUIRES: !done().
  int64_t index() const { return start_ + passed_; }
  size_t position() const { return position_; }  // Among the side's buckets.
  void Next() {
    ++position_;
    ++passed_;
    Settle();
  }

 private:
  // Moves on to a span with buckets left.
  void Settle() {
    if (span_ < spans_.size() && !entered_) Enter();
    while (span_ < spans_.size() && passed_ == spans_[span_].length) {
      start_ += passed_;
      ++span_;
      if (span_ < spans_.size()) Enter();
    }
  }
  void Enter() {
    entered_ = true;
    start_ += spans_[span_].offset;
    passed_ = 0;
  }

  std::span<const model::BucketSpan> spans_;
  size_t span_ = 0;
  int64_t start_ = 0;   // Index of the current span's first bucket.
  int64_t passed_ = 0;  // Of its buckets.
  size_t position_ = 0;
  bool entered_ = false;
};

// Adds bucket indexes in ascending order to spans without gaps or empty spans between them.
class SpanBuilder {
 public:
  void Add(int64_t index) {
    if (spans_.empty() || index != next_) {
      spans_.push_back({static_cast<int32_t>(index - next_), 0});
    }
    ++spans_.back().length;
    next_ = index + 1;
  }
  std::vector<model::BucketSpan> Take() { return std::move(spans_); }

 private:
  std::vector<model::BucketSpan> spans_;
  int64_t next_ = 0;  // One after the last index; the first span's offset counts from 0.
};

}  // namespace narthex::codec
