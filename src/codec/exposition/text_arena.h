// Owns the texts of one batch that are not views into the body: unescaped names, series keys,
// printed label values. Reset() forgets them all but keeps the memory. Thread-compatible.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace narthex::codec {

class TextArena {
 public:
  // Space for `size` bytes, valid until Reset().
  char* Allocate(size_t size);
  // A copy of `text`, valid until Reset().
  std::string_view Copy(std::string_view text);
  void Reset();
  // Bytes handed out since Reset().
  size_t num_bytes() const { return num_bytes_; }

 private:
  static constexpr size_t kBlockBytes = 64 << 10;

  std::vector<std::unique_ptr<char[]>> blocks_;  // Of kBlockBytes each; reused.
  std::vector<std::unique_ptr<char[]>> large_;   // Texts that fill a good part of a block.
  size_t next_block_ = 0;
  char* free_ = nullptr;
  size_t num_free_ = 0;
  size_t num_bytes_ = 0;
};

}  // namespace narthex::codec
