#include "head/chain.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "narthex/base/check.h"

namespace narthex::head {
namespace {

constexpr size_t kLinkBytes = sizeof(Handle);

// One block's place in the chain: it holds the bytes [begin, begin + capacity).
struct Place {
  size_t begin = 0;
  size_t capacity = 0;
  size_t link = 0;  // Bytes before the content: kLinkBytes, or 0 in the first block.

  size_t end() const { return begin + capacity; }
  size_t allocated() const { return link + capacity; }
};

// Of the block after `size` bytes: multiples of 8, and few different ones, so that blocks which one
// column gives back fit most others.
constexpr size_t BlockBytes(size_t size) {
  if (size == 0) return 8;
  if (size < 400) return 32;
  return size < 4096 ? 64 : 512;
}

// Chains up to this long look their blocks up; the blocks after it all have one size.
constexpr size_t kMaxTabled = 4096;

constexpr size_t NumTabled() {
  size_t blocks = 0;
  for (size_t begin = 0; begin < kMaxTabled; ++blocks) {
    begin += BlockBytes(begin) - (begin == 0 ? 0 : kLinkBytes);
  }
  return blocks;
}

struct Table {
  std::array<uint16_t, NumTabled() + 1> begins{};
  // Block of each group of four bytes: blocks begin at multiples of four.
  std::array<uint8_t, kMaxTabled / 4 + 128> block_of{};
};

constexpr Table MakeTable() {
  Table table;
  size_t begin = 0;
  for (size_t block = 0; block < NumTabled(); ++block) {
    const size_t end = begin + BlockBytes(begin) - (block == 0 ? 0 : kLinkBytes);
    for (size_t at = begin; at < end; at += 4) table.block_of[at / 4] = static_cast<uint8_t>(block);
    begin = end;
    table.begins[block + 1] = static_cast<uint16_t>(end);
  }
  return table;
}

constexpr Table kTable = MakeTable();
constexpr size_t kTabledEnd = kTable.begins.back();
static_assert(NumTabled() < 256 && kTabledEnd <= kTable.block_of.size() * 4);
constexpr size_t kLargeCapacity = BlockBytes(kMaxTabled) - kLinkBytes;

// The block that byte number `index` is in.
Place PlaceOf(size_t index) {
  if (index < kTabledEnd) [[likely]] {
    const size_t block = kTable.block_of[index / 4];
    const size_t begin = kTable.begins[block];
    return {begin, kTable.begins[block + 1] - begin, block == 0 ? 0 : kLinkBytes};
  }
  const size_t begin = kTabledEnd + (index - kTabledEnd) / kLargeCapacity * kLargeCapacity;
  return {begin, kLargeCapacity, kLinkBytes};
}

// Visits the blocks from the newest to the oldest: visit(handle, place). The link to a block is
// read before the block is visited.
template <typename Visit>
void ForEachBlock(const Arena& arena, Handle newest, size_t size, Visit visit) {
  while (size > 0) {
    const Place place = PlaceOf(size - 1);
    Handle before = 0;
    if (place.link != 0) std::memcpy(&before, arena.Bytes(newest), kLinkBytes);
    visit(newest, place);
    newest = before;
    size = place.begin;
  }
}

}  // namespace

Handle AppendToChain(Arena* arena, Handle newest, size_t size, const uint8_t* bytes, size_t count) {
  Place place = size == 0 ? Place{} : PlaceOf(size - 1);
  while (count > 0) {
    if (size == place.end()) {
      place = PlaceOf(size);
      const Handle added = arena->Allocate(place.allocated());
      if (place.link != 0) std::memcpy(arena->Bytes(added), &newest, kLinkBytes);
      newest = added;
    }
    const size_t part = std::min(count, place.end() - size);
    std::memcpy(arena->Bytes(newest) + place.link + (size - place.begin), bytes, part);
    bytes += part;
    size += part;
    count -= part;
  }
  return newest;
}

uint8_t* LastOfChain(Arena* arena, Handle newest, size_t size) {
  NX_DCHECK(size > 0);
  const Place place = PlaceOf(size - 1);
  return arena->Bytes(newest) + place.link + (size - 1 - place.begin);
}

void ReadChain(const Arena& arena, Handle newest, size_t size, uint8_t* out) {
  ForEachBlock(arena, newest, size, [&](Handle block, const Place& place) {
    std::memcpy(out + place.begin, arena.Bytes(block) + place.link,
                std::min(size, place.end()) - place.begin);
  });
}

void FreeChain(Arena* arena, Handle newest, size_t size) {
  ForEachBlock(*arena, newest, size,
               [&](Handle block, const Place& place) { arena->Free(block, place.allocated()); });
}

}  // namespace narthex::head
