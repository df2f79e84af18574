// Small blocks of bytes named by 32-bit handles. Blocks come in size classes at most an eighth
// apart (8-byte steps up to 128), carved from pages of one class; freed blocks are reused within
// their class; pages of which nothing is used go back with Trim(). Blocks never move. One writer at
// a time allocates and frees (the caller locks); readers may follow handles they learned of through
// some synchronisation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "head/paged_array.h"

namespace narthex::head {

// Names a block of one Arena; 0 is no block.
using Handle = uint32_t;

class Arena {
 public:
  static constexpr size_t kUnitBytes = 8;
  static constexpr size_t kPageBytes = 16 * 1024;

  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // The bytes a block for `size` bytes really has: a multiple of 8. size > 0.
  static size_t RoundUp(size_t size);

  // A block of RoundUp(size) bytes with unspecified content, aligned to 8.
  Handle Allocate(size_t size);
  // `size` must round up to what the block was allocated with.
  void Free(Handle handle, size_t size);

  // Gives back the pages that hold no block. Costs a look at every free block.
  void Trim();

  uint8_t* Bytes(Handle handle) {
    return pages_[handle / kPageUnits] + (handle % kPageUnits) * kUnitBytes;
  }
  const uint8_t* Bytes(Handle handle) const {
    return pages_[handle / kPageUnits] + (handle % kPageUnits) * kUnitBytes;
  }

  // All memory held, and the part of it inside live blocks.
  uint64_t num_bytes() const {
    return pages_bytes_ + pages_.num_bytes() + owned_.capacity() * sizeof(owned_[0]) +
           free_pages_.capacity() * sizeof(uint32_t);
  }
  uint64_t live_bytes() const { return live_bytes_; }

 private:
  static constexpr size_t kPageUnits = kPageBytes / kUnitBytes;
  struct SizeClass {
    uint32_t bytes = 0;  // Of a block; 0: there is no page yet.
    Handle free = 0;     // First free block; each holds the handle of the next.
    Handle next = 0;     // Next never-used block of the newest page ...
    uint32_t left = 0;   // ... of which so many are left.
  };

  // Adds memory for `bytes` (whole pages); its first unit.
  Handle AddPages(size_t bytes);
  void FreePages(size_t first, size_t num_pages);
  void TrimClass(SizeClass* size_class);
  Handle NextFree(Handle handle) const;

  PagedArray<uint8_t*, 512> pages_;  // A block larger than a page takes several entries in a row.
  std::vector<std::unique_ptr<uint8_t[]>> owned_;  // By first page; null for the pages after it.
  std::vector<uint32_t> free_pages_;               // Numbers without memory.
  std::vector<SizeClass> classes_;
  std::vector<std::pair<size_t, Handle>> free_large_;
  uint64_t pages_bytes_ = 0;
  uint64_t live_bytes_ = 0;
};

}  // namespace narthex::head
