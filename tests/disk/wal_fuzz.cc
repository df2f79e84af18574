// Any bytes as a record, and as the only segment of a log: it is read up to its damage, repaired,
// and then reads the same without damage.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/disk/wal.h"
#include "tests/disk/decode_any.h"
#include "tests/support/fault_fs.h"

namespace narthex::disk {
namespace {

std::vector<std::string> ReadLog(base::Fs* fs, std::optional<WalDamage>* damage) {
  auto reader = WalReader::Open(fs, "wal").value();
  std::vector<std::string> records;
  while (reader->Next()) {
    records.emplace_back(reader->record());
    DecodeAny(reader->record());
  }
  *damage = reader->damage();
  return records;
}

void FuzzSegment(std::string_view bytes) {
  support::FaultFs fs;
  NX_CHECK(fs.CreateDirectories("wal").ok());
  NX_CHECK(fs.Create("wal/00000000").value()->Append(bytes).ok());
  std::optional<WalDamage> damage;
  const std::vector<std::string> records = ReadLog(&fs, &damage);
  if (!damage.has_value()) return;
  NX_CHECK(RepairWal(&fs, "wal", *damage).ok());
  NX_CHECK(ReadLog(&fs, &damage) == records);
  NX_CHECK(!damage.has_value());
}

}  // namespace
}  // namespace narthex::disk

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  narthex::disk::DecodeAny(bytes);
  narthex::disk::FuzzSegment(bytes);
  return 0;
}
