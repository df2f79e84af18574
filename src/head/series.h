// What the head keeps per series, 32 bytes, in pages that never move. Everything else is in shared
// tables: labels in LabelSets (by series index), times in Times, values in an Arena.
#pragma once

#include <bit>
#include <cstdint>

#include "head/arena.h"
#include "head/times.h"

namespace narthex::head {

// How the values of the open chunk are kept; see float_column.h and histogram_column.h.
enum class ColumnKind : uint8_t {
  kNone,            // No open chunk.
  kConstant,        // All values have the bits of `last`; no column.
  kDecimal,         // Small whole multiples of a power of ten.
  kXor,             // Anything.
  kHistogram,       // Integer histograms; `column` is the number of a histogram column.
  kFloatHistogram,  // Same, float histograms.
};
inline bool IsHistogramKind(ColumnKind kind) { return kind >= ColumnKind::kHistogram; }

// Changed by the one committer under the series' stripe lock, read under that lock.
struct Series {
  // Bits of the newest value (floats), or of the value before a stale tail; two words so that the
  // struct needs no alignment beyond four bytes.
  uint32_t last_low = 0;
  uint32_t last_high = 0;
  Handle column = 0;  // The newest block of a chain, or the number of a histogram column.
  TimesId times = kNoTimes;
  Handle sealed = 0;         // Newest sealed chunk (sealed_chunks.h).
  uint32_t wal_ref_low = 0;  // The series' number in the write-ahead log: 40 bits.
  uint16_t column_size = 0;  // Bytes used.
  uint8_t wal_ref_high = 0;
  ColumnKind kind = ColumnKind::kNone;
  uint8_t scale = 0;      // kDecimal: decimals; kXor: leading zeros of the window.
  uint8_t run = 0;        // kDecimal: length of the open run; kXor: trailing zeros.
  uint8_t free_bits = 0;  // kXor: unused bits of the last byte.
  uint8_t flags = 0;

  static constexpr uint8_t kStaleTail = 1;  // The newest value is a stale marker, not `last`.
  static constexpr uint8_t kLogged = 2;     // The write-ahead log has the series record.
  // Had no sample when it was last looked at, and nobody has asked for it since.
  static constexpr uint8_t kIdle = 4;

  uint64_t last_bits() const { return static_cast<uint64_t>(last_high) << 32 | last_low; }
  double last() const { return std::bit_cast<double>(last_bits()); }
  void set_last_bits(uint64_t bits) {
    last_low = static_cast<uint32_t>(bits);
    last_high = static_cast<uint32_t>(bits >> 32);
  }
  uint64_t wal_ref() const { return static_cast<uint64_t>(wal_ref_high) << 32 | wal_ref_low; }
  // Whether a number is in use: no series has number 0 in the log.
  bool exists() const { return wal_ref() != 0; }
  bool has_samples() const { return kind != ColumnKind::kNone || sealed != 0; }
  bool Has(uint8_t flag) const { return (flags & flag) != 0; }
  void Set(uint8_t flag) { flags = static_cast<uint8_t>(flags | flag); }
  void Clear(uint8_t flag) { flags = static_cast<uint8_t>(flags & ~flag); }
};
static_assert(sizeof(Series) == 32);

inline constexpr uint64_t kMaxWalRef = (uint64_t{1} << 40) - 1;

}  // namespace narthex::head
