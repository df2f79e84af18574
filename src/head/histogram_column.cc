// A row:  flags | [count] | [zero count] | [sum] | [changed buckets]
//
// flags: 1 stale marker (nothing follows), 2 zero count changed, 4 sum changed, 8 buckets changed,
// 16 the buckets are packed, 32 there is a count. Integers are zig-zag LEB128 of the difference to
// the row before; doubles are the XOR with the number before: a byte (leading zero bytes << 4 |
// number of bytes that follow), then those bytes, high ones first. Without a count it grew by as
// much as all buckets, as it does for integers. Buckets come in the shorter of two forms:
//
//   masked  a bit for each bucket, whether it changed; a number for each that did
//   packed  a byte (width | 128 if no difference is negative), then a difference of so many bits
//           for each bucket, plain or zig-zag, low bits first. For integers only.
#include "head/histogram_column.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "head/chain.h"
#include "head/hash.h"
#include "head/varint.h"
#include "narthex/base/check.h"
#include "narthex/model/stale.h"

namespace narthex::head {
namespace {

constexpr uint8_t kStale = 1, kZeroCount = 2, kSum = 4, kBuckets = 8, kPacked = 16, kCount = 32;
// Of packed differences: one is within eight bytes wherever its bits begin.
constexpr int kMaxWidth = 56;
constexpr uint8_t kPlain = 128;
// Bytes that may be read behind the last row.
constexpr size_t kReadAhead = 8;

template <typename Number>
uint64_t ToBits(Number number) {
  static_assert(sizeof number == 8);
  return std::bit_cast<uint64_t>(number);
}

void PutInteger(std::string* out, uint64_t from, uint64_t to) {
  uint8_t buffer[kMaxVarint64];
  uint8_t* end = buffer;
  WriteVarint64(&end, ZigZag(static_cast<int64_t>(to - from)));
  out->append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(end - buffer));
}

uint64_t ReadInteger(const uint8_t** at, uint64_t from) {
  return from + static_cast<uint64_t>(UnZigZag(ReadVarint64(at)));
}

void PutXorBytes(std::string* out, uint64_t from, uint64_t to) {
  uint64_t diff = from ^ to;
  const int leading = std::countl_zero(diff | 1) / 8;
  const int trailing = diff == 0 ? 8 - leading : std::countr_zero(diff) / 8;
  const int size = 8 - leading - trailing;
  out->push_back(static_cast<char>(leading << 4 | size));
  for (int i = 0; i < size; ++i) {
    out->push_back(static_cast<char>(diff >> (8 * (7 - leading - i))));
  }
}

uint64_t ReadXorBytes(const uint8_t** at, uint64_t from) {
  const uint8_t head = *(*at)++;
  const int leading = head >> 4;
  const int size = head & 0xf;
  uint64_t diff = 0;
  for (int i = 0; i < size; ++i) {
    diff |= static_cast<uint64_t>(*(*at)++) << (8 * (7 - leading - i));
  }
  return from ^ diff;
}

template <typename H>
void PutNumber(std::string* out, uint64_t from, uint64_t to) {
  if constexpr (std::is_same_v<H, model::Histogram>) {
    PutInteger(out, from, to);
  } else {
    PutXorBytes(out, from, to);
  }
}

template <typename H>
uint64_t ReadNumber(const uint8_t** at, uint64_t from) {
  if constexpr (std::is_same_v<H, model::Histogram>) {
    return ReadInteger(at, from);
  } else {
    return ReadXorBytes(at, from);
  }
}

// Walks the rows of a column; all numbers as bits.
template <typename H>
class RowReader {
 public:
  RowReader(const uint8_t* at, size_t num_buckets) : at_(at), buckets_(num_buckets, 0) {}

  void Next() {
    const uint8_t flags = *at_++;
    stale_ = (flags & kStale) != 0;
    if (stale_) return;
    const bool has_count = (flags & kCount) != 0;
    if (has_count) count_ = ReadNumber<H>(&at_, count_);
    grown_ = 0;
    if ((flags & kZeroCount) != 0) {
      const uint64_t from = zero_count_;
      zero_count_ = ReadNumber<H>(&at_, zero_count_);
      grown_ += zero_count_ - from;
    }
    if ((flags & kSum) != 0) sum_bits_ = ReadXorBytes(&at_, sum_bits_);
    if ((flags & kPacked) != 0) {
      ReadPacked();
    } else if ((flags & kBuckets) != 0) {
      ReadMasked();
    }
    if (!has_count) count_ += grown_;
  }

