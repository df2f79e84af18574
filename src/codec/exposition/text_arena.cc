#include "codec/exposition/text_arena.h"

#include <cstring>

namespace narthex::codec {

char* TextArena::Allocate(size_t size) {
  num_bytes_ += size;
  if (size > kBlockBytes / 4) {
    large_.push_back(std::make_unique<char[]>(size));
    return large_.back().get();
  }
  if (size > num_free_) {
    if (next_block_ == blocks_.size()) blocks_.push_back(std::make_unique<char[]>(kBlockBytes));
    free_ = blocks_[next_block_++].get();
    num_free_ = kBlockBytes;
  }
  char* const space = free_;
  free_ += size;
  num_free_ -= size;
  return space;
}

std::string_view TextArena::Copy(std::string_view text) {
  if (text.empty()) return {};
  char* const space = Allocate(text.size());
  std::memcpy(space, text.data(), text.size());
  return {space, text.size()};
}

void TextArena::Reset() {
  large_.clear();
  next_block_ = 0;
  free_ = nullptr;
  num_free_ = 0;
  num_bytes_ = 0;
}

}  // namespace narthex::codec
