// Histogram chunks to columns.
//
//   u16 count | u8 flags | layout | sample 0 | sample 1 | ...             encodings 2 and 3
//   2 bits header, 14 bits count | u8 start times | layout | ...          encodings 5 and 6
//
//   integer sample   time  count  zero count  sum  bucket ...
//     0              raw   raw    raw         f64  raw ...          varbits; buckets are
//     differences 1, 2, ...      dod   dod    dod         xor  dod ...          within the
//     histogram
//   float sample
//     0              raw   f64    f64         f64  f64 ...
//     1, 2, ...      dod   xor    xor         xor  xor ...
//
// A staleness marker (sum) has no buckets. Encodings 5 and 6 put a start time after some samples,
// which is read over.
//
// A row of integer buckets is parsed first and summed up after, so that the sums run in vector
// registers: with d the changes of changes, absolute counts are b += (v += prefix sum of d).
#include "codec/chunk/histogram_decoder.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "codec/chunk/histogram_layout.h"
#include "codec/chunk/varbit_row.h"
#include "narthex/base/status.h"
#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

using model::CounterResetHint;
using model::HistogramDetail;

constexpr size_t kHeaderBytes = 3;
// Staleness markers cost few bits but a full row each, so bytes alone do not bound the matrix.
constexpr uint64_t kMaxMatrixCells = 1 << 24;

struct Header {
  size_t num_samples;
  CounterReset reset;
  bool has_start_times;
  uint8_t start_times;  // Top bit: the first sample has one; rest: first sample of another one.
};

absl::Status Malformed(std::string_view reason, std::string_view chunk) {
  return base::DataLoss("histogram chunk: ", reason, ": bytes=", chunk.size());
}

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

// Reads one chunk. Count and Bucket are the encoding's; Columns may hold integers as floats.
template <typename Count, typename Bucket, typename Columns>
class ChunkDecoder {
 public:
  ChunkDecoder(std::string_view chunk, Header header, HistogramDetail detail, Columns* columns,
               HistogramState<Count, Bucket>* state)
      : chunk_(chunk),
        header_(header),
        with_buckets_(detail == HistogramDetail::kFull),
        columns_(columns),
        state_(*state),
        reader_(chunk.substr(kHeaderBytes)) {}

  absl::Status Decode() {
    columns_->header = header_.reset;
    if (header_.num_samples == 0) {
      columns_->layout = model::EmptyLayout();
      Resize(0);
      return absl::OkStatus();
    }
    NX_RETURN_IF_ERROR(DecodeLayout());
    for (size_t row = 0; row < header_.num_samples; ++row) {
      if (!(row == 0 ? ReadFirst() : ReadNext(row))) return Malformed("bad window", chunk_);
      if (header_.has_start_times) SkipStartTime(row);
      // Per row, so that made-up zero bits cannot keep a bad chunk going.
      if (reader_.overrun()) return Malformed("too short", chunk_);
      columns_->times_ms[row] = state_.time_ms;
      columns_->hints[row] = HintOf(row);
    }
    state_.num_bits_left = reader_.num_left();
    return absl::OkStatus();
  }

 private:
  static constexpr bool kIsInteger = std::is_integral_v<Bucket>;
  using OutCount = typename decltype(Columns::counts)::value_type;
  using OutBucket = typename decltype(Columns::buckets)::value_type;

  void Resize(size_t num_rows) {
    columns_->times_ms.resize(num_rows);
    columns_->counts.resize(num_rows);
    columns_->zero_counts.resize(num_rows);
    columns_->sums.resize(num_rows);
    columns_->hints.resize(num_rows);
    columns_->buckets.resize(with_buckets_ ? num_rows * width_ : 0);
  }

