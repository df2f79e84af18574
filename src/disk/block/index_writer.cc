// Symbols and the table of postings have their length and count in front, so they are written to a
// temporary file first and copied. Series go straight to the index. For the lists of postings the
// series are then read again, once for every batch of label names, and each name's pairs of value
// and ref are sorted in memory: symbols ascend as their texts do.
#include "disk/block/index_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "disk/block/index_format.h"
#include "narthex/base/bytes.h"
#include "narthex/base/check.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"

namespace narthex::disk {

using model::Symbol;
using model::SymbolLabel;

namespace {

constexpr uint64_t kMaxIndexBytes = 16 * uint64_t{std::numeric_limits<uint32_t>::max()};
constexpr uint64_t kMaxSectionBytes = std::numeric_limits<uint32_t>::max();
// Mapped pages are let go in pieces of this size.
constexpr uint64_t kWindowBytes = 4 << 20;
constexpr size_t kPieceBytes = 64 << 10;

std::string_view View(std::string_view bytes, uint64_t begin, uint64_t end) {
  return bytes.substr(begin, end - begin);
}

}  // namespace

absl::StatusOr<std::unique_ptr<IndexWriter>> IndexWriter::Create(base::Fs* fs, std::string path,
                                                                 size_t batch_entries) {
  NX_ASSIGN_OR_RETURN(OutputFile spilled, OutputFile::Create(fs, path + "_tmp"));
  NX_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(fs, std::move(path)));
  std::unique_ptr<IndexWriter> writer(
      new IndexWriter(fs, std::move(file), std::move(spilled), batch_entries));
  std::string header;
  base::AppendU32(&header, kIndexMagic);
  base::AppendU8(&header, kIndexVersion);
  NX_RETURN_IF_ERROR(writer->file_.Append(header));
  return writer;
}

absl::Status IndexWriter::CheckSize() const {
  if (file_.size() <= kMaxIndexBytes) return absl::OkStatus();
  return base::ResourceExhausted("block index: ", file_.path(), " exceeding max size of 64GiB");
}

// ---- Symbols

absl::StatusOr<Symbol> IndexWriter::AddSymbol(std::string_view text) {
  if (has_series_) return base::InvalidArgument("block index: symbol after the first series");
  if (num_symbols_ > 0 && text <= last_symbol_) {
    return base::InvalidArgument("block index: symbol \"", text, "\" out-of-order");
  }
  if (num_symbols_ == model::kOverlayBit - 1) {
    return base::ResourceExhausted("block index: too many symbols");
  }
  if (num_symbols_ % kIndexSampling == 0) {
    symbol_offsets_.push_back(static_cast<uint32_t>(spilled_.size()));
  }
  scratch_.clear();
  base::AppendLengthPrefixed(&scratch_, text);
  if (spilled_.size() + scratch_.size() + sizeof(uint32_t) > kMaxSectionBytes) {
    return base::ResourceExhausted("block index: symbol table size exceeds 4 bytes");
  }
  NX_RETURN_IF_ERROR(spilled_.Append(scratch_));
  last_symbol_ = text;
  return num_symbols_++;
}

absl::Status IndexWriter::FinishSymbols() {
  has_series_ = true;
  contents_.symbols = file_.size();
  NX_RETURN_IF_ERROR(AppendSpilled(num_symbols_, "symbols"));
  contents_.series = file_.size();
  last_symbol_ = std::string();
  return absl::OkStatus();
}

