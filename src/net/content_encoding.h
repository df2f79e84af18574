// Compressed bodies as streams: gzip and deflate (zlib format) are written, gzip is read.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace narthex::net {

enum class ContentEncoding : uint8_t { kIdentity, kGzip, kDeflate };

// The first of gzip and deflate that an Accept-Encoding header lists, else kIdentity. An entry with
// a weight ("gzip;q=0.5") counts unless the weight is 0.
ContentEncoding PickEncoding(std::string_view accept_encoding);

// "gzip", "deflate", "" for kIdentity.
std::string_view NameOf(ContentEncoding encoding);

class Compressor {
 public:
  // REQUIRES: encoding != kIdentity.
  explicit Compressor(ContentEncoding encoding);
  ~Compressor();

  // Appends to `*out` what is ready of `piece` compressed; may be nothing.
  void Append(std::string_view piece, std::string* out);
  // Ends the stream. Nothing may follow.
  void Finish(std::string* out);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

// Reads gzip: one or more members one after the other, and nothing behind them. What it cannot
// read it says in Go's words. After an error nothing may follow.
class GzipDecoder {
 public:
  GzipDecoder();
  ~GzipDecoder();

  // Appends to `*out` what `piece` holds. kUnavailable: no gzip, or damaged. kResourceExhausted:
  // `*out` would have come to `max_bytes` or more (0: no limit).
  absl::Status Append(std::string_view piece, uint64_t max_bytes, std::string* out);
  // kUnavailable: the stream is not complete.
  absl::Status Finish() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace narthex::net
