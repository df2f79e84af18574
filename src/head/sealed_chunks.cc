#include "head/sealed_chunks.h"

#include <cstring>

#include "narthex/base/check.h"
#include "narthex/base/status.h"

namespace narthex::head {
namespace {

// A member of a list.
struct Link {
  int64_t min_time_ms;
  uint32_t span_ms;
  Handle older;
  uint32_t file;
  uint32_t offset;
};
static_assert(sizeof(Link) == 24);

// What precedes the bytes of a chunk in memory.
struct Header {
  uint32_t size;
  codec::ChunkEncoding encoding;
};
constexpr size_t kHeaderBytes = 5;

}  // namespace

SealedChunks::Place SealedChunks::Write(uint64_t wal_ref, const Entry* before,
                                        const SealedChunk& chunk) {
  if (files_ != nullptr && (before == nullptr || before->place.file != 0)) {
    absl::Status status = files_->Recover();
    if (status.ok()) {
      const absl::StatusOr<disk::HeadChunkRef> written =
          files_->Write({.series = wal_ref,
                         .min_time_ms = chunk.min_time_ms,
                         .max_time_ms = chunk.max_time_ms,
                         .encoding = chunk.encoding,
                         .is_out_of_order = false,
                         .bytes = chunk.bytes});
      if (written.ok()) {
        if (num_errors_ > 0)
          logger_->Info("head chunk files work again", {{"errors", num_errors_}});
        num_errors_ = 0;
        return {.file = written->file, .offset = written->offset};
      }
      status = written.status();
    }
    if (num_errors_++ == 0) {
      logger_->Error("head chunk file failed; full chunks stay in memory until it works again",
                     {{"err", base::Message(status)}});
    }
  }
  const Handle handle = arena_.Allocate(kHeaderBytes + chunk.bytes.size());
  const Header header = {.size = static_cast<uint32_t>(chunk.bytes.size()),
                         .encoding = chunk.encoding};
  uint8_t* const at = arena_.Bytes(handle);
  std::memcpy(at, &header, kHeaderBytes);
  std::memcpy(at + kHeaderBytes, chunk.bytes.data(), chunk.bytes.size());
  return {.file = 0, .offset = handle};
}

Handle SealedChunks::Link(const Entry& entry) {
  const int64_t span_ms = entry.max_time_ms - entry.min_time_ms;
  NX_CHECK(span_ms >= 0 && span_ms <= kMaxSpanMs);
  const head::Link link = {.min_time_ms = entry.min_time_ms,
                           .span_ms = static_cast<uint32_t>(span_ms),
                           .older = entry.older,
                           .file = entry.place.file,
                           .offset = entry.place.offset};
  const Handle handle = arena_.Allocate(sizeof link);
  std::memcpy(arena_.Bytes(handle), &link, sizeof link);
  return handle;
}

SealedChunks::Entry SealedChunks::operator[](Handle handle) const {
  head::Link link;
  std::memcpy(&link, arena_.Bytes(handle), sizeof link);
  return {.older = link.older,
          .min_time_ms = link.min_time_ms,
          .max_time_ms = link.min_time_ms + link.span_ms,
          .place = {.file = link.file, .offset = link.offset}};
}

SealedChunk SealedChunks::InMemory(Handle handle) const {
  const uint8_t* const at = arena_.Bytes(handle);
  Header header;
  std::memcpy(&header, at, kHeaderBytes);
  return {.encoding = header.encoding,
          .bytes = {reinterpret_cast<const char*>(at) + kHeaderBytes, header.size}};
}

SealedChunks::Cut SealedChunks::DropBefore(Handle newest, int64_t min_time_ms) {
  Cut cut;
  Handle next = newest;
  Handle last_kept = 0;
  for (; next != 0; next = (*this)[next].older) {
    const Entry entry = (*this)[next];
    if (entry.max_time_ms < min_time_ms) break;
    cut.min_time_ms = entry.min_time_ms;
    last_kept = next;
  }
  if (last_kept != 0) {
    cut.newest = newest;
    const Handle none = 0;
    std::memcpy(arena_.Bytes(last_kept) + offsetof(head::Link, older), &none, sizeof none);
  }
  while (next != 0) {
    const Entry entry = (*this)[next];
    if (entry.place.file == 0) {
      arena_.Free(entry.place.offset, kHeaderBytes + InMemory(entry.place.offset).bytes.size());
    }
    arena_.Free(next, sizeof(head::Link));
    ++cut.num_dropped;
    next = entry.older;
  }
  return cut;
}

absl::Status SealedChunks::RemoveFilesBefore(int64_t min_time_ms) {
  if (files_ == nullptr) return absl::OkStatus();
  return base::WithContext(files_->RemoveFilesBefore(files_->FirstFileSince(min_time_ms)),
                           "head: head chunk files");
}

absl::Status SealedChunks::Close() {
  return files_ == nullptr ? absl::OkStatus()
                           : base::WithContext(files_->Close(), "head: head chunk files");
}

absl::StatusOr<SealedChunk> SealedChunkReader::Get(const SealedChunks::Entry& entry) {
  SealedChunk chunk;
  if (entry.place.file == 0) {
    chunk = chunks_->InMemory(entry.place.offset);
  } else {
    NX_ASSIGN_OR_RETURN(const disk::HeadChunk stored,
                        files_.Get({.file = entry.place.file, .offset = entry.place.offset}));
    chunk.encoding = stored.encoding;
    chunk.bytes = stored.bytes;
  }
  chunk.min_time_ms = entry.min_time_ms;
  chunk.max_time_ms = entry.max_time_ms;
  return chunk;
}

}  // namespace narthex::head