absl::Status IndexWriter::AppendSpilled(uint32_t count, std::string_view what) {
  const uint64_t num_bytes = spilled_.size() + sizeof(uint32_t);
  if (num_bytes > kMaxSectionBytes) {
    return base::ResourceExhausted("block index: ", what, ": length size exceeds 4 bytes");
  }
  NX_RETURN_IF_ERROR(spilled_.Close());
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<base::MappedFile> mapped, fs_->Map(spilled_.path()));
  if (mapped->bytes().size() != spilled_.size()) {
    return base::DataLoss("block index: temporary file is torn: ", spilled_.path());
  }
  scratch_.clear();
  base::AppendU32(&scratch_, static_cast<uint32_t>(num_bytes));
  base::AppendU32(&scratch_, count);
  NX_RETURN_IF_ERROR(file_.Append(scratch_));
  uint32_t crc = base::Crc32c(std::string_view(scratch_).substr(sizeof(uint32_t)));
  for (uint64_t begin = 0; begin < spilled_.size(); begin += kWindowBytes) {
    const uint64_t end = std::min(begin + kWindowBytes, spilled_.size());
    const std::string_view piece = View(mapped->bytes(), begin, end);
    crc = base::ExtendCrc32c(crc, piece);
    NX_RETURN_IF_ERROR(file_.Append(piece));
    mapped->DropResident(begin, end);
  }
  scratch_.clear();
  base::AppendU32(&scratch_, crc);
  NX_RETURN_IF_ERROR(file_.Append(scratch_));
  return fs_->Remove(spilled_.path());
}

std::string_view IndexWriter::SymbolText(Symbol symbol) const {
  const uint64_t begin = contents_.symbols + 2 * sizeof(uint32_t);
  base::Reader reader(mapped_->bytes().substr(begin + symbol_offsets_[symbol / kIndexSampling]));
  for (size_t i = symbol % kIndexSampling; i > 0; --i) reader.LengthPrefixed();
  return reader.LengthPrefixed();
}

// ---- Series

absl::Status IndexWriter::CheckSeries(std::span<const SymbolLabel> labels,
                                      std::span<const ChunkMeta> chunks) const {
  const auto less = [](const SymbolLabel& a, const SymbolLabel& b) {
    return std::pair(a.name, a.value) < std::pair(b.name, b.value);
  };
  if (!std::lexicographical_compare(last_labels_.begin(), last_labels_.end(), labels.begin(),
                                    labels.end(), less)) {
    return base::InvalidArgument("block index: out-of-order series: number=", num_series_);
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].name >= num_symbols_ || labels[i].value >= num_symbols_) {
      return base::InvalidArgument("block index: unknown symbol: series=", num_series_);
    }
    if (i > 0 && labels[i].name <= labels[i - 1].name) {
      return base::InvalidArgument("block index: labels are not sorted: series=", num_series_);
    }
  }
  uint64_t last_ref = last_chunk_ref_;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ChunkMeta& chunk = chunks[i];
    if (chunk.ref < last_ref) {
      return base::InvalidArgument("block index: unsorted chunk reference: ", chunk.ref,
                                   ", previous: ", last_ref);
    }
    last_ref = chunk.ref;
    if (chunk.max_time_ms < chunk.min_time_ms) {
      return base::InvalidArgument("block index: chunk maxT ", chunk.max_time_ms,
                                   " is less than minT ", chunk.min_time_ms);
    }
    if (i > 0 && chunk.min_time_ms <= chunks[i - 1].max_time_ms) {
      return base::InvalidArgument("block index: chunk minT ", chunk.min_time_ms,
                                   " is not higher than previous chunk maxT ",
                                   chunks[i - 1].max_time_ms);
    }
  }
  return absl::OkStatus();
}

void IndexWriter::EncodeSeries(std::span<const SymbolLabel> labels,
                               std::span<const ChunkMeta> chunks) {
  body_.clear();
  base::AppendUvarint(&body_, labels.size());
  for (const SymbolLabel& label : labels) {
    base::AppendUvarint(&body_, label.name);
    base::AppendUvarint(&body_, label.value);
  }
  base::AppendUvarint(&body_, chunks.size());
  const auto difference = [](int64_t a, int64_t b) {
    return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  };
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ChunkMeta& chunk = chunks[i];
    if (i == 0) {
      base::AppendVarint(&body_, chunk.min_time_ms);
    } else {
      base::AppendUvarint(&body_, difference(chunk.min_time_ms, chunks[i - 1].max_time_ms));
    }
    base::AppendUvarint(&body_, difference(chunk.max_time_ms, chunk.min_time_ms));
    if (i == 0) {
      base::AppendUvarint(&body_, chunk.ref);
    } else {
      base::AppendVarint(&body_, static_cast<int64_t>(chunk.ref - chunks[i - 1].ref));
    }
  }
}

