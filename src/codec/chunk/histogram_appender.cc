// Writes histogram chunks; the bytes are drawn in histogram_decoder.cc.
//
// Integer buckets go to disk as differences within the histogram (bucket minus the bucket before
// it), of which the change of the change over the samples is written. All three differences are
// linear, so the state holds absolute counts and takes the difference within the histogram last.
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "codec/chunk/bit_stream.h"
#include "codec/chunk/histogram_decoder.h"
#include "codec/chunk/histogram_layout.h"
#include "narthex/base/bytes.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "narthex/model/stale.h"

namespace narthex::codec {
namespace {

constexpr size_t kFlagsByte = 2;
constexpr size_t kHeaderBytes = 3;

template <typename Window>
void WriteXorValue(BitWriter* writer, double value, double before, Window* window) {
  XorWindow state{window->leading, window->trailing};
  WriteXor(writer, std::bit_cast<uint64_t>(value) ^ std::bit_cast<uint64_t>(before), &state);
  *window = {state.leading, state.trailing};
}

uint64_t Difference(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
}

void WriteFirstBuckets(BitWriter* writer, std::span<const int64_t> buckets) {
  int64_t before = 0;
  for (const int64_t bucket : buckets) {
    WriteVarbitSigned(writer, static_cast<int64_t>(Difference(bucket, before)));
    before = bucket;
  }
}

// The writer goes in and out by copy, which keeps it in registers.
void WriteNextBuckets(BitWriter* writer_in_out, std::span<const int64_t> buckets,
                      std::span<const int64_t> last, std::span<uint64_t> deltas) {
  BitWriter writer = *writer_in_out;
  uint64_t before = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const uint64_t delta = Difference(buckets[i], last[i]);
    const uint64_t change = delta - deltas[i];
    WriteVarbitSigned(&writer, static_cast<int64_t>(change - before));
    before = change;
    deltas[i] = delta;
  }
  *writer_in_out = writer;
}

}  // namespace

template <typename H>
absl::StatusOr<BasicHistogramAppender<H>> BasicHistogramAppender<H>::Open(std::string* chunk) {
  BasicHistogramAppender appender(chunk);
  if (chunk->empty()) {
    chunk->assign(kHeaderBytes, '\0');
    return appender;
  }
  if (chunk->size() == kHeaderBytes && NumChunkSamples(ChunkEncoding::kHistogram, *chunk) == 0) {
    return appender;
  }
  BasicHistogramColumns<Count, Bucket> columns;
  HistogramState<Count, Bucket> state;
  NX_RETURN_IF_ERROR(DecodeHistograms(*chunk, &columns, &state));
  if (state.num_bits_left >= 8) {
    return base::DataLoss("histogram chunk: bits after the last sample: ", state.num_bits_left);
  }
  if (columns.times_ms.empty()) return base::DataLoss("histogram chunk: no samples");
  const auto to_window = [](XorWindow window) { return Window{window.leading, window.trailing}; };
  appender.num_samples_ = columns.times_ms.size();
  appender.num_free_bits_ = static_cast<uint8_t>(state.num_bits_left);
  appender.time_ms_ = state.time_ms;
  appender.time_delta_ms_ = state.time_delta_ms;
  appender.sum_window_ = to_window(state.sum_window);
  appender.count_delta_ = state.count_delta;
  appender.zero_count_delta_ = state.zero_count_delta;
  appender.bucket_deltas_ = std::move(state.bucket_deltas);
  appender.count_window_ = to_window(state.count_window);
  appender.zero_count_window_ = to_window(state.zero_count_window);
  for (const XorWindow window : state.bucket_windows) {
    appender.bucket_windows_.push_back(to_window(window));
  }
  H& last = appender.last_;
  if (columns.header == CounterReset::kGauge) last.hint = model::CounterResetHint::kGauge;
  last.layout = columns.layout;
  last.count = state.count;
  last.zero_count = state.zero_count;
  last.sum = columns.sums.back();
  last.buckets = std::move(state.buckets);
  return appender;
}

template <typename H>
Verdict BasicHistogramAppender<H>::Offer(const H& sample) const {
  if (num_samples_ == 0) return {Fit::kAppend, FirstHeader(sample.hint)};
  return OfferAfter(last_, sample);
}

template <typename H>
CounterReset BasicHistogramAppender<H>::header() const {
  return static_cast<CounterReset>(static_cast<uint8_t>((*chunk_)[kFlagsByte]) & 0xC0);
}

template <typename H>
void BasicHistogramAppender<H>::Append(int64_t time_ms, const H& sample,
                                       CounterReset first_header) {
  NX_CHECK_LT(num_samples_, kMaxChunkSamples);
  if (num_samples_ == 0) {
    (*chunk_)[kFlagsByte] = static_cast<char>(first_header);
    if (first_header == CounterReset::kGauge) last_.hint = model::CounterResetHint::kGauge;
    WriteFirst(time_ms, sample);
  } else {
    NX_DCHECK(Offer(sample).fit == Fit::kAppend);
    WriteNext(time_ms, sample);
  }
  ++num_samples_;
  base::StoreBigEndian(chunk_->data(), static_cast<uint16_t>(num_samples_));
  time_ms_ = time_ms;
  last_.sum = sample.sum;
}

