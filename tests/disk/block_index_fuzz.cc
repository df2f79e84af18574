// Any bytes as an index, with the checksums of its sections made right, so that what they guard is
// reached.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/base/bytes.h"
#include "narthex/base/check.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"
#include "narthex/disk/block_index.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

constexpr size_t kContentsBytes = 52;

void FixSection(std::string* bytes, uint64_t offset) {
  if (offset > bytes->size() || bytes->size() - offset < 8) return;
  const uint64_t num_bytes = base::LoadBigEndian<uint32_t>(bytes->data() + offset);
  if (num_bytes > bytes->size() - offset - 8) return;
  const uint32_t crc = base::Crc32c(std::string_view(*bytes).substr(offset + 4, num_bytes));
  base::StoreBigEndian(bytes->data() + offset + 4 + num_bytes, crc);
}

void FixChecksums(std::string* bytes) {
  if (bytes->size() < kContentsBytes) return;
  const size_t contents = bytes->size() - kContentsBytes;
  FixSection(bytes, base::LoadBigEndian<uint64_t>(bytes->data() + contents));
  FixSection(bytes, base::LoadBigEndian<uint64_t>(bytes->data() + contents + 40));
  const uint32_t crc = base::Crc32c(std::string_view(*bytes).substr(contents, 48));
  base::StoreBigEndian(bytes->data() + contents + 48, crc);
}

void ReadAll(const BlockIndex& index) {
  for (const std::string_view name : index.LabelNames()) {
    NX_CHECK(index
                 .ForEachValue(name,
                               [&](std::string_view value, uint64_t place) {
                                 NX_CHECK(index.FindList(name, value).value() == place);
                                 index.CountOf(place);
                                 Refs refs;
                                 base::IgnoreError(index.AppendList(place, &refs), "any bytes");
                               })
                 .ok());
  }
  index.ForEachSymbol([&](model::Symbol symbol, std::string_view text) {
    NX_CHECK(index.Text(symbol) == text);
    index.Find(text);
    return true;
  });
  const auto all = index.AllSeries();
  if (!all.ok()) return;
  SeriesEntry entry;
  for (PostingsCursor cursor = *all; !cursor.done(); cursor.Next()) {
    if (!index.ReadSeries(cursor.ref(), &entry).ok()) continue;
    for (const model::SymbolLabel& label : entry.labels) index.Text(label.value);
  }
}

void FuzzIndex(std::string bytes) {
  for (const bool fixed : {false, true}) {
    if (fixed) FixChecksums(&bytes);
    support::FaultFs fs;
    NX_CHECK(fs.CreateDirectories("block").ok());
    NX_CHECK(fs.Create("block/index").value()->Append(bytes).ok());
    const auto index = BlockIndex::Open(&fs, "block/index");
    if (index.ok()) ReadAll(**index);
  }
}

}  // namespace
}  // namespace narthex::disk

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  narthex::disk::FuzzIndex({reinterpret_cast<const char*>(data), size});
  return 0;
}
