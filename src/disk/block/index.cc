//   header | symbols | series | postings | table of postings | table of contents
//
// At opening symbols and the table of postings are walked once, to check them and to note every
// 32nd place. A look-up halves among the notes, then walks up to 32 neighbours in the mapping.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "disk/block/index_format.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"
#include "narthex/disk/block_index.h"

namespace narthex::disk {

using model::Symbol;
using model::SymbolLabel;

BlockIndex::BlockIndex(std::unique_ptr<base::MappedFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), bytes_(file_->bytes()) {}

absl::StatusOr<std::unique_ptr<const BlockIndex>> BlockIndex::Open(base::Fs* fs,
                                                                   const std::string& path) {
  NX_ASSIGN_OR_RETURN(std::unique_ptr<base::MappedFile> file, fs->Map(path));
  std::unique_ptr<BlockIndex> index(new BlockIndex(std::move(file), path));
  NX_RETURN_IF_ERROR(index->Load());
  return std::unique_ptr<const BlockIndex>(std::move(index));
}

template <typename... Pieces>
absl::Status BlockIndex::Damage(uint64_t offset, const Pieces&... pieces) const {
  return base::DataLoss("block index: ", pieces..., ": ", path_, " offset=", offset);
}

uint64_t BlockIndex::num_memory_bytes() const {
  return symbol_offsets_.capacity() * sizeof(uint32_t) + samples_.capacity() * sizeof(uint32_t) +
         names_.capacity() * sizeof(Name) + entries_.capacity() * sizeof(Entry);
}

// ---- Opening

absl::Status BlockIndex::Load() {
  base::Reader header(bytes_);
  const uint32_t magic = header.U32();
  version_ = header.U8();
  if (!header.ok()) return Damage(0, "file is too short: bytes=", bytes_.size());
  if (magic != kIndexMagic) return Damage(0, "wrong magic number");
  if (version_ < 1 || version_ > 3) return Damage(4, "unknown version ", version_);
  return LoadContents();
}

absl::Status BlockIndex::LoadContents() {
  if (bytes_.size() < kIndexHeaderBytes + kIndexContentsBytes) {
    return Damage(0, "file is too short: bytes=", bytes_.size());
  }
  const uint64_t begin = bytes_.size() - kIndexContentsBytes;
  const std::string_view contents = bytes_.substr(begin, kIndexContentsBytes - kIndexCrcBytes);
  base::Reader crc(bytes_.substr(bytes_.size() - kIndexCrcBytes));
  if (crc.U32() != base::Crc32c(contents)) return Damage(begin, "bad crc of table of contents");
  base::Reader reader(contents);
  const uint64_t symbols = reader.U64();
  reader.Bytes(4 * sizeof(uint64_t));  // Where series, label indices and postings begin.
  const uint64_t postings_table = reader.U64();
  NX_RETURN_IF_ERROR(LoadSymbols(symbols));
  return LoadPostingsTable(postings_table);
}

absl::StatusOr<std::string_view> BlockIndex::Section(uint64_t offset, std::string_view what) const {
  if (offset < kIndexHeaderBytes || offset > bytes_.size()) {
    return Damage(offset, "bad place of ", what);
  }
  base::Reader reader(bytes_.substr(offset));
  const uint32_t num_bytes = reader.U32();
  const std::string_view content = reader.Bytes(num_bytes);
  const uint32_t crc = reader.U32();
  if (!reader.ok()) return Damage(offset, what, " is torn");
  if (crc != base::Crc32c(content)) return Damage(offset, "bad crc of ", what);
  return content;
}

absl::Status BlockIndex::LoadSymbols(uint64_t offset) {
  NX_ASSIGN_OR_RETURN(const std::string_view section, Section(offset, "symbols"));
  base::Reader reader(section);
  num_symbols_ = reader.U32();
  symbols_ = reader.rest();
  if (num_symbols_ >= model::kOverlayBit || symbols_.size() < num_symbols_) {
    return Damage(offset, "more symbols than bytes: symbols=", num_symbols_);
  }
  // Version 1 has places in the file for symbols.
  if (version_ == 1 && offset + section.size() >= model::kOverlayBit) {
    return Damage(offset, "symbols lie too far in a file of version 1");
  }
  symbol_offsets_.reserve(num_symbols_ / kIndexSampling + 1);
  for (uint32_t i = 0; i < num_symbols_; ++i) {
    if (i % kIndexSampling == 0) {
      symbol_offsets_.push_back(static_cast<uint32_t>(symbols_.size() - reader.remaining()));
    }
    reader.LengthPrefixed();
    if (!reader.ok()) return Damage(offset, "bad symbol: number=", i);
  }
  return absl::OkStatus();
}

absl::Status BlockIndex::LoadPostingsTable(uint64_t offset) {
  NX_ASSIGN_OR_RETURN(const std::string_view section, Section(offset, "table of postings"));
  base::Reader reader(section);
  const uint32_t num_entries = reader.U32();
  if (!reader.ok()) return Damage(offset, "table of postings is torn");
  const std::string_view table = reader.rest();
  table_offset_ = static_cast<uint64_t>(table.data() - bytes_.data());
  NX_RETURN_IF_ERROR(version_ == 1 ? LoadUnsortedTable(table, num_entries)
                                   : LoadSortedTable(table, num_entries));
  names_.shrink_to_fit();
  samples_.shrink_to_fit();
  if (const Name* const none = FindName(""); none != nullptr) {
    NX_ASSIGN_OR_RETURN(all_series_, FindList("", ""));
    names_.erase(names_.begin() + (none - names_.data()));
  }
  return absl::OkStatus();
}

namespace {

// An entry of the table of postings; false if the bytes are none.
bool ReadTableEntry(base::Reader* reader, std::string_view* name, std::string_view* value,
                    uint64_t* place) {
  const uint64_t num_keys = reader->Uvarint();
  *name = reader->LengthPrefixed();
  *value = reader->LengthPrefixed();
  *place = reader->Uvarint();
  return reader->ok() && num_keys == 2;
}

}  // namespace

absl::Status BlockIndex::LoadSortedTable(std::string_view table, uint32_t num_entries) {
  base::Reader reader(table);
  std::string_view last_value;
  size_t num_values = 0;
  for (uint32_t i = 0; i < num_entries; ++i) {
    const auto offset = static_cast<uint32_t>(table.size() - reader.remaining());
    std::string_view name, value;
    uint64_t place = 0;
    if (!ReadTableEntry(&reader, &name, &value, &place)) {
      return Damage(table_offset_ + offset, "bad entry in table of postings");
    }
    const bool is_new_name = names_.empty() || names_.back().text != name;
    if (!names_.empty() && (is_new_name ? name < names_.back().text : value <= last_value)) {
      return Damage(table_offset_ + offset, "table of postings is not sorted");
    }
    if (is_new_name) {
      names_.push_back({.text = name, .first_sample = samples_.size(), .end = 0});
      num_values = 0;
    }
    if (num_values++ % kIndexSampling == 0) samples_.push_back(offset);
    names_.back().end = table.size() - reader.remaining();
    last_value = value;
  }
  return absl::OkStatus();
}

absl::Status BlockIndex::LoadUnsortedTable(std::string_view table, uint32_t num_entries) {
  base::Reader reader(table);
  for (uint32_t i = 0; i < num_entries; ++i) {
    Entry entry;
    entry.offset = table.size() - reader.remaining();
    if (!ReadTableEntry(&reader, &entry.name, &entry.value, &entry.place)) {
      return Damage(table_offset_ + entry.offset, "bad entry in table of postings");
    }
    entries_.push_back(entry);
  }
  // Of a repeated pair the last one counts.
  const auto key = [](const Entry& entry) { return std::pair(entry.name, entry.value); };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  size_t num_kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i + 1 < entries_.size() && key(entries_[i]) == key(entries_[i + 1])) continue;
    entries_[num_kept++] = entries_[i];
  }
  entries_.resize(num_kept);
  entries_.shrink_to_fit();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (names_.empty() || names_.back().text != entries_[i].name) {
      names_.push_back({.text = entries_[i].name, .first_sample = i, .end = 0});
    }
    names_.back().end = i + 1;
  }
  return absl::OkStatus();
}