template <typename H>
void BasicHistogramAppender<H>::WriteFirst(int64_t time_ms, const H& sample) {
  const bool stale = model::IsStaleNan(sample.sum);
  last_.layout = stale ? model::EmptyLayout() : sample.layout;
  last_.count = stale ? 0 : sample.count;
  last_.zero_count = stale ? 0 : sample.zero_count;
  last_.buckets.clear();
  if (!stale) last_.buckets = sample.buckets;
  const model::HistogramLayout& layout = *last_.layout;
  NX_CHECK_EQ(last_.buckets.size(), layout.num_buckets());

  BitWriter writer(chunk_, 0);
  WriteLayout(&writer, layout);
  WriteVarbitSigned(&writer, time_ms);
  const std::span<const Bucket> buckets(last_.buckets);
  if constexpr (std::is_integral_v<Bucket>) {
    WriteVarbitUnsigned(&writer, last_.count);
    WriteVarbitUnsigned(&writer, last_.zero_count);
    writer.Write(std::bit_cast<uint64_t>(sample.sum), 64);
    WriteFirstBuckets(&writer, buckets.first(layout.num_positive()));
    WriteFirstBuckets(&writer, buckets.subspan(layout.num_positive()));
    bucket_deltas_.assign(buckets.size(), 0);
  } else {
    writer.Write(std::bit_cast<uint64_t>(last_.count), 64);
    writer.Write(std::bit_cast<uint64_t>(last_.zero_count), 64);
    writer.Write(std::bit_cast<uint64_t>(sample.sum), 64);
    for (const double bucket : buckets) writer.Write(std::bit_cast<uint64_t>(bucket), 64);
    bucket_windows_.assign(buckets.size(), Window{});
  }
  num_free_bits_ = writer.Finish();
}

template <typename H>
void BasicHistogramAppender<H>::WriteNext(int64_t time_ms, const H& sample) {
  const bool stale = model::IsStaleNan(sample.sum);
  const std::span<const Bucket> buckets = stale ? std::span<const Bucket>{} : InChunkLayout(sample);
  const Count count = stale ? 0 : sample.count;
  const Count zero_count = stale ? 0 : sample.zero_count;
  const uint64_t time_delta_ms = Difference(time_ms, time_ms_);

  BitWriter writer(chunk_, num_free_bits_);
  WriteVarbitSigned(&writer, static_cast<int64_t>(time_delta_ms - time_delta_ms_));
  time_delta_ms_ = time_delta_ms;
  if constexpr (std::is_integral_v<Bucket>) {
    const uint64_t count_delta = count - last_.count;
    const uint64_t zero_count_delta = zero_count - last_.zero_count;
    // A stale marker writes no change; only markers may follow it.
    WriteVarbitSigned(&writer, stale ? 0 : static_cast<int64_t>(count_delta - count_delta_));
    WriteVarbitSigned(&writer,
                      stale ? 0 : static_cast<int64_t>(zero_count_delta - zero_count_delta_));
    count_delta_ = count_delta;
    zero_count_delta_ = zero_count_delta;
    WriteXorValue(&writer, sample.sum, last_.sum, &sum_window_);
    if (!stale) {
      const size_t num_positive = last_.layout->num_positive();
      const std::span<const int64_t> last(last_.buckets);
      const std::span<uint64_t> deltas(bucket_deltas_);
      WriteNextBuckets(&writer, buckets.first(num_positive), last.first(num_positive),
                       deltas.first(num_positive));
      WriteNextBuckets(&writer, buckets.subspan(num_positive), last.subspan(num_positive),
                       deltas.subspan(num_positive));
    }
  } else {
    WriteXorValue(&writer, count, last_.count, &count_window_);
    WriteXorValue(&writer, zero_count, last_.zero_count, &zero_count_window_);
    WriteXorValue(&writer, sample.sum, last_.sum, &sum_window_);
    for (size_t i = 0; i < buckets.size(); ++i) {
      WriteXorValue(&writer, buckets[i], last_.buckets[i], &bucket_windows_[i]);
    }
  }
  num_free_bits_ = writer.Finish();
  last_.count = count;
  last_.zero_count = zero_count;
  if (!stale) last_.buckets.assign(buckets.begin(), buckets.end());
}

template <typename H>
auto BasicHistogramAppender<H>::InChunkLayout(const H& sample) -> std::span<const Bucket> {
  if (sample.layout == last_.layout || *sample.layout == *last_.layout) {
    NX_CHECK_EQ(sample.buckets.size(), last_.buckets.size());
    return sample.buckets;
  }
  spread_.resize(last_.buckets.size());
  SpreadBuckets(*sample.layout, sample.buckets, *last_.layout, std::span(spread_));
  return spread_;
}

template <typename H>
void BasicHistogramAppender<H>::Widen(const H& sample) {
  NX_DCHECK(Offer(sample).fit == Fit::kWiden);
  const CounterReset kept_header = header();
  const model::LayoutPtr wide = WidenedLayout(last_.layout, sample.layout, sample.hint);
  BasicHistogramColumns<Count, Bucket> columns;
  HistogramState<Count, Bucket> state;
  const absl::Status status = DecodeHistograms(*chunk_, &columns, &state);
  NX_CHECK(status.ok());  // This appender or Open() vouches for the bytes.

  chunk_->assign(kHeaderBytes, '\0');
  BasicHistogramAppender again(chunk_);
  H row;
  row.hint = last_.hint;
  row.layout = wide;
  const size_t width = columns.layout->num_buckets();
  for (size_t i = 0; i < columns.times_ms.size(); ++i) {
    row.count = columns.counts[i];
    row.zero_count = columns.zero_counts[i];
    row.sum = columns.sums[i];
    row.buckets.resize(wide->num_buckets());
    SpreadBuckets(*columns.layout,
                  std::span<const Bucket>(columns.buckets).subspan(i * width, width), *wide,
                  std::span(row.buckets));
    again.Append(columns.times_ms[i], row, kept_header);
  }
  *this = std::move(again);
}

template class BasicHistogramAppender<model::Histogram>;
template class BasicHistogramAppender<model::FloatHistogram>;

}  // namespace narthex::codec
