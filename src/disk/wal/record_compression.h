// Records compressed as a whole, before they are cut into fragments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "narthex/disk/wal.h"

namespace narthex::disk {

// Thread-compatible; holds the compressor's working memory.
class RecordCompressor {
 public:
  explicit RecordCompressor(WalCompression compression);
  ~RecordCompressor();

  // The record as it goes to disk, and the bits for its fragments' types: the record itself if
  // compression does not shrink it. Valid until the next call.
  struct Result {
    std::string_view bytes;
    uint8_t type_bits;
  };
  Result Compress(std::string_view record);

 private:
  struct Zstd;
  const WalCompression compression_;
  std::unique_ptr<Zstd> zstd_;
  std::string buffer_;
};

// Replaces `*out` with the record whose fragments had type `type`. False: malformed, or longer than
// kMaxWalRecordBytes.
[[nodiscard]] bool DecompressRecord(uint8_t type, std::string_view bytes, std::string* out);

}  // namespace narthex::disk
