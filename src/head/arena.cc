#include "head/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace narthex::head {
namespace {

// Classes 0..15 are 8, 16 .. 128 bytes; then eight per doubling up to kMaxSmall; larger blocks are
// whole pages.
constexpr size_t kMaxSmall = 4096;
constexpr size_t kNumClasses = 16 + 8 * 5;

size_t ClassOf(size_t size) {
  if (size <= 128) return (size + 7) / 8 - 1;
  const size_t last = size - 1;
  const auto log = static_cast<size_t>(std::bit_width(last)) - 1;
  return 16 + (log - 7) * 8 + ((last - (size_t{1} << log)) >> (log - 3));
}

}  // namespace

Arena::Arena() : classes_(kNumClasses) {
  AddPages(kUnitBytes);  // Page 0 is given up, so that no block has handle 0.
}
Arena::~Arena() = default;

size_t Arena::RoundUp(size_t size) {
  if (size <= 128) return (size + 7) / 8 * 8;
  if (size > kMaxSmall) return (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto log = static_cast<size_t>(std::bit_width(size - 1)) - 1;
  const size_t step = size_t{1} << (log - 3);
  return (size + step - 1) / step * step;
}

Handle Arena::AddPages(size_t bytes) {
  const size_t num_pages = (bytes + kPageBytes - 1) / kPageBytes;
  size_t first = 0;
  if (num_pages == 1 && !free_pages_.empty()) {
    first = free_pages_.back();
    free_pages_.pop_back();
  } else {
    first = pages_.Grow(num_pages);
    owned_.resize(pages_.size());
  }
  NX_CHECK_LT((first + num_pages) * kPageUnits, size_t{1} << 32);
  // Page 0 stays small: nobody uses it.
  const size_t allocated = first == 0 ? kUnitBytes : num_pages * kPageBytes;
  owned_[first] = std::make_unique_for_overwrite<uint8_t[]>(allocated);
  for (size_t i = 0; i < num_pages; ++i) pages_[first + i] = owned_[first].get() + i * kPageBytes;
  pages_bytes_ += allocated;
  return static_cast<Handle>(first * kPageUnits);
}

void Arena::FreePages(size_t first, size_t num_pages) {
  owned_[first].reset();
  pages_bytes_ -= num_pages * kPageBytes;
  for (size_t i = 0; i < num_pages; ++i) {
    pages_[first + i] = nullptr;
    free_pages_.push_back(static_cast<uint32_t>(first + i));
  }
}

Handle Arena::NextFree(Handle handle) const {
  Handle next = 0;
  std::memcpy(&next, Bytes(handle), sizeof next);
  return next;
}

void Arena::TrimClass(SizeClass* size_class) {
  const size_t blocks_per_page = kPageBytes / size_class->bytes;
  std::unordered_map<size_t, size_t> num_free;  // By page.
  for (Handle handle = size_class->free; handle != 0; handle = NextFree(handle)) {
    ++num_free[handle / kPageUnits];
  }
  // The free list anew, without the blocks of pages that go.
  Handle kept = 0;
  for (Handle handle = size_class->free; handle != 0;) {
    const Handle next = NextFree(handle);
    if (num_free[handle / kPageUnits] < blocks_per_page) {
      std::memcpy(Bytes(handle), &kept, sizeof kept);
      kept = handle;
    }
    handle = next;
  }
  size_class->free = kept;
  for (const auto& [page, count] : num_free) {
    if (count == blocks_per_page) FreePages(page, 1);
  }
}

void Arena::Trim() {
  for (SizeClass& size_class : classes_) {
    if (size_class.free != 0) TrimClass(&size_class);
  }
  for (const auto& [bytes, handle] : free_large_) {
    FreePages(handle / kPageUnits, bytes / kPageBytes);
  }
  free_large_.clear();
}

Handle Arena::Allocate(size_t size) {
  const size_t rounded = RoundUp(size);
  live_bytes_ += rounded;
  if (rounded > kMaxSmall) {
    const auto found = std::find_if(free_large_.begin(), free_large_.end(),
                                    [&](const auto& entry) { return entry.first == rounded; });
    if (found != free_large_.end()) {
      const Handle handle = found->second;
      *found = free_large_.back();
      free_large_.pop_back();
      return handle;
    }
    return AddPages(rounded);
  }
  SizeClass& size_class = classes_[ClassOf(size)];
  if (size_class.free != 0) {
    const Handle handle = size_class.free;
    size_class.free = NextFree(handle);
    return handle;
  }
  if (size_class.left == 0) {
    size_class.bytes = static_cast<uint32_t>(rounded);
    size_class.next = AddPages(kPageBytes);
    size_class.left = static_cast<uint32_t>(kPageBytes / rounded);
  }
  const Handle handle = size_class.next;
  size_class.next += static_cast<Handle>(rounded / kUnitBytes);
  --size_class.left;
  return handle;
}

void Arena::Free(Handle handle, size_t size) {
  const size_t rounded = RoundUp(size);
  live_bytes_ -= rounded;
  if (rounded > kMaxSmall) {
    free_large_.emplace_back(rounded, handle);
    return;
  }
  SizeClass& size_class = classes_[ClassOf(size)];
  std::memcpy(Bytes(handle), &size_class.free, sizeof(Handle));
  size_class.free = handle;
}

}  // namespace narthex::head