  absl::Status DecodeLayout() {
    model::HistogramLayout layout;
    if (!ReadLayout(reader_, &layout)) return Malformed("bad layout", chunk_);
    num_positive_ = layout.num_positive();
    width_ = layout.num_buckets();
    // A sample after the first is four bits or more.
    if (header_.num_samples - 1 > reader_.num_left() / 4) return Malformed("too short", chunk_);
    if (with_buckets_ && width_ * header_.num_samples > kMaxMatrixCells) {
      return Malformed("too many buckets", chunk_);
    }
    if (columns_->layout == nullptr || !(*columns_->layout == layout)) {
      columns_->layout = std::make_shared<const model::HistogramLayout>(std::move(layout));
    }
    Resize(header_.num_samples);
    state_.buckets.assign(width_, 0);
    if constexpr (kIsInteger) {
      state_.bucket_deltas.assign(width_, 0);
      row_.resize(width_ + kVarbitRowSlack);
      const uint64_t cells = std::max<uint64_t>(width_ * header_.num_samples, 1);
      if (reader_.num_left() / cells > kMaxBitsOfSmallVarbits) rows_ = VarbitRows::kLarge;
    } else {
      state_.bucket_windows.assign(width_, XorWindow{});
    }
    return absl::OkStatus();
  }

  bool ReadFirst() {
    state_.time_ms = ReadVarbitSigned(reader_);
    if constexpr (kIsInteger) {
      state_.count = ReadVarbitUnsigned(reader_);
      state_.zero_count = ReadVarbitUnsigned(reader_);
    } else {
      state_.count = std::bit_cast<double>(reader_.Read(64));
      state_.zero_count = std::bit_cast<double>(reader_.Read(64));
    }
    sum_ = std::bit_cast<double>(reader_.Read(64));
    if constexpr (kIsInteger) {
      ReadVarbits(reader_, VarbitRows::kLarge, width_, row_);
      PrefixSums();
      for (size_t i = 0; i < width_; ++i) state_.buckets[i] = row_[i];
    } else {
      for (double& bucket : state_.buckets) bucket = std::bit_cast<double>(reader_.Read(64));
    }
    StoreRow(0);
    return true;
  }

  // False: an impossible window.
  bool ReadNext(size_t row) {
    state_.time_delta_ms += static_cast<uint64_t>(ReadVarbitSigned(reader_));
    state_.time_ms =
        static_cast<int64_t>(static_cast<uint64_t>(state_.time_ms) + state_.time_delta_ms);
    if constexpr (kIsInteger) {
      state_.count_delta += static_cast<uint64_t>(ReadVarbitSigned(reader_));
      state_.count += state_.count_delta;
      state_.zero_count_delta += static_cast<uint64_t>(ReadVarbitSigned(reader_));
      state_.zero_count += state_.zero_count_delta;
    } else {
      if (!ReadValue(state_.count, state_.count_window)) return false;
      if (!ReadValue(state_.zero_count, state_.zero_count_window)) return false;
    }
    if (!ReadValue(sum_, state_.sum_window)) return false;
    if (!model::IsStaleNan(sum_) && !ReadBuckets()) return false;
    StoreRow(row);
    return true;
  }

  bool ReadBuckets() {
    if constexpr (kIsInteger) {
      if (!with_buckets_) {
        SkipVarbits(reader_, width_);
        return true;
      }
      ReadVarbits(reader_, rows_, width_, row_);
      PrefixSums();
      AddRow(std::span(row_).first(width_), state_.bucket_deltas, state_.buckets);
      return true;
    } else {
      for (size_t i = 0; i < width_; ++i) {
        if (!ReadValue(state_.buckets[i], state_.bucket_windows[i])) return false;
      }
      return true;
    }
  }

  bool ReadValue(double& value, XorWindow& window) {
    uint64_t delta = 0;
    if (!ReadXor(reader_, window, delta)) return false;
    value = std::bit_cast<double>(Bits(value) ^ delta);
    return true;
  }

