// Blocks read series by series and written anew.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "disk/block/block_writer.h"
#include "narthex/base/status.h"
#include "narthex/disk/block.h"

namespace narthex::disk {

// Writes what `block` has to <parent>/<the same ULID>.
inline absl::StatusOr<BlockMeta> CopyBlock(const Block& block, BlockWriterOptions options,
                                           base::Fs* fs) {
  options.ulid = block.meta().ulid;
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<BlockWriter> writer, BlockWriter::Create(options, fs));
  absl::Status status;
  std::unordered_map<model::Symbol, model::Symbol> symbols;
  block.index().ForEachSymbol([&](model::Symbol symbol, std::string_view text) {
    const absl::StatusOr<model::Symbol> added = writer->AddSymbol(text);
    status = added.status();
    if (added.ok()) symbols[symbol] = *added;
    return status.ok();
  });
  NX_RETURN_IF_ERROR(status);
  NX_ASSIGN_OR_RETURN(PostingsCursor all, block.index().AllSeries());
  SeriesEntry entry;
  std::vector<ChunkToWrite> chunks;
  for (; !all.done(); all.Next()) {
    NX_RETURN_IF_ERROR(block.index().ReadSeries(all.ref(), &entry));
    chunks.clear();
    for (const ChunkMeta& meta : entry.chunks) {
      NX_ASSIGN_OR_RETURN(const BlockChunk chunk, block.chunks().Get(meta.ref));
      chunks.push_back({meta.min_time_ms, meta.max_time_ms, chunk.encoding, chunk.bytes});
    }
    for (model::SymbolLabel& label : entry.labels) {
      label = {symbols.at(label.name), symbols.at(label.value)};
    }
    NX_RETURN_IF_ERROR(writer->AddSeries(entry.labels, chunks));
  }
  return writer->Finish(block.meta(), block.tombstones());
}

}  // namespace narthex::disk
