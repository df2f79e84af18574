// Blocks of float series for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "disk/block/block_writer.h"
#include "narthex/base/status.h"
#include "narthex/codec/chunk/float_chunk.h"

namespace narthex::support {

inline std::string BlockDirectory(const std::string& parent) {
  return parent + "/" + disk::Ulid::Make(1, {}).ToString();
}

// Series i (label sets ascending) has samples (0, i), (step, i), (2 step, i) ...
inline absl::Status WriteFloatBlock(base::Fs* fs, const std::string& parent,
                                    const std::vector<std::map<std::string, std::string>>& series,
                                    int64_t num_samples, int64_t samples_per_chunk,
                                    int64_t step_ms) {
  disk::BlockWriterOptions options;
  options.parent_directory = parent;
  options.ulid = disk::Ulid::Make(1, {});
  NX_RETURN_IF_ERROR(fs->CreateDirectories(parent));
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<disk::BlockWriter> writer,
                      disk::BlockWriter::Create(options, fs));
  std::set<std::string> texts;
  for (const auto& labels : series) {
    for (const auto& [name, value] : labels) texts.insert({name, value});
  }
  std::map<std::string, model::Symbol> symbols;
  for (const std::string& text : texts) {
    NX_ASSIGN_OR_RETURN(symbols[text], writer->AddSymbol(text));
  }
  for (size_t i = 0; i < series.size(); ++i) {
    std::vector<model::SymbolLabel> labels;
    for (const auto& [name, value] : series[i]) labels.push_back({symbols[name], symbols[value]});
    std::vector<std::string> bytes;
    std::vector<disk::ChunkToWrite> chunks;
    for (int64_t first = 0; first < num_samples; first += samples_per_chunk) {
      std::vector<int64_t> times;
      for (int64_t k = first; k < std::min(first + samples_per_chunk, num_samples); ++k) {
        times.push_back(k * step_ms);
      }
      const std::vector<double> values(times.size(), static_cast<double>(i));
      codec::EncodeXorChunk(times, values, &bytes.emplace_back());
      chunks.push_back({times.front(), times.back(), codec::ChunkEncoding::kXor, {}});
    }
    for (size_t k = 0; k < chunks.size(); ++k) chunks[k].bytes = bytes[k];
    NX_RETURN_IF_ERROR(writer->AddSeries(labels, chunks));
  }
  disk::BlockMeta meta;
  meta.max_time_ms = (num_samples - 1) * step_ms + 1;
  return writer->Finish(meta).status();
}

}  // namespace narthex::support
