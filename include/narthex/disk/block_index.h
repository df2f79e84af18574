// The index of a block, read where it is mapped (docs/format/index.md). Versions 1 to 3. Kept in
// memory are every 32nd symbol's place and, for each label name, every 32nd value's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/disk/postings.h"
#include "narthex/model/symbols.h"

namespace narthex::disk {

// A chunk as the index has it. Both times are inclusive.
struct ChunkMeta {
  uint64_t ref = 0;  // Of ChunkSegments::Get().
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;
  bool operator==(const ChunkMeta&) const = default;
};

// Reused from series to series.
struct SeriesEntry {
  std::vector<model::SymbolLabel> labels;  // Sorted by the text of their names.
  std::vector<ChunkMeta> chunks;           // Ascending, not overlapping.
};

// Immutable, thread-safe. Views it gives are valid as long as it. Refs are 32-bit numbers of
// series. Symbols are the file's: all below 2^31.
class BlockIndex final : public model::SymbolTable, public PostingsSource {
 public:
  // Checks the table of contents, symbols and the table of postings; lists and series are checked
  // when they are read. kDataLoss: bad bytes, or a version nobody knows; names file and offset.
  static absl::StatusOr<std::unique_ptr<const BlockIndex>> Open(base::Fs* fs,
                                                                const std::string& path);
  ~BlockIndex() override = default;

  int version() const { return version_; }
  uint64_t num_bytes() const { return bytes_.size(); }
  // Held outside the mapping.
  uint64_t num_memory_bytes() const;

  uint32_t num_symbols() const { return num_symbols_; }
  std::string_view Text(model::Symbol symbol) const override;
  std::optional<model::Symbol> Find(std::string_view text) const override;
  // Shows all symbols in ascending order. The visitor returns whether to go on.
  void ForEachSymbol(const std::function<bool(model::Symbol, std::string_view)>& visit) const;

  // Ascending.
  std::vector<std::string_view> LabelNames() const;
  // In ascending order.
  absl::Status ForEachValue(std::string_view name, const ValueVisitor& visit) const override;
  // nullopt: no series has the label.
  absl::StatusOr<std::optional<uint64_t>> FindList(std::string_view name,
                                                   std::string_view value) const override;
  // The list at `place`, its checksum checked.
  absl::StatusOr<PostingsCursor> List(uint64_t place) const;
  // Of all series, ascending by their labels.
  absl::StatusOr<PostingsCursor> AllSeries() const;

  // Replaces `*entry`; its checksum is checked. kDataLoss: bad bytes.
  absl::Status ReadSeries(uint32_t ref, SeriesEntry* entry) const;
  // As ReadSeries() without chunks.
  absl::Status ReadLabels(uint32_t ref, std::vector<model::SymbolLabel>* labels) const;

  uint64_t ref_limit() const override;
  size_t CountOf(uint64_t place) const override;
  absl::Status AppendList(uint64_t place, Refs* out) const override;
  absl::Status IntersectList(uint64_t place, Refs* refs) const override;
  absl::Status AppendAll(Refs* out) const override;
  absl::Status FilterByLabel(std::string_view name,
                             const std::function<bool(std::string_view)>& accepts,
                             Refs* refs) const override;

 private:
  // A label name and its part of the table of postings.
  struct Name {
    std::string_view text;
    uint64_t first_sample = 0;  // In samples_.
    uint64_t end = 0;           // Where its last entry ends.
  };
  // Version 1 has an unsorted table: all its entries, sorted here.
  struct Entry {
    std::string_view name;
    std::string_view value;
    uint64_t place = 0;
    uint64_t offset = 0;  // Of the entry itself.
  };

  BlockIndex(std::unique_ptr<base::MappedFile> file, std::string path);
  absl::Status Load();
  absl::Status LoadContents();
  absl::Status LoadSymbols(uint64_t offset);
  absl::Status LoadPostingsTable(uint64_t offset);
  absl::Status LoadSortedTable(std::string_view table, uint32_t num_entries);
  absl::Status LoadUnsortedTable(std::string_view table, uint32_t num_entries);

  template <typename... Pieces>
  absl::Status Damage(uint64_t offset, const Pieces&... pieces) const;
  // u32 length, bytes, CRC.
  absl::StatusOr<std::string_view> Section(uint64_t offset, std::string_view what) const;
  absl::StatusOr<std::string_view> SeriesBody(uint32_t ref) const;
  absl::Status ReadLabelPairs(uint32_t ref, base::Reader* reader,
                              std::vector<model::SymbolLabel>* labels) const;
  bool IsSymbol(uint64_t symbol) const;
  Entry EntryAt(uint64_t offset, uint64_t* end) const;
  const Name* FindName(std::string_view name) const;
  // Of the samples of a name, the one to look for `value` from.
  uint64_t SeekSample(const Name& name, std::string_view value) const;

  const std::unique_ptr<base::MappedFile> file_;
  const std::string path_;
  const std::string_view bytes_;
  int version_ = 0;
  uint64_t series_end_ = 0;
  std::string_view symbols_;  // The section's symbols.
  uint32_t num_symbols_ = 0;
  std::vector<uint32_t> symbol_offsets_;  // In symbols_, of every 32nd.
  uint64_t table_offset_ = 0;             // Of the table's first entry.
  std::vector<Name> names_;               // Sorted.
  std::vector<uint32_t> samples_;         // Offsets in the table, of every 32nd value of a name.
  std::vector<Entry> entries_;            // Version 1 only.
  std::optional<uint64_t> all_series_;
};

}  // namespace narthex::disk