  bool stale() const { return stale_; }
  uint64_t count() const { return count_; }
  uint64_t zero_count() const { return zero_count_; }
  double sum() const { return stale_ ? model::StaleNan() : std::bit_cast<double>(sum_bits_); }
  const std::vector<uint64_t>& buckets() const { return buckets_; }

 private:
  void ReadMasked() {
    const uint8_t* mask = at_;
    at_ += (buckets_.size() + 7) / 8;
    for (size_t base = 0; base < buckets_.size(); base += 8, ++mask) {
      for (unsigned bits = *mask; bits != 0; bits &= bits - 1) {
        uint64_t& bucket = buckets_[base + static_cast<size_t>(std::countr_zero(bits))];
        const uint64_t from = bucket;
        bucket = ReadNumber<H>(&at_, bucket);
        grown_ += bucket - from;
      }
    }
  }

  void ReadPacked() {
    const uint8_t head = *at_++;
    const auto width = static_cast<size_t>(head & ~kPlain);
    const uint64_t mask = (uint64_t{1} << width) - 1;
    const bool plain = (head & kPlain) != 0;
    size_t bit = 0;
    for (uint64_t& bucket : buckets_) {
      uint64_t window = 0;
      std::memcpy(&window, at_ + bit / 8, sizeof window);
      const uint64_t packed = (window >> (bit % 8)) & mask;
      const uint64_t diff = plain ? packed : static_cast<uint64_t>(UnZigZag(packed));
      bucket += diff;
      grown_ += diff;
      bit += width;
    }
    at_ += (bit + 7) / 8;
  }

  const uint8_t* at_;
  std::vector<uint64_t> buckets_;
  uint64_t grown_ = 0;  // By how much the buckets of this row are more than those before.
  uint64_t count_ = 0;
  uint64_t zero_count_ = 0;
  uint64_t sum_bits_ = 0;
  bool stale_ = false;
};

// Bytes of WriteVarint64().
size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Appends the buckets of `to` in the masked form.
template <typename H>
void PutMasked(std::string* out, const H& from, const H& to) {
  const size_t mask_at = out->size();
  out->append((to.buckets.size() + 7) / 8, '\0');
  for (size_t i = 0; i < to.buckets.size(); ++i) {
    const uint64_t before = ToBits(from.buckets[i]);
    const uint64_t after = ToBits(to.buckets[i]);
    if (before == after) continue;
    char& mask = (*out)[mask_at + i / 8];
    mask = static_cast<char>(static_cast<uint8_t>(mask) | 1u << (i % 8));
    PutNumber<H>(out, before, after);
  }
}

void PutPacked(std::string* out, const model::Histogram& from, const model::Histogram& to,
               int width, bool plain) {
  out->push_back(static_cast<char>(width | (plain ? kPlain : 0)));
  uint64_t window = 0;
  int used = 0;
  for (size_t i = 0; i < to.buckets.size(); ++i) {
    const uint64_t diff = ToBits(to.buckets[i]) - ToBits(from.buckets[i]);
    window |= (plain ? diff : ZigZag(static_cast<int64_t>(diff))) << used;
    for (used += width; used >= 8; used -= 8, window >>= 8) {
      out->push_back(static_cast<char>(window));
    }
  }
  if (used > 0) out->push_back(static_cast<char>(window));
}

// Appends the buckets of `to` if any changed. The flags that say how.
template <typename H>
uint8_t PutBuckets(std::string* out, const H& from, const H& to) {
  bool changed = false;
  bool negative = false;
  uint64_t all_plain = 0;
  uint64_t all_zig_zag = 0;
  size_t masked_size = (to.buckets.size() + 7) / 8;
  for (size_t i = 0; i < to.buckets.size(); ++i) {
    const uint64_t diff = ToBits(to.buckets[i]) - ToBits(from.buckets[i]);
    if (diff == 0) continue;
    changed = true;
    const uint64_t zig_zag = ZigZag(static_cast<int64_t>(diff));
    negative = negative || (zig_zag & 1) != 0;
    all_plain |= diff;
    all_zig_zag |= zig_zag;
    masked_size += VarintSize(zig_zag);
  }
  if (!changed) return 0;
  if constexpr (std::is_same_v<H, model::Histogram>) {
    const auto width = static_cast<int>(std::bit_width(negative ? all_zig_zag : all_plain));
    const size_t packed_size = 1 + (to.buckets.size() * static_cast<size_t>(width) + 7) / 8;
    if (width <= kMaxWidth && packed_size < masked_size) {
      PutPacked(out, from, to, width, !negative);
      return kBuckets | kPacked;
    }
  }
  PutMasked(out, from, to);
  return kBuckets;
}

template <typename Number>
double AsDouble(uint64_t bits) {
  return static_cast<double>(std::bit_cast<Number>(bits));
}

template <typename H>
model::CounterResetHint HintOf(codec::CounterReset header) {
  return header == codec::CounterReset::kGauge ? model::CounterResetHint::kGauge
                                               : model::CounterResetHint::kUnknown;
}

}  // namespace

