#include "disk/wal/record_compression.h"

#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "disk/wal/format.h"

namespace narthex::disk {
namespace {

// A snappy copy of 64 bytes takes 3, so no input grows more than this.
constexpr uint64_t kMaxSnappyGrowth = 32;

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

bool DecompressSnappy(std::string_view bytes, std::string* out) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(bytes.data(), bytes.size(), &size)) return false;
  // The claim is checked before memory is taken for it.
  if (size > kMaxWalRecordBytes || size > bytes.size() * kMaxSnappyGrowth) return false;
  out->resize(size);
  return snappy::RawUncompress(bytes.data(), bytes.size(), out->data());
}

// Piece by piece: a frame need not say its size, and what it says is not to be trusted.
bool DecompressZstd(std::string_view bytes, std::string* out) {
  static thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  size_t filled = 0;
  out->resize(std::max<size_t>(out->capacity(), 1 << 16));
  while (true) {
    if (filled == out->size()) {
      if (filled >= kMaxWalRecordBytes) return false;
      out->resize(filled * 2);
    }
    ZSTD_outBuffer output{out->data(), out->size(), filled};
    const size_t left = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(left)) return false;
    const bool stuck = output.pos == filled && input.pos == input.size;
    filled = output.pos;
    if (left == 0) break;
    if (stuck) return false;  // The frame goes on but the input does not.
  }
  out->resize(filled);
  return input.pos == input.size;
}

}  // namespace

struct RecordCompressor::Zstd {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ~Zstd() { ZSTD_freeCCtx(context); }
};

RecordCompressor::RecordCompressor(WalCompression compression) : compression_(compression) {
  if (compression == WalCompression::kZstd) zstd_ = std::make_unique<Zstd>();
}
RecordCompressor::~RecordCompressor() = default;

RecordCompressor::Result RecordCompressor::Compress(std::string_view record) {
  size_t size = record.size();
  uint8_t type_bits = 0;
  switch (compression_) {
    case WalCompression::kNone:
      break;
    case WalCompression::kSnappy:
      buffer_.resize(std::max(buffer_.size(), snappy::MaxCompressedLength(record.size())));
      snappy::RawCompress(record.data(), record.size(), buffer_.data(), &size);
      type_bits = kSnappyBit;
      break;
    case WalCompression::kZstd: {
      buffer_.resize(std::max(buffer_.size(), ZSTD_compressBound(record.size())));
      const size_t result = ZSTD_compressCCtx(zstd_->context, buffer_.data(), buffer_.size(),
                                              record.data(), record.size(), ZSTD_CLEVEL_DEFAULT);
      if (!ZSTD_isError(result)) size = result;
      type_bits = kZstdBit;
      break;
    }
  }
  if (size >= record.size()) return {record, 0};
  return {std::string_view(buffer_).substr(0, size), type_bits};
}

bool DecompressRecord(uint8_t type, std::string_view bytes, std::string* out) {
  if (type & kSnappyBit) return DecompressSnappy(bytes, out);
  if (type & kZstdBit) return DecompressZstd(bytes, out);
  out->assign(bytes);
  return true;
}

}  // namespace narthex::disk
