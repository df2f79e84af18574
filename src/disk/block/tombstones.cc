//   magic u32 | version u8 | entries: ref uvarint, min varint, max varint | CRC-32C of the entries
#include "narthex/disk/tombstones.h"

#include <algorithm>
#include <limits>

#include "disk/block/replace_file.h"
#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"

namespace narthex::disk {
namespace {

using model::TimeRange;

constexpr std::string_view kFileName = "tombstones";
constexpr uint32_t kMagic = 0x0130ba30;
constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 5;
constexpr size_t kCrcBytes = 4;

// Whether an interval that ends at `end` reaches one that begins at `begin`: times are whole, so
// neighbours touch.
bool Reaches(int64_t end, int64_t begin) {
  return end == std::numeric_limits<int64_t>::max() || end + 1 >= begin;
}

}  // namespace

void AddInterval(TimeRange interval, std::vector<TimeRange>* intervals) {
  if (interval.min_time_ms > interval.max_time_ms) return;
  // [first, last) become one with the new one.
  const auto first = std::partition_point(
      intervals->begin(), intervals->end(),
      [&](const TimeRange& one) { return !Reaches(one.max_time_ms, interval.min_time_ms); });
  const auto last = std::partition_point(first, intervals->end(), [&](const TimeRange& one) {
    return Reaches(interval.max_time_ms, one.min_time_ms);
  });
  if (first == last) {
    intervals->insert(first, interval);
    return;
  }
  first->min_time_ms = std::min(first->min_time_ms, interval.min_time_ms);
  first->max_time_ms = std::max((last - 1)->max_time_ms, interval.max_time_ms);
  intervals->erase(first + 1, last);
}

bool IsCovered(TimeRange range, std::span<const TimeRange> intervals) {
  const auto first = std::partition_point(
      intervals.begin(), intervals.end(),
      [&](const TimeRange& one) { return one.max_time_ms < range.min_time_ms; });
  return first != intervals.end() && first->min_time_ms <= range.min_time_ms &&
         range.max_time_ms <= first->max_time_ms;
}

void Tombstones::Add(uint64_t series_ref, TimeRange interval) {
  if (interval.min_time_ms > interval.max_time_ms) return;
  AddInterval(interval, &by_series_[series_ref]);
}

std::span<const TimeRange> Tombstones::Get(uint64_t series_ref) const {
  const auto found = by_series_.find(series_ref);
  if (found == by_series_.end()) return {};
  return found->second;
}

size_t Tombstones::num_intervals() const {
  size_t sum = 0;
  for (const auto& [ref, intervals] : by_series_) sum += intervals.size();
  return sum;
}

std::string FormatTombstones(const Tombstones& tombstones) {
  std::string bytes;
  base::AppendU32(&bytes, kMagic);
  base::AppendU8(&bytes, kVersion);
  for (const auto& [ref, intervals] : tombstones.by_series()) {
    for (const TimeRange& interval : intervals) {
      base::AppendUvarint(&bytes, ref);
      base::AppendVarint(&bytes, interval.min_time_ms);
      base::AppendVarint(&bytes, interval.max_time_ms);
    }
  }
  base::AppendU32(&bytes, base::Crc32c(std::string_view(bytes).substr(kHeaderBytes)));
  return bytes;
}

absl::StatusOr<Tombstones> ParseTombstones(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes + kCrcBytes) {
    return base::DataLoss("file is too short: bytes=", bytes.size());
  }
  base::Reader header(bytes);
  if (header.U32() != kMagic) return base::DataLoss("wrong magic number");
  if (const uint8_t version = header.U8(); version != kVersion) {
    return base::DataLoss("unknown version ", unsigned{version});
  }
  const std::string_view entries =
      bytes.substr(kHeaderBytes, bytes.size() - kHeaderBytes - kCrcBytes);
  if (base::LoadBigEndian<uint32_t>(entries.data() + entries.size()) != base::Crc32c(entries)) {
    return base::DataLoss("bad crc");
  }
  Tombstones tombstones;
  base::Reader reader(entries);
  while (!reader.empty()) {
    const size_t offset = bytes.size() - kCrcBytes - reader.remaining();
    const uint64_t ref = reader.Uvarint();
    const int64_t min_time_ms = reader.Varint();
    const int64_t max_time_ms = reader.Varint();
    if (!reader.ok()) return base::DataLoss("bad entry: offset=", offset);
    tombstones.Add(ref, {min_time_ms, max_time_ms});
  }
  return tombstones;
}

absl::StatusOr<Tombstones> ReadTombstones(base::Fs* fs, const std::string& block_directory) {
  const std::string path = base::StrCat(block_directory, "/", kFileName);
  const absl::StatusOr<std::string> bytes = fs->ReadFile(path);
  if (bytes.status().code() == absl::StatusCode::kNotFound) return Tombstones();
  NX_RETURN_IF_ERROR(bytes.status());
  absl::StatusOr<Tombstones> tombstones = ParseTombstones(*bytes);
  if (!tombstones.ok()) {
    return base::WithContext(tombstones.status(), base::StrCat("tombstones: ", path));
  }
  return tombstones;
}

absl::Status WriteTombstones(base::Fs* fs, const std::string& block_directory,
                             const Tombstones& tombstones) {
  return base::WithContext(
      ReplaceFile(fs, block_directory, kFileName, FormatTombstones(tombstones)), "tombstones");
}

}  // namespace narthex::disk