  // Turns differences within the histogram into absolute ones, each side for itself.
  void PrefixSums() {
    const auto sum_up = [](std::span<int64_t> side) {
      uint64_t sum = 0;
      for (int64_t& number : side) {
        sum += static_cast<uint64_t>(number);
        number = static_cast<int64_t>(sum);
      }
    };
    sum_up(std::span(row_).first(num_positive_));
    sum_up(std::span(row_).subspan(num_positive_, width_ - num_positive_));
  }

  void StoreRow(size_t row) {
    const bool stale = model::IsStaleNan(sum_);
    columns_->counts[row] = stale ? 0 : static_cast<OutCount>(state_.count);
    columns_->zero_counts[row] = stale ? 0 : static_cast<OutCount>(state_.zero_count);
    columns_->sums[row] = sum_;
    if (!with_buckets_) return;
    OutBucket* const out = columns_->buckets.data() + row * width_;
    if (stale) {
      std::fill_n(out, width_, OutBucket{0});
    } else {
      for (size_t i = 0; i < width_; ++i) out[i] = static_cast<OutBucket>(state_.buckets[i]);
    }
  }

  CounterResetHint HintOf(size_t row) const {
    if (model::IsStaleNan(sum_)) return CounterResetHint::kUnknown;
    if (header_.reset == CounterReset::kGauge) return CounterResetHint::kGauge;
    // The chunk before this one may be gone or changed, so the first sample does not know.
    return row == 0 ? CounterResetHint::kUnknown : CounterResetHint::kNotReset;
  }

  void SkipStartTime(size_t row) {
    const size_t first_change = header_.start_times & 0x7f;
    if (row == 0) {
      if (header_.start_times & 0x80) {
        while (reader_.Read(8) >= 0x80 && !reader_.overrun()) continue;
      }
    } else if (first_change != 0 && row >= first_change) {
      ReadVarbitSigned(reader_);
    }
  }

  const std::string_view chunk_;
  const Header header_;
  const bool with_buckets_;
  Columns* const columns_;
  HistogramState<Count, Bucket>& state_;
  BitReader reader_;
  double sum_ = 0;
  size_t num_positive_ = 0;
  size_t width_ = 0;
  std::vector<int64_t> row_;  // Numbers of one row as parsed, and slack.
  VarbitRows rows_ = VarbitRows::kSmall;
};

absl::StatusOr<Header> ReadHeader(ChunkEncoding encoding, std::string_view chunk) {
  if (chunk.size() < kHeaderBytes) return Malformed("no header", chunk);
  const bool has_start_times =
      encoding == ChunkEncoding::kHistogramSt || encoding == ChunkEncoding::kFloatHistogramSt;
  const auto flags = static_cast<uint8_t>(chunk[has_start_times ? 0 : 2]);
  return Header{NumChunkSamples(encoding, chunk), static_cast<CounterReset>(flags & 0xC0),
                has_start_times, static_cast<uint8_t>(chunk[2])};
}

bool IsIntegerEncoding(ChunkEncoding encoding) {
  return encoding == ChunkEncoding::kHistogram || encoding == ChunkEncoding::kHistogramSt;
}

// Schemas above the highest that is worked with come from newer versions: slow and rare. All rows
// have one layout, so they are reduced to one layout.
template <typename Count, typename Bucket>
void ReduceSchema(BasicHistogramColumns<Count, Bucket>* columns) {
  model::BasicHistogram<Count, Bucket> row;
  const model::LayoutPtr fine = columns->layout;
  const size_t width = fine->num_buckets();
  const bool with_buckets = !columns->buckets.empty();
  std::vector<Bucket> coarse;
  for (size_t i = 0; i < columns->times_ms.size(); ++i) {
    row.layout = fine;
    row.buckets.assign(width, 0);
    if (with_buckets) std::copy_n(columns->buckets.data() + i * width, width, row.buckets.data());
    model::ReduceResolution(&row, model::kMaxExponentialSchema);
    if (i == 0) columns->layout = row.layout;
    if (!with_buckets) return;
    coarse.insert(coarse.end(), row.buckets.begin(), row.buckets.end());
  }
  columns->buckets = std::move(coarse);
}

