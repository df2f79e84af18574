// A block of two series, small enough to break at every byte.
#pragma once

#include <string>

#include "disk/block/block_writer.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/disk/block.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {

inline const Ulid kSmallUlid = Ulid::Parse("01M8PV1Y3T8FWYS1WDNSYMPNX2").value();

inline std::string SmallChunk() {
  std::string chunk;
  codec::EncodeXorChunk(std::vector<int64_t>{15, 30, 45}, std::vector<double>{1, 1, 2.5}, &chunk);
  return chunk;
}

// {__name__="up", job="a"} with two chunks and {__name__="up", job="b"} with one.
inline absl::Status WriteSmallBlock(base::Fs* fs) {
  BlockWriterOptions options;
  options.parent_directory = "data";
  options.ulid = kSmallUlid;
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<BlockWriter> writer, BlockWriter::Create(options, fs));
  for (const char* const symbol : {"", "__name__", "a", "b", "job", "up"}) {
    NX_RETURN_IF_ERROR(writer->AddSymbol(symbol).status());
  }
  const std::string chunk = SmallChunk();
  const auto encoding = codec::ChunkEncoding::kXor;
  NX_RETURN_IF_ERROR(writer->AddSeries(
      std::vector<model::SymbolLabel>{{1, 5}, {4, 2}},
      std::vector<ChunkToWrite>{{15, 45, encoding, chunk}, {60, 90, encoding, chunk}}));
  NX_RETURN_IF_ERROR(writer->AddSeries(std::vector<model::SymbolLabel>{{1, 5}, {4, 3}},
                                       std::vector<ChunkToWrite>{{15, 45, encoding, chunk}}));
  BlockMeta meta;
  meta.min_time_ms = 15;
  meta.max_time_ms = 91;
  meta.compaction.level = 1;
  meta.compaction.sources = {kSmallUlid};
  return writer->Finish(meta).status();
}

inline std::string SmallBlockDirectory() { return "data/" + kSmallUlid.ToString(); }

// Reads all there is; a status where something is wrong.
inline absl::Status ReadEverything(const Block& block) {
  const BlockIndex& index = block.index();
  for (const std::string_view name : index.LabelNames()) {
    absl::Status status;
    NX_RETURN_IF_ERROR(index.ForEachValue(name, [&](std::string_view value, uint64_t place) {
      Refs refs;
      if (status.ok()) status = index.AppendList(place, &refs);
      if (status.ok()) status = index.FindList(name, value).status();
    }));
    NX_RETURN_IF_ERROR(status);
  }
  NX_ASSIGN_OR_RETURN(PostingsCursor all, index.AllSeries());
  SeriesEntry entry;
  for (; !all.done(); all.Next()) {
    NX_RETURN_IF_ERROR(index.ReadSeries(all.ref(), &entry));
    for (const model::SymbolLabel& label : entry.labels) {
      index.Find(index.Text(label.name));
      index.Find(index.Text(label.value));
    }
    for (const ChunkMeta& meta : entry.chunks) {
      NX_RETURN_IF_ERROR(block.chunks().Get(meta.ref).status());
    }
  }
  return absl::OkStatus();
}

// Puts `bytes` in the place of a file.
inline void Replace(base::Fs* fs, const std::string& path, std::string_view bytes) {
  NX_CHECK(fs->Create(path).value()->Append(bytes).ok());
}

}  // namespace narthex::disk