// ---- LayoutTable

model::LayoutPtr LayoutTable::Intern(const model::LayoutPtr& layout) {
  if (layout == nullptr) return model::EmptyLayout();
  std::vector<uint32_t> words = {static_cast<uint32_t>(layout->schema)};
  const auto add = [&words](uint64_t bits) {
    words.push_back(static_cast<uint32_t>(bits));
    words.push_back(static_cast<uint32_t>(bits >> 32));
  };
  add(ToBits(layout->zero_threshold));
  for (const auto* spans : {&layout->positive_spans, &layout->negative_spans}) {
    add(spans->size());
    for (const model::BucketSpan& span : *spans) {
      words.push_back(static_cast<uint32_t>(span.offset));
      words.push_back(span.length);
    }
  }
  for (const double bound : layout->custom_bounds) add(ToBits(bound));
  const uint64_t hash = HashWords(words);
  const auto [first, last] = layouts_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (*it->second == *layout) return it->second;
  }
  if (layouts_.size() >= sweep_at_) Sweep();
  // A copy of exact size: the caller's may have room to spare or be part of a larger object.
  auto own = std::make_shared<const model::HistogramLayout>(*layout);
  num_bytes_ += sizeof(model::HistogramLayout) + 64 +
                (own->positive_spans.size() + own->negative_spans.size()) * 8 +
                own->custom_bounds.size() * 8;
  layouts_.emplace(hash, own);
  return own;
}

void LayoutTable::Sweep() {
  std::erase_if(layouts_, [this](const auto& entry) {
    if (entry.second.use_count() > 1) return false;
    num_bytes_ -= sizeof(model::HistogramLayout) + 64 +
                  (entry.second->positive_spans.size() + entry.second->negative_spans.size()) * 8 +
                  entry.second->custom_bounds.size() * 8;
    return true;
  });
  sweep_at_ = layouts_.size() * 2 + 1024;
}

// ---- HistogramColumns

uint32_t HistogramColumns::New() {
  if (!free_.empty()) {
    const uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  return static_cast<uint32_t>(columns_.Grow());
}

void HistogramColumns::Clear(uint32_t id) {
  HistogramColumn& column = columns_[id];
  if (column.last != 0) arena_.Free(column.last, column.layout->num_buckets() * column.width);
  FreeChain(&arena_, column.rows, column.size);
  column = {};
}

void HistogramColumns::Free(uint32_t id) {
  Clear(id);
  free_.push_back(id);
}

std::unique_ptr<uint8_t[]> HistogramColumns::RowsOf(const HistogramColumn& column) const {
  auto rows = std::make_unique_for_overwrite<uint8_t[]>(column.size + kReadAhead);
  std::memset(rows.get() + column.size, 0, kReadAhead);
  ReadChain(arena_, column.rows, column.size, rows.get());
  return rows;
}

template <typename H>
void HistogramColumns::LoadLast(const HistogramColumn& column, H* out) const {
  using Bucket = typename decltype(H::buckets)::value_type;
  const size_t num_buckets = column.layout->num_buckets();
  out->buckets.assign(num_buckets, Bucket{0});
  if (column.last == 0) return;
  const uint8_t* at = arena_.Bytes(column.last);
  for (size_t i = 0; i < num_buckets; ++i, at += column.width) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, column.width);
    out->buckets[i] = std::bit_cast<Bucket>(bits);
  }
}