// ---- Symbols

bool BlockIndex::IsSymbol(uint64_t symbol) const {
  if (version_ != 1) return symbol < num_symbols_;
  const auto begin = static_cast<uint64_t>(symbols_.data() - bytes_.data());
  if (symbol < begin || symbol >= begin + symbols_.size()) return false;
  base::Reader reader(symbols_.substr(symbol - begin));
  reader.LengthPrefixed();
  return reader.ok();
}

std::string_view BlockIndex::Text(Symbol symbol) const {
  if (version_ == 1) {
    base::Reader reader(bytes_.substr(symbol));
    return reader.LengthPrefixed();
  }
  base::Reader reader(symbols_.substr(symbol_offsets_[symbol / kIndexSampling]));
  for (size_t i = symbol % kIndexSampling; i > 0; --i) reader.LengthPrefixed();
  return reader.LengthPrefixed();
}

std::optional<Symbol> BlockIndex::Find(std::string_view text) const {
  const auto above =
      std::partition_point(symbol_offsets_.begin(), symbol_offsets_.end(), [&](uint32_t offset) {
        return base::Reader(symbols_.substr(offset)).LengthPrefixed() <= text;
      });
  if (above == symbol_offsets_.begin()) return std::nullopt;
  base::Reader reader(symbols_.substr(*(above - 1)));
  auto symbol = static_cast<size_t>(above - 1 - symbol_offsets_.begin()) * kIndexSampling;
  for (size_t i = 0; i < kIndexSampling && symbol < num_symbols_; ++i, ++symbol) {
    const auto offset = static_cast<size_t>(reader.rest().data() - bytes_.data());
    const std::string_view found = reader.LengthPrefixed();
    if (found == text) return static_cast<Symbol>(version_ == 1 ? offset : symbol);
    if (found > text) break;
  }
  return std::nullopt;
}

