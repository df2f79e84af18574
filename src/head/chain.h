// Bytes that grow at their end, kept in a chain of small blocks of an Arena. What was written never
// moves: growth takes one more block, so that a herd of columns growing in step leaves no smaller
// blocks behind that nobody wants. The sizes of the blocks follow from their order alone (8 bytes,
// then 32 each, then 64, then 512), which keeps the unused end and the links about equally cheap:
//
//   first block: bytes         later ones: u32 handle of the block before | bytes
//
// The owner keeps the handle of the newest block (0: none) and the number of bytes; both tell all
// else. Free functions; whoever changes a chain has it alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "head/arena.h"

namespace narthex::head {

// Appends `count` bytes to the `size` there are; the handle of the newest block from now on.
Handle AppendToChain(Arena* arena, Handle newest, size_t size, const uint8_t* bytes, size_t count);

// The last byte. REQUIRES: size > 0; valid until the chain changes.
uint8_t* LastOfChain(Arena* arena, Handle newest, size_t size);

// Writes all `size` bytes to `out`.
void ReadChain(const Arena& arena, Handle newest, size_t size, uint8_t* out);

// Gives all blocks back.
void FreeChain(Arena* arena, Handle newest, size_t size);

}  // namespace narthex::head