template <typename H>
void HistogramColumns::SetLast(HistogramColumn* column, const H& row) {
  uint64_t all = 0;
  for (const auto bucket : row.buckets) all |= ToBits(bucket);
  // A byte would soon be too narrow for most, and leave its block behind.
  const auto width = static_cast<uint8_t>(all < 0x10000 ? 2 : all <= 0xffffffff ? 4 : 8);
  const size_t num_buckets = row.buckets.size();
  if (column->last != 0 && column->width != width) {
    arena_.Free(column->last, num_buckets * column->width);
    column->last = 0;
  }
  column->width = width;
  if (num_buckets == 0) return;
  if (column->last == 0) column->last = arena_.Allocate(num_buckets * width);
  uint8_t* at = arena_.Bytes(column->last);
  for (size_t i = 0; i < num_buckets; ++i, at += width) {
    const uint64_t bits = ToBits(row.buckets[i]);
    std::memcpy(at, &bits, width);
  }
}

template <typename H>
void HistogramColumns::Newest(uint32_t id, H* out) const {
  const HistogramColumn& column = columns_[id];
  out->hint = HintOf<H>(column.header);
  out->layout = column.layout;
  out->count = std::bit_cast<decltype(out->count)>(column.count);
  out->zero_count = std::bit_cast<decltype(out->zero_count)>(column.zero_count);
  out->sum = std::bit_cast<double>(column.sum_bits);
  LoadLast(column, out);
}

template <typename H>
codec::Verdict HistogramColumns::Offer(uint32_t id, const H& sample) const {
  H last;
  Newest(id, &last);
  return codec::OfferAfter(last, sample);
}

// Whether the count of `row` is more than the one before by what zero count and buckets are more.
template <typename H>
bool GrewByBuckets(const HistogramColumn& column, const H& last, const H& row) {
  uint64_t grown = ToBits(row.zero_count) - column.zero_count;
  for (size_t i = 0; i < row.buckets.size(); ++i) {
    grown += ToBits(row.buckets[i]) - ToBits(last.buckets[i]);
  }
  return column.count + grown == ToBits(row.count);
}

