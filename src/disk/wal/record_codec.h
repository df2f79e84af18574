// What the encoders and decoders of all record types share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/bytes.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal_records.h"
#include "narthex/model/labels.h"

namespace narthex::disk {

// Collects numbers on the stack and appends them to a string by the kilobyte: one check a number
// instead of one append. Whoever uses it calls Flush() at the end.
class NumberWriter {
 public:
  explicit NumberWriter(std::string* out) : out_(out) {}
  void U8(uint8_t value) {
    Reserve(1);
    *cursor_++ = static_cast<char>(value);
  }
  void U64(uint64_t value) {
    Reserve(8);
    base::StoreBigEndian(cursor_, value);
    cursor_ += 8;
  }
  void F64(double value) { U64(std::bit_cast<uint64_t>(value)); }
  void Uvarint(uint64_t value) {
    Reserve(base::kMaxVarintBytes);
    cursor_ = base::StoreUvarint(cursor_, value);
  }
  void Varint(int64_t value) { Uvarint(base::ZigZag(value)); }
  void Flush() {
    out_->append(buffer_, static_cast<size_t>(cursor_ - buffer_));
    cursor_ = buffer_;
  }

 private:
  void Reserve(size_t num_bytes) {
    if (static_cast<size_t>(buffer_ + sizeof buffer_ - cursor_) < num_bytes) [[unlikely]]
      Flush();
  }

  std::string* const out_;
  char buffer_[1024];
  char* cursor_ = buffer_;
};

// a - b and a + b modulo 2^64: what was written as a difference reads back as it was.
inline int64_t Difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }
inline int64_t Difference(int64_t a, int64_t b) {
  return Difference(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
}
inline uint64_t Sum(uint64_t a, int64_t b) { return a + static_cast<uint64_t>(b); }
inline int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Ref, time and start time of the samples of a record of a V2 type, one after the other.
class StartTimeFields {
 public:
  struct Fields {
    model::SeriesRef ref = model::kNoSeries;
    int64_t time_ms = 0;
    int64_t start_time_ms = 0;
  };
  const Fields& Next(base::Reader* reader);

 private:
  bool has_first_ = false;
  Fields first_;
  Fields last_;
};

// The rest of a record after its type byte. kDataLoss: another type.
absl::Status BadRecord(std::string_view what, std::string_view record);
inline absl::Status Done(const base::Reader& reader, std::string_view what,
                         std::string_view record) {
  return reader.ok() ? absl::OkStatus() : BadRecord(what, record);
}

void AppendLabels(std::string* record, std::span<const model::Label> labels);
// Appends to `*labels`; views into the reader's bytes.
void ReadLabels(base::Reader* reader, std::vector<model::Label>* labels);

}  // namespace narthex::disk
