// Writes the index of a block, version 2, byte for byte as Prometheus does. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "disk/block/output_file.h"
#include "narthex/base/fs.h"
#include "narthex/disk/block_index.h"
#include "narthex/model/symbols.h"

namespace narthex::disk {

class IndexWriter {
 public:
  // Temporary files lie beside the index and are removed by Finish(). `batch_entries` bounds the
  // postings gathered at once, unless one label has more. `fs` must outlive the writer.
  static absl::StatusOr<std::unique_ptr<IndexWriter>> Create(base::Fs* fs, std::string path,
                                                             size_t batch_entries);

  // As BlockWriter::AddSymbol() and AddSeries() say.
  absl::StatusOr<model::Symbol> AddSymbol(std::string_view text);
  absl::Status AddSeries(std::span<const model::SymbolLabel> labels,
                         std::span<const ChunkMeta> chunks);
  // Writes postings, their table and the table of contents, and syncs the file.
  absl::Status Finish();

 private:
  // Where the sections begin.
  struct Contents {
    uint64_t symbols = 0;
    uint64_t series = 0;
    uint64_t series_end = 0;
    uint64_t postings_table = 0;
  };

  // Entries of one label name: value in the upper, ref in the lower half.
  struct Gathered {
    model::Symbol name = 0;
    std::vector<uint64_t> entries;
  };

  IndexWriter(base::Fs* fs, OutputFile file, OutputFile spilled, size_t batch_entries)
      : fs_(fs),
        file_(std::move(file)),
        spilled_(std::move(spilled)),
        batch_entries_(batch_entries) {}

  absl::Status FinishSymbols();
  absl::Status CheckSeries(std::span<const model::SymbolLabel> labels,
                           std::span<const ChunkMeta> chunks) const;
  void EncodeSeries(std::span<const model::SymbolLabel> labels, std::span<const ChunkMeta> chunks);

  absl::Status WritePostings();
  absl::Status WriteBatch(std::vector<Gathered>* batch);
  absl::Status GatherBatch(std::vector<Gathered>* batch);
  // Shows ref and body of every series written.
  template <typename Visitor>
  absl::Status ForEachSeries(Visitor visit);
  // One list: its entry in the table, its refs, its checksum.
  absl::Status BeginList(std::string_view name, std::string_view value, uint64_t count);
  absl::Status AddToList(uint32_t ref);
  absl::Status EndList();
  // Appends the spilled file to the index as a section: length, count, its bytes, CRC.
  absl::Status AppendSpilled(uint32_t count, std::string_view what);
  absl::Status CheckSize() const;
  // REQUIRES: mapped_. Valid as long as it.
  std::string_view SymbolText(model::Symbol symbol) const;

  base::Fs* const fs_;
  OutputFile file_;
  // What needs its length before it: the symbols, later the table of postings.
  OutputFile spilled_;
  const size_t batch_entries_;

  Contents contents_;
  bool has_series_ = false;
  uint32_t num_symbols_ = 0;
  std::string last_symbol_;
  std::vector<uint32_t> symbol_offsets_;  // In the section's symbols, of every 32nd.
  uint32_t num_series_ = 0;
  std::map<model::Symbol, uint64_t> name_counts_;  // Series that have the label.
  std::vector<model::SymbolLabel> last_labels_;
  uint64_t last_chunk_ref_ = 0;
  std::unique_ptr<base::MappedFile> mapped_;  // The index up to the end of its series.
  uint32_t num_lists_ = 0;
  uint32_t list_crc_ = 0;
  std::string body_;     // Scratch.
  std::string scratch_;  // Likewise.
};

}  // namespace narthex::disk
