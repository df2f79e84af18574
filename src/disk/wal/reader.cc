#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "disk/wal/format.h"
#include "disk/wal/record_compression.h"
#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal.h"

namespace narthex::disk {
namespace {

bool AllZero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// A fragment as far as it can be judged alone.
struct Fragment {
  uint8_t type = 0;
  std::string_view payload;
  uint64_t end = 0;       // Offset after it.
  std::string_view flaw;  // Not empty: what is wrong with it.
};

// REQUIRES: offset < segment.size(), no page end at `offset`.
Fragment ReadFragment(std::string_view segment, uint64_t offset) {
  const uint64_t page_end = offset - offset % kWalPageBytes + kWalPageBytes;
  base::Reader reader(segment.substr(offset));
  Fragment fragment;
  fragment.type = reader.U8();
  const uint16_t length = reader.U16();
  const uint32_t crc = reader.U32();
  fragment.end = offset + kFragmentHeaderBytes + length;
  fragment.payload = reader.Bytes(length);
  if (offset + kFragmentHeaderBytes > page_end || (reader.ok() && fragment.end > page_end)) {
    fragment.flaw = "fragment crosses its page";
  } else if (!reader.ok()) {
    fragment.flaw = "last record is torn";
  } else if (base::Crc32c(fragment.payload) != crc) {
    fragment.flaw = "bad crc";
  }
  return fragment;
}

}  // namespace

WalReader::WalReader(base::Fs* fs, std::vector<Segment> segments)
    : fs_(fs), segments_(std::move(segments)) {}

WalReader::~WalReader() = default;

absl::StatusOr<std::unique_ptr<WalReader>> WalReader::Open(base::Fs* fs,
                                                           const std::string& directory) {
  std::vector<Segment> segments;
  if (!fs->Exists(directory)) {
    return std::unique_ptr<WalReader>(new WalReader(fs, std::move(segments)));
  }
  NX_ASSIGN_OR_RETURN(const std::optional<WalCheckpoint> checkpoint,
                      FindLastCheckpoint(fs, directory));
  if (checkpoint.has_value()) {
    NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListWalSegments(fs, checkpoint->path));
    for (const uint64_t number : numbers) {
      segments.push_back(
          {base::StrCat(checkpoint->path, "/", WalSegmentName(number)), number, true});
    }
  }
  NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListWalSegments(fs, directory));
  if (checkpoint.has_value() && !numbers.empty() &&
      numbers.front() > checkpoint->last_segment + 1) {
    return base::DataLoss("wal: segments after the checkpoint are missing: checkpoint=",
                          checkpoint->last_segment, " first segment=", numbers.front());
  }
  for (const uint64_t number : numbers) {
    if (checkpoint.has_value() && number <= checkpoint->last_segment) continue;
    segments.push_back({base::StrCat(directory, "/", WalSegmentName(number)), number, false});
  }
  return std::unique_ptr<WalReader>(new WalReader(fs, std::move(segments)));
}

absl::StatusOr<std::unique_ptr<WalReader>> WalReader::OpenSegments(base::Fs* fs,
                                                                   const std::string& directory,
                                                                   uint64_t first, uint64_t last) {
  NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListWalSegments(fs, directory));
  std::vector<Segment> segments;
  for (const uint64_t number : numbers) {
    if (number < first || number > last) continue;
    segments.push_back({base::StrCat(directory, "/", WalSegmentName(number)), number, false});
  }
  return std::unique_ptr<WalReader>(new WalReader(fs, std::move(segments)));
}

bool WalReader::in_checkpoint() const {
  return next_segment_ > 0 && segments_[next_segment_ - 1].in_checkpoint;
}

bool WalReader::Next() {
  record_ = {};
  while (status_.ok() && !damage_.has_value()) {
    if (file_ != nullptr) {
      const Step step = NextInSegment();
      if (step != Step::kEndOfSegment) return step == Step::kRecord;
      file_.reset();
    }
    if (next_segment_ == segments_.size()) return false;
    const Segment& segment = segments_[next_segment_];
    absl::StatusOr<std::unique_ptr<base::MappedFile>> file = fs_->Map(segment.path);
    if (!file.ok()) {
      status_ = base::WithContext(file.status(), "wal");
      return false;
    }
    file_ = *std::move(file);
    position_ = {segment.number, 0};
    ++next_segment_;
  }
  return false;
}

WalReader::Step WalReader::NextInSegment() {
  const std::string_view segment = file_->bytes();
  uint64_t offset = position_.offset;
  assembled_.clear();
  bool in_record = false;
  while (offset < segment.size()) {
    const auto type = static_cast<uint8_t>(segment[offset]);
    if ((type & kFragmentTypeMask) == kPageEnd) {
      const uint64_t page_end = offset - offset % kWalPageBytes + kWalPageBytes;
      if (!AllZero(segment.substr(offset + 1, page_end - offset - 1))) {
        return Damage("unexpected non-zero byte in padded page");
      }
      offset = page_end;
      continue;
    }
    const Fragment fragment = ReadFragment(segment, offset);
    if (!fragment.flaw.empty()) return Damage(std::string(fragment.flaw));
    offset = fragment.end;
    const uint8_t part = type & kFragmentTypeMask;
    const bool starts = part == kWhole || part == kFirst;
    if (part > kLast || starts == in_record) return Damage("unexpected fragment type");
    if (part == kWhole) return Finish(type, fragment.payload, offset);
    assembled_.append(fragment.payload);
    in_record = true;
    if (part == kLast) return Finish(type, assembled_, offset);
    if (assembled_.size() > kMaxWalRecordBytes) return Damage("record is too long");
  }
  return in_record ? Damage("last record is torn") : Step::kEndOfSegment;
}

WalReader::Step WalReader::Finish(uint8_t type, std::string_view bytes, uint64_t end) {
  if ((type & (kSnappyBit | kZstdBit)) == 0) {
    record_ = bytes;  // Fast path: a view into the segment or the assembled fragments.
  } else {
    if (!DecompressRecord(type, bytes, &decompressed_)) return Damage("record does not decompress");
    record_ = decompressed_;
  }
  position_.offset = end;
  return Step::kRecord;
}

WalReader::Step WalReader::Damage(std::string reason) {
  damage_ = WalDamage{position_, in_checkpoint(), std::move(reason)};
  return Step::kDamaged;
}

}  // namespace narthex::disk