template <typename Count, typename Bucket, typename Columns>
absl::Status DecodeInto(ChunkEncoding encoding, std::string_view chunk, HistogramDetail detail,
                        Columns* columns, HistogramState<Count, Bucket>* state) {
  NX_ASSIGN_OR_RETURN(const Header header, ReadHeader(encoding, chunk));
  return ChunkDecoder<Count, Bucket, Columns>(chunk, header, detail, columns, state).Decode();
}

template <typename Columns>
absl::Status Finish(absl::Status status, Columns* columns) {
  if (!status.ok()) {
    columns->times_ms.clear();
    columns->counts.clear();
    columns->zero_counts.clear();
    columns->sums.clear();
    columns->hints.clear();
    columns->buckets.clear();
  } else if (columns->layout->schema > model::kMaxExponentialSchema) {
    ReduceSchema(columns);
  }
  return status;
}

}  // namespace

absl::Status DecodeHistograms(std::string_view chunk,
                              BasicHistogramColumns<uint64_t, int64_t>* columns,
                              HistogramState<uint64_t, int64_t>* state) {
  return DecodeInto(ChunkEncoding::kHistogram, chunk, HistogramDetail::kFull, columns, state);
}
absl::Status DecodeHistograms(std::string_view chunk,
                              BasicHistogramColumns<double, double>* columns,
                              HistogramState<double, double>* state) {
  return DecodeInto(ChunkEncoding::kFloatHistogram, chunk, HistogramDetail::kFull, columns, state);
}

absl::Status DecodeHistogramChunk(ChunkEncoding encoding, std::string_view chunk,
                                  HistogramDetail detail, HistogramColumns* columns) {
  if (IsFloatEncoding(encoding)) {
    return Finish(
        base::InvalidArgument("not a histogram chunk: encoding=", static_cast<int>(encoding)),
        columns);
  }
  if (IsIntegerEncoding(encoding)) {
    HistogramState<uint64_t, int64_t> state;
    return Finish(DecodeInto(encoding, chunk, detail, columns, &state), columns);
  }
  HistogramState<double, double> state;
  return Finish(DecodeInto(encoding, chunk, detail, columns, &state), columns);
}

absl::Status DecodeHistogramChunk(ChunkEncoding encoding, std::string_view chunk,
                                  HistogramDetail detail, IntegerHistogramColumns* columns) {
  if (!IsIntegerEncoding(encoding)) {
    return Finish(base::InvalidArgument("not an integer histogram chunk: encoding=",
                                        static_cast<int>(encoding)),
                  columns);
  }
  HistogramState<uint64_t, int64_t> state;
  return Finish(DecodeInto(encoding, chunk, detail, columns, &state), columns);
}

absl::StatusOr<bool> DecodeHistogramRow(ChunkEncoding encoding, std::string_view chunk,
                                        ChunkRow which, HistogramColumns* scratch,
                                        model::FloatHistogram* out) {
  NX_RETURN_IF_ERROR(DecodeHistogramChunk(encoding, chunk, model::HistogramDetail::kFull, scratch));
  if (scratch->sums.empty()) return false;
  size_t row = 0;
  if (which == ChunkRow::kLast) {
    row = scratch->sums.size() - 1;
    while (row > 0 && model::IsStaleNan(scratch->sums[row])) --row;
  }
  if (model::IsStaleNan(scratch->sums[row])) return false;
  const size_t width = scratch->layout->num_buckets();
  const auto first = scratch->buckets.begin() + static_cast<std::ptrdiff_t>(row * width);
  out->hint = scratch->hints[row];
  out->layout = scratch->layout;
  out->count = scratch->counts[row];
  out->zero_count = scratch->zero_counts[row];
  out->sum = scratch->sums[row];
  out->buckets.assign(first, first + static_cast<std::ptrdiff_t>(width));
  return true;
}

}  // namespace narthex::codec