absl::Status IndexWriter::AddSeries(std::span<const SymbolLabel> labels,
                                    std::span<const ChunkMeta> chunks) {
  if (!has_series_) NX_RETURN_IF_ERROR(FinishSymbols());
  NX_RETURN_IF_ERROR(CheckSeries(labels, chunks));
  NX_RETURN_IF_ERROR(file_.Pad(kSeriesAlignment));
  NX_RETURN_IF_ERROR(CheckSize());
  EncodeSeries(labels, chunks);
  scratch_.clear();
  base::AppendUvarint(&scratch_, body_.size());
  const uint32_t crc = base::Crc32c(body_);
  base::AppendU32(&body_, crc);
  NX_RETURN_IF_ERROR(file_.Append(scratch_));
  NX_RETURN_IF_ERROR(file_.Append(body_));
  for (const SymbolLabel& label : labels) ++name_counts_[label.name];
  last_labels_.assign(labels.begin(), labels.end());
  if (!chunks.empty()) last_chunk_ref_ = chunks.back().ref;
  ++num_series_;
  return absl::OkStatus();
}

// ---- Postings

template <typename Visitor>
absl::Status IndexWriter::ForEachSeries(Visitor visit) {
  const std::string_view bytes = mapped_->bytes();
  uint64_t dropped = contents_.series;
  uint64_t offset = contents_.series;
  for (uint32_t i = 0; i < num_series_; ++i) {
    offset = (offset + kSeriesAlignment - 1) / kSeriesAlignment * kSeriesAlignment;
    base::Reader reader(View(bytes, offset, contents_.series_end));
    const std::string_view body = reader.LengthPrefixed();
    reader.U32();
    if (!reader.ok()) return base::DataLoss("block index: torn while it is written");
    NX_RETURN_IF_ERROR(visit(static_cast<uint32_t>(offset / kSeriesAlignment), body));
    offset = contents_.series_end - reader.remaining();
    if (offset - dropped >= kWindowBytes) {
      mapped_->DropResident(dropped, offset);
      dropped = offset;
    }
  }
  mapped_->DropResident(dropped, contents_.series_end);
  return absl::OkStatus();
}

absl::Status IndexWriter::BeginList(std::string_view name, std::string_view value, uint64_t count) {
  const uint64_t num_bytes = (count + 1) * sizeof(uint32_t);
  if (num_bytes > kMaxSectionBytes) {
    return base::ResourceExhausted("block index: posting size exceeds 4 bytes: ", num_bytes);
  }
  NX_RETURN_IF_ERROR(file_.Pad(kPostingsAlignment));
  NX_RETURN_IF_ERROR(CheckSize());
  scratch_.clear();
  base::AppendUvarint(&scratch_, 2);
  base::AppendLengthPrefixed(&scratch_, name);
  base::AppendLengthPrefixed(&scratch_, value);
  base::AppendUvarint(&scratch_, file_.size());
  NX_RETURN_IF_ERROR(spilled_.Append(scratch_));
  ++num_lists_;
  scratch_.clear();
  base::AppendU32(&scratch_, static_cast<uint32_t>(num_bytes));
  NX_RETURN_IF_ERROR(file_.Append(scratch_));
  list_crc_ = 0;
  body_.clear();
  base::AppendU32(&body_, static_cast<uint32_t>(count));
  return absl::OkStatus();
}

absl::Status IndexWriter::AddToList(uint32_t ref) {
  base::AppendU32(&body_, ref);
  if (body_.size() < kPieceBytes) return absl::OkStatus();
  list_crc_ = base::ExtendCrc32c(list_crc_, body_);
  NX_RETURN_IF_ERROR(file_.Append(body_));
  body_.clear();
  return absl::OkStatus();
}

absl::Status IndexWriter::EndList() {
  list_crc_ = base::ExtendCrc32c(list_crc_, body_);
  base::AppendU32(&body_, list_crc_);
  return file_.Append(body_);
}