// `row` is in the column's layout, or a stale marker.
template <typename H>
void HistogramColumns::PutRow(HistogramColumn* column, const H& row) {
  std::string& bytes = scratch_;
  bytes.assign(1, '\0');
  uint8_t flags = 0;
  if (model::IsStaleNan(row.sum)) {
    flags = kStale;
    column->sum_bits = model::kStaleNanBits;
  } else {
    H last;
    LoadLast(*column, &last);
    if (!std::is_same_v<H, model::Histogram> || !GrewByBuckets(*column, last, row)) {
      flags |= kCount;
      PutNumber<H>(&bytes, column->count, ToBits(row.count));
    }
    column->count = ToBits(row.count);
    if (ToBits(row.zero_count) != column->zero_count) {
      flags |= kZeroCount;
      PutNumber<H>(&bytes, column->zero_count, ToBits(row.zero_count));
      column->zero_count = ToBits(row.zero_count);
    }
    if (ToBits(row.sum) != column->sum_bits) {
      flags |= kSum;
      PutXorBytes(&bytes, column->sum_bits, ToBits(row.sum));
      column->sum_bits = ToBits(row.sum);
    }
    const uint8_t buckets = PutBuckets(&bytes, last, row);
    flags |= buckets;
    if (buckets != 0) SetLast(column, row);
  }
  bytes[0] = static_cast<char>(flags);

  column->rows = AppendToChain(&arena_, column->rows, column->size,
                               reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  column->size += static_cast<uint32_t>(bytes.size());
}

template <typename H>
void HistogramColumns::Start(uint32_t id, const H& sample, codec::CounterReset header) {
  HistogramColumn& column = columns_[id];
  const bool stale = model::IsStaleNan(sample.sum);
  column.layout = stale ? model::EmptyLayout() : layouts_.Intern(sample.layout);
  column.header = header;
  PutRow(&column, sample);
}

template <typename H>
void HistogramColumns::Widen(uint32_t id, size_t count, const model::LayoutPtr& layout) {
  std::vector<H> rows;
  Decode(id, count, &rows);
  const codec::CounterReset header = columns_[id].header;
  Clear(id);
  HistogramColumn& column = columns_[id];
  column.layout = layouts_.Intern(layout);
  column.header = header;
  H wide;
  for (const H& row : rows) {
    wide = row;
    wide.buckets.assign(column.layout->num_buckets(), 0);
    if (!model::IsStaleNan(row.sum)) {
      codec::SpreadBuckets(*row.layout, row.buckets, *column.layout, wide.buckets);
    }
    PutRow(&column, wide);
  }
}

template <typename H>
void HistogramColumns::Append(uint32_t id, const H& sample, codec::Fit fit, size_t count) {
  if (fit == codec::Fit::kWiden) {
    Widen<H>(id, count, codec::WidenedLayout(columns_[id].layout, sample.layout, sample.hint));
  }
  HistogramColumn& column = columns_[id];
  if (model::IsStaleNan(sample.sum) || sample.layout == column.layout ||
      *sample.layout == *column.layout) {
    PutRow(&column, sample);
    return;
  }
  H spread = sample;
  spread.buckets.assign(column.layout->num_buckets(), 0);
  codec::SpreadBuckets(*sample.layout, sample.buckets, *column.layout, spread.buckets);
  PutRow(&column, spread);
}

template <typename H>
void HistogramColumns::Decode(uint32_t id, size_t count, std::vector<H>* out) const {
  using Bucket = typename decltype(H::buckets)::value_type;
  const HistogramColumn& column = columns_[id];
  out->clear();
  if (count == 0) return;
  const auto rows = RowsOf(column);
  RowReader<H> reader(rows.get(), column.layout->num_buckets());
  for (size_t i = 0; i < count; ++i) {
    reader.Next();
    H& row = out->emplace_back();
    row.hint = HintOf<H>(column.header);
    row.layout = column.layout;
    row.count = std::bit_cast<decltype(row.count)>(reader.count());
    row.zero_count = std::bit_cast<decltype(row.zero_count)>(reader.zero_count());
    row.sum = reader.sum();
    row.buckets.reserve(reader.buckets().size());
    for (const uint64_t bits : reader.buckets()) row.buckets.push_back(std::bit_cast<Bucket>(bits));
  }
}

template <typename H>
void HistogramColumns::Decode(uint32_t id, size_t count, model::HistogramDetail detail,
                              codec::HistogramColumns* out) const {
  using Count = decltype(H::count);
  using Bucket = typename decltype(H::buckets)::value_type;
  const HistogramColumn& column = columns_[id];
  out->layout = column.layout;
  out->header = column.header;
  out->counts.clear();
  out->zero_counts.clear();
  out->sums.clear();
  out->hints.clear();
  out->buckets.clear();
  const bool gauge = column.header == codec::CounterReset::kGauge;
  const auto rows = RowsOf(column);
  RowReader<H> reader(rows.get(), column.layout->num_buckets());
  for (size_t i = 0; i < count; ++i) {
    reader.Next();
    const bool stale = reader.stale();
    out->counts.push_back(stale ? 0 : AsDouble<Count>(reader.count()));
    out->zero_counts.push_back(stale ? 0 : AsDouble<Count>(reader.zero_count()));
    out->sums.push_back(reader.sum());
    out->hints.push_back(gauge    ? model::CounterResetHint::kGauge
                         : i == 0 ? model::CounterResetHint::kUnknown
                                  : model::CounterResetHint::kNotReset);
    if (detail == model::HistogramDetail::kCountAndSum) continue;
    for (const uint64_t bits : reader.buckets()) {
      out->buckets.push_back(stale ? 0 : AsDouble<Bucket>(bits));
    }
  }
}

#define NX_INSTANTIATE(H)                                                             \
  template codec::Verdict HistogramColumns::Offer<H>(uint32_t, const H&) const;       \
  template void HistogramColumns::Start<H>(uint32_t, const H&, codec::CounterReset);  \
  template void HistogramColumns::Append<H>(uint32_t, const H&, codec::Fit, size_t);  \
  template void HistogramColumns::Newest<H>(uint32_t, H*) const;                      \
  template void HistogramColumns::Decode<H>(uint32_t, size_t, std::vector<H>*) const; \
  template void HistogramColumns::Decode<H>(uint32_t, size_t, model::HistogramDetail, \
                                            codec::HistogramColumns*) const
NX_INSTANTIATE(model::Histogram);
NX_INSTANTIATE(model::FloatHistogram);
#undef NX_INSTANTIATE

}  // namespace narthex::head