void BlockIndex::ForEachSymbol(const std::function<bool(Symbol, std::string_view)>& visit) const {
  base::Reader reader(symbols_);
  for (uint32_t i = 0; i < num_symbols_; ++i) {
    const auto offset = static_cast<size_t>(reader.rest().data() - bytes_.data());
    const std::string_view text = reader.LengthPrefixed();
    if (!visit(version_ == 1 ? static_cast<Symbol>(offset) : i, text)) return;
  }
}

// ---- Names, values and their lists

std::vector<std::string_view> BlockIndex::LabelNames() const {
  std::vector<std::string_view> names;
  names.reserve(names_.size());
  for (const Name& name : names_) names.push_back(name.text);
  return names;
}

const BlockIndex::Name* BlockIndex::FindName(std::string_view name) const {
  const auto found = std::partition_point(names_.begin(), names_.end(),
                                          [&](const Name& one) { return one.text < name; });
  return found != names_.end() && found->text == name ? &*found : nullptr;
}

// An entry of the table and where it ends; for version 1 both are numbers of entries.
BlockIndex::Entry BlockIndex::EntryAt(uint64_t offset, uint64_t* end) const {
  if (version_ == 1) {
    *end = offset + 1;
    return entries_[offset];
  }
  base::Reader reader(bytes_.substr(table_offset_ + offset));
  Entry entry;
  entry.offset = offset;
  // Read once at opening, so it is an entry.
  ReadTableEntry(&reader, &entry.name, &entry.value, &entry.place);
  *end = bytes_.size() - table_offset_ - reader.remaining();
  return entry;
}