absl::Status IndexWriter::GatherBatch(std::vector<Gathered>* batch) {
  return ForEachSeries([batch](uint32_t ref, std::string_view body) -> absl::Status {
    base::Reader reader(body);
    const uint64_t num_labels = reader.Uvarint();
    // Both the batch and the labels ascend by name.
    auto wanted = batch->begin();
    for (uint64_t i = 0; i < num_labels && reader.ok(); ++i) {
      const auto name = static_cast<Symbol>(reader.Uvarint());
      const uint64_t value = reader.Uvarint();
      while (wanted != batch->end() && wanted->name < name) ++wanted;
      if (wanted == batch->end()) break;
      if (wanted->name == name) wanted->entries.push_back(value << 32 | ref);
    }
    if (!reader.ok()) return base::DataLoss("block index: torn while it is written");
    return absl::OkStatus();
  });
}

absl::Status IndexWriter::WriteBatch(std::vector<Gathered>* batch) {
  NX_RETURN_IF_ERROR(GatherBatch(batch));
  for (Gathered& gathered : *batch) {
    std::vector<uint64_t>& entries = gathered.entries;
    // Fast path: the first label of all series, and one with a single value, come sorted.
    if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
    const std::string name(SymbolText(gathered.name));
    for (size_t i = 0; i < entries.size();) {
      const uint64_t value = entries[i] >> 32;
      size_t end = i;
      while (end < entries.size() && entries[end] >> 32 == value) ++end;
      NX_RETURN_IF_ERROR(BeginList(name, SymbolText(static_cast<Symbol>(value)), end - i));
      for (; i < end; ++i) NX_RETURN_IF_ERROR(AddToList(static_cast<uint32_t>(entries[i])));
      NX_RETURN_IF_ERROR(EndList());
    }
    entries = std::vector<uint64_t>();
  }
  batch->clear();
  return absl::OkStatus();
}

absl::Status IndexWriter::WritePostings() {
  NX_RETURN_IF_ERROR(file_.Flush());
  NX_ASSIGN_OR_RETURN(mapped_, fs_->Map(file_.path()));
  if (mapped_->bytes().size() < contents_.series_end) {
    return base::DataLoss("block index: torn while it is written: ", file_.path());
  }
  NX_ASSIGN_OR_RETURN(spilled_, OutputFile::Create(fs_, spilled_.path()));
  NX_RETURN_IF_ERROR(BeginList("", "", num_series_));
  NX_RETURN_IF_ERROR(
      ForEachSeries([this](uint32_t ref, std::string_view) { return AddToList(ref); }));
  NX_RETURN_IF_ERROR(EndList());
  std::vector<Gathered> batch;
  uint64_t num_entries = 0;
  for (const auto& [name, count] : name_counts_) {
    if (!batch.empty() && num_entries + count > batch_entries_) {
      NX_RETURN_IF_ERROR(WriteBatch(&batch));
      num_entries = 0;
    }
    batch.push_back({.name = name, .entries = {}});
    batch.back().entries.reserve(count);
    num_entries += count;
  }
  NX_RETURN_IF_ERROR(WriteBatch(&batch));
  mapped_.reset();
  return absl::OkStatus();
}

absl::Status IndexWriter::Finish() {
  if (!has_series_) NX_RETURN_IF_ERROR(FinishSymbols());
  contents_.series_end = file_.size();
  NX_RETURN_IF_ERROR(WritePostings());
  contents_.postings_table = file_.size();
  NX_RETURN_IF_ERROR(AppendSpilled(num_lists_, "postings offset table"));
  scratch_.clear();
  base::AppendU64(&scratch_, contents_.symbols);
  base::AppendU64(&scratch_, contents_.series);
  base::AppendU64(&scratch_, contents_.series_end);      // Of label indices, which are no more.
  base::AppendU64(&scratch_, contents_.postings_table);  // Of their table.
  base::AppendU64(&scratch_, contents_.series_end);      // Postings, before their padding.
  base::AppendU64(&scratch_, contents_.postings_table);
  base::AppendU32(&scratch_, base::Crc32c(scratch_));
  NX_RETURN_IF_ERROR(file_.Append(scratch_));
  NX_RETURN_IF_ERROR(CheckSize());
  return file_.Finish();
}

}  // namespace narthex::disk
