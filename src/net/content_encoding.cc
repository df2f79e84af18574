#include "net/content_encoding.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "narthex/base/check.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "net/headers.h"

namespace narthex::net {
namespace {

// zlib's own default is slower and hardly smaller on JSON.
constexpr int kLevel = 4;
constexpr int kMaxWindowBits = 15;
constexpr int kGzipWindowBits = kMaxWindowBits + 16;
constexpr int kMemoryLevel = 8;
constexpr size_t kOutputBytes = 16u << 10;

// False if the entry "name;q=0" refuses what it names.
bool IsAccepted(std::string_view parameters) {
  const size_t equals = parameters.find('=');
  if (equals == std::string_view::npos) return true;
  return base::ParseFloat(Trim(parameters.substr(equals + 1))) != 0.0;
}

}  // namespace

ContentEncoding PickEncoding(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::string_view entry = accept_encoding.substr(0, accept_encoding.find(','));
    accept_encoding.remove_prefix(std::min(entry.size() + 1, accept_encoding.size()));
    const std::string_view name = entry.substr(0, entry.find(';'));
    if (!IsAccepted(entry.substr(name.size()))) continue;
    if (EqualsIgnoringCase(Trim(name), "gzip")) return ContentEncoding::kGzip;
    if (EqualsIgnoringCase(Trim(name), "deflate")) return ContentEncoding::kDeflate;
  }
  return ContentEncoding::kIdentity;
}

std::string_view NameOf(ContentEncoding encoding) {
  switch (encoding) {
    case ContentEncoding::kGzip:
      return "gzip";
    case ContentEncoding::kDeflate:
      return "deflate";
    case ContentEncoding::kIdentity:
      return "";
  }
  return "";
}

struct Compressor::Stream {
  z_stream zlib{};

  // Takes all of `piece`; `flush` as zlib's.
  void Run(std::string_view piece, int flush, std::string* out) {
    // zlib counts in 32 bits and reads through a pointer to mutable bytes.
    constexpr size_t kMaxPiece = std::numeric_limits<uInt>::max() / 2;
    do {
      const std::string_view part = piece.substr(0, kMaxPiece);
      piece.remove_prefix(part.size());
      zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      zlib.avail_in = static_cast<uInt>(part.size());
      RunPart(piece.empty() ? flush : Z_NO_FLUSH, out);
    } while (!piece.empty());
  }

 private:
  void RunPart(int flush, std::string* out) {
    char buffer[kOutputBytes];
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(buffer);
      zlib.avail_out = sizeof buffer;
      const int result = deflate(&zlib, flush);
      NX_CHECK(result != Z_STREAM_ERROR);
      out->append(buffer, sizeof buffer - zlib.avail_out);
    } while (zlib.avail_out == 0);
  }
};

Compressor::Compressor(ContentEncoding encoding) : stream_(std::make_unique<Stream>()) {
  NX_CHECK(encoding != ContentEncoding::kIdentity);
  const int result =
      deflateInit2(&stream_->zlib, kLevel, Z_DEFLATED,
                   encoding == ContentEncoding::kGzip ? kGzipWindowBits : kMaxWindowBits,
                   kMemoryLevel, Z_DEFAULT_STRATEGY);
  NX_CHECK_EQ(result, Z_OK);  // Fails only without memory.
}

Compressor::~Compressor() { deflateEnd(&stream_->zlib); }

void Compressor::Append(std::string_view piece, std::string* out) {
  if (!piece.empty()) stream_->Run(piece, Z_NO_FLUSH, out);
}
void Compressor::Finish(std::string* out) { stream_->Run("", Z_FINISH, out); }

struct GzipDecoder::Stream {
  z_stream zlib{};
  bool is_empty = true;          // No byte came yet.
  bool is_within_member = true;  // The first member has to come.

  absl::Status Failure() const {
    const std::string_view reason = zlib.msg == nullptr ? "" : zlib.msg;
    if (reason == "incorrect data check" || reason == "incorrect length check") {
      return base::Unavailable("gzip: invalid checksum");
    }
    // zlib counts what it read of this member's header.
    constexpr uLong kMinHeaderBytes = 10;
    if (zlib.total_out == 0 && zlib.total_in <= kMinHeaderBytes) {
      return base::Unavailable("gzip: invalid header");
    }
    return base::Unavailable("flate: corrupt input: ", reason);
  }
};

GzipDecoder::GzipDecoder() : stream_(std::make_unique<Stream>()) {
  const int result = inflateInit2(&stream_->zlib, kGzipWindowBits);
  NX_CHECK_EQ(result, Z_OK);  // Fails only without memory.
}

GzipDecoder::~GzipDecoder() { inflateEnd(&stream_->zlib); }

absl::Status GzipDecoder::Append(std::string_view piece, uint64_t max_bytes, std::string* out) {
  NX_CHECK_LE(piece.size(), std::numeric_limits<uInt>::max());
  z_stream& zlib = stream_->zlib;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  zlib.avail_in = static_cast<uInt>(piece.size());
  char buffer[kOutputBytes];
  do {
    if (zlib.avail_in > 0) {
      if (!stream_->is_within_member) inflateReset(&zlib);
      stream_->is_within_member = true;
      stream_->is_empty = false;
    }
    zlib.next_out = reinterpret_cast<Bytef*>(buffer);
    zlib.avail_out = sizeof buffer;
    const int result = inflate(&zlib, Z_NO_FLUSH);
    const size_t num_decoded = sizeof buffer - zlib.avail_out;
    if (max_bytes > 0 && out->size() + num_decoded >= max_bytes) {
      return base::ResourceExhausted("decoded body reaches ", max_bytes, " bytes");
    }
    out->append(buffer, num_decoded);
    if (result == Z_STREAM_END) {
      stream_->is_within_member = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return stream_->Failure();
    }
  } while (zlib.avail_in > 0 || (stream_->is_within_member && zlib.avail_out == 0));
  return absl::OkStatus();
}

absl::Status GzipDecoder::Finish() const {
  if (stream_->is_empty) return base::Unavailable("EOF");
  if (stream_->is_within_member) return base::Unavailable("unexpected EOF");
  return absl::OkStatus();
}

}  // namespace narthex::net