uint64_t BlockIndex::SeekSample(const Name& name, std::string_view value) const {
  uint64_t unused = 0;
  if (version_ == 1) {
    uint64_t low = name.first_sample;
    for (uint64_t high = name.end; low < high;) {
      const uint64_t middle = low + (high - low) / 2;
      if (entries_[middle].value < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(name.first_sample);
  const auto end = std::lower_bound(begin, samples_.end(), name.end);
  const auto above = std::partition_point(
      begin, end, [&](uint32_t offset) { return EntryAt(offset, &unused).value <= value; });
  return above == begin ? *begin : *(above - 1);
}

absl::Status BlockIndex::ForEachValue(std::string_view name, const ValueVisitor& visit) const {
  const Name* const found = FindName(name);
  if (found == nullptr) return absl::OkStatus();
  uint64_t offset = version_ == 1 ? found->first_sample : samples_[found->first_sample];
  while (offset < found->end) {
    const Entry entry = EntryAt(offset, &offset);
    visit(entry.value, entry.place);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<uint64_t>> BlockIndex::FindList(std::string_view name,
                                                             std::string_view value) const {
  const Name* const found = FindName(name);
  if (found == nullptr) return std::nullopt;
  for (uint64_t offset = SeekSample(*found, value); offset < found->end;) {
    const Entry entry = EntryAt(offset, &offset);
    if (entry.value == value) return entry.place;
    if (entry.value > value) break;
  }
  return std::nullopt;
}

absl::StatusOr<PostingsCursor> BlockIndex::List(uint64_t place) const {
  NX_ASSIGN_OR_RETURN(const std::string_view list, Section(place, "postings"));
  base::Reader reader(list);
  const uint32_t count = reader.U32();
  if (!reader.ok() || reader.remaining() != uint64_t{count} * 4) {
    return Damage(place, "bad length of postings");
  }
  return PostingsCursor(reader.rest());
}

absl::StatusOr<PostingsCursor> BlockIndex::AllSeries() const {
  if (!all_series_) return PostingsCursor();
  return List(*all_series_);
}

uint64_t BlockIndex::ref_limit() const {
  const uint64_t limit = version_ == 1 ? bytes_.size() : bytes_.size() / kSeriesAlignment + 1;
  return std::min(limit, uint64_t{std::numeric_limits<uint32_t>::max()} + 1);
}

size_t BlockIndex::CountOf(uint64_t place) const {
  if (place > bytes_.size()) return 1;  // Reading the list says what is wrong.
  base::Reader reader(bytes_.substr(place));
  const uint32_t num_bytes = reader.U32();
  // Never more than the file has.
  return std::max<size_t>(std::min<size_t>(num_bytes, reader.remaining()) / 4, 2) - 1;
}

absl::Status BlockIndex::AppendList(uint64_t place, Refs* out) const {
  NX_ASSIGN_OR_RETURN(const PostingsCursor list, List(place));
  AppendRefs(list, out);
  return absl::OkStatus();
}

absl::Status BlockIndex::IntersectList(uint64_t place, Refs* refs) const {
  NX_ASSIGN_OR_RETURN(const PostingsCursor list, List(place));
  Intersect(list, refs);
  return absl::OkStatus();
}

absl::Status BlockIndex::AppendAll(Refs* out) const {
  NX_ASSIGN_OR_RETURN(const PostingsCursor list, AllSeries());
  AppendRefs(list, out);
  return absl::OkStatus();
}

// ---- Series

absl::StatusOr<std::string_view> BlockIndex::SeriesBody(uint32_t ref) const {
  const uint64_t offset = version_ == 1 ? ref : uint64_t{ref} * kSeriesAlignment;
  if (offset < kIndexHeaderBytes || offset >= bytes_.size()) {
    return Damage(offset, "series lies outside the file: ref=", ref);
  }
  base::Reader reader(bytes_.substr(offset));
  const std::string_view body = reader.LengthPrefixed();
  const uint32_t crc = reader.U32();
  if (!reader.ok()) return Damage(offset, "series is torn: ref=", ref);
  if (crc != base::Crc32c(body)) return Damage(offset, "bad crc of series: ref=", ref);
  return body;
}

absl::Status BlockIndex::ReadLabelPairs(uint32_t ref, base::Reader* reader,
                                        std::vector<SymbolLabel>* labels) const {
  labels->clear();
  const uint64_t num_labels = reader->Uvarint();
  for (uint64_t i = 0; i < num_labels && reader->ok(); ++i) {
    const uint64_t name = reader->Uvarint();
    const uint64_t value = reader->Uvarint();
    if (!reader->ok()) break;
    if (!IsSymbol(name) || !IsSymbol(value)) {
      return Damage(0, "series has an unknown symbol: ref=", ref);
    }
    labels->push_back({static_cast<Symbol>(name), static_cast<Symbol>(value)});
  }
  if (!reader->ok()) return Damage(0, "bad labels of series: ref=", ref);
  return absl::OkStatus();
}

absl::Status BlockIndex::ReadLabels(uint32_t ref, std::vector<SymbolLabel>* labels) const {
  NX_ASSIGN_OR_RETURN(const std::string_view body, SeriesBody(ref));
  base::Reader reader(body);
  return ReadLabelPairs(ref, &reader, labels);
}

absl::Status BlockIndex::ReadSeries(uint32_t ref, SeriesEntry* entry) const {
  entry->chunks.clear();
  NX_ASSIGN_OR_RETURN(const std::string_view body, SeriesBody(ref));
  base::Reader reader(body);
  NX_RETURN_IF_ERROR(ReadLabelPairs(ref, &reader, &entry->labels));
  const uint64_t num_chunks = reader.Uvarint();
  // Sums wrap around as the writer's differences did.
  uint64_t time = 0;
  uint64_t chunk_ref = 0;
  for (uint64_t i = 0; i < num_chunks && reader.ok(); ++i) {
    ChunkMeta chunk;
    time += i == 0 ? static_cast<uint64_t>(reader.Varint()) : reader.Uvarint();
    chunk.min_time_ms = static_cast<int64_t>(time);
    time += reader.Uvarint();
    chunk.max_time_ms = static_cast<int64_t>(time);
    chunk_ref += i == 0 ? reader.Uvarint() : static_cast<uint64_t>(reader.Varint());
    chunk.ref = chunk_ref;
    entry->chunks.push_back(chunk);
  }
  if (!reader.ok()) return Damage(0, "bad chunks of series: ref=", ref);
  return absl::OkStatus();
}

absl::Status BlockIndex::FilterByLabel(std::string_view name,
                                       const std::function<bool(std::string_view)>& accepts,
                                       Refs* refs) const {
  const bool accepts_none = accepts("");
  const std::optional<Symbol> symbol = Find(name);
  std::unordered_map<Symbol, bool> verdicts;
  std::vector<SymbolLabel> labels;
  size_t num_kept = 0;
  for (const uint32_t ref : *refs) {
    NX_RETURN_IF_ERROR(ReadLabels(ref, &labels));
    const auto label = std::find_if(labels.begin(), labels.end(), [&](const SymbolLabel& one) {
      return symbol && one.name == *symbol;
    });
    bool kept = accepts_none;
    if (label != labels.end()) {
      const auto [verdict, is_new] = verdicts.try_emplace(label->value, false);
      if (is_new) verdict->second = accepts(Text(label->value));
      kept = verdict->second;
    }
    if (kept) (*refs)[num_kept++] = ref;
  }
  refs->resize(num_kept);
  return absl::OkStatus();
}

}  // namespace narthex::disk
