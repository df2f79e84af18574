// The writer collects the fragments of a Log() call in memory and hands them to the file in one
// write, so that a record reaches the segment whole or is cut off with the rest of its call.
//
// A failed write may leave any part of the call's bytes in the file. The writer remembers where the
// last acknowledged record ends; Recover() truncates to there. A crash before Recover() leaves a
// torn tail, which is what readers and repair expect after any crash.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "disk/wal/cut_back.h"
#include "disk/wal/format.h"
#include "disk/wal/record_compression.h"
#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal.h"

namespace narthex::disk {
namespace {

// Longer calls are written in pieces.
constexpr size_t kFlushBytes = 4 << 20;

void Count(base::Counter* counter, uint64_t delta) {
  if (counter != nullptr) counter->Add(static_cast<double>(delta));
}

uint64_t BytesLeftInPage(uint64_t offset) { return kWalPageBytes - offset % kWalPageBytes; }

FragmentType TypeOfPart(bool is_first, bool is_last) {
  if (is_first) return is_last ? kWhole : kFirst;
  return is_last ? kLast : kMiddle;
}

}  // namespace

WalWriter::WalWriter(WalWriterOptions options, base::Fs* fs)
    : options_(std::move(options)),
      fs_(fs),
      compressor_(std::make_unique<RecordCompressor>(options_.compression)) {}

WalWriter::~WalWriter() = default;

absl::StatusOr<std::unique_ptr<WalWriter>> WalWriter::Open(WalWriterOptions options, base::Fs* fs) {
  if (options.segment_bytes == 0 || options.segment_bytes % kWalPageBytes != 0) {
    return base::InvalidArgument("wal: segment size is no multiple of the page size: bytes=",
                                 options.segment_bytes);
  }
  NX_RETURN_IF_ERROR(fs->CreateDirectories(options.directory));
  NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> segments, ListWalSegments(fs, options.directory));
  std::unique_ptr<WalWriter> writer(new WalWriter(std::move(options), fs));
  NX_RETURN_IF_ERROR(writer->CreateSegment(segments.empty() ? 0 : segments.back() + 1));
  writer->acknowledged_ = {writer->segment_, 0};
  return writer;
}

absl::Status WalWriter::Log(std::span<const std::string_view> records) {
  NX_RETURN_IF_ERROR(error_);
  for (const std::string_view record : records) {
    if (absl::Status status = Add(record); !status.ok()) return Poison(std::move(status));
  }
  if (absl::Status status = Flush(); !status.ok()) return Poison(std::move(status));
  acknowledged_ = {segment_, flushed_};
  return absl::OkStatus();
}

absl::Status WalWriter::Add(std::string_view record) {
  const auto [bytes, type_bits] = compressor_->Compress(record);
  Count(options_.metrics.record_bytes_saved, record.size() - bytes.size());
  // A record never crosses a segment; one longer than a segment makes a longer one.
  if (end() > 0 && bytes.size() > PayloadLeftInSegment()) {
    NX_RETURN_IF_ERROR(FinishSegment());
    NX_RETURN_IF_ERROR(CreateSegment(segment_ + 1));
  }
  std::string_view rest = bytes;
  bool is_first = true;
  do {  // Once at least: empty records are records too.
    const std::string_view part = rest.substr(0, BytesLeftInPage(end()) - kFragmentHeaderBytes);
    rest.remove_prefix(part.size());
    const FragmentType type = TypeOfPart(is_first, rest.empty());
    is_first = false;
    base::AppendU8(&buffer_, static_cast<uint8_t>(type | type_bits));
    base::AppendU16(&buffer_, static_cast<uint16_t>(part.size()));
    base::AppendU32(&buffer_, base::Crc32c(part));
    buffer_.append(part);
    Count(options_.metrics.record_parts, 1);
    Count(options_.metrics.record_parts_bytes, part.size() + kFragmentHeaderBytes);
    if (const uint64_t left = BytesLeftInPage(end()); left < kFragmentHeaderBytes) {
      buffer_.append(left, '\0');
    }
  } while (!rest.empty());
  return buffer_.size() < kFlushBytes ? absl::OkStatus() : Flush();
}

// There is always room for a header: pages with less are filled at once.
uint64_t WalWriter::PayloadLeftInSegment() const {
  if (end() >= options_.segment_bytes) return 0;
  const uint64_t left_in_page = BytesLeftInPage(end());
  const uint64_t pages_after = (options_.segment_bytes - end() - left_in_page) / kWalPageBytes;
  return left_in_page - kFragmentHeaderBytes + pages_after * (kWalPageBytes - kFragmentHeaderBytes);
}

absl::Status WalWriter::Flush() {
  if (buffer_.empty()) return absl::OkStatus();
  NX_RETURN_IF_ERROR(file_->Append(buffer_));
  Count(options_.metrics.page_flushes, 1);
  Count(options_.metrics.completed_pages, end() / kWalPageBytes - flushed_ / kWalPageBytes);
  flushed_ = end();
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status WalWriter::FinishSegment() {
  if (end() % kWalPageBytes != 0) buffer_.append(BytesLeftInPage(end()), '\0');
  NX_RETURN_IF_ERROR(Flush());
  NX_RETURN_IF_ERROR(file_->Sync());
  return file_->Close();
}

absl::Status WalWriter::CreateSegment(uint64_t number) {
  NX_ASSIGN_OR_RETURN(file_, fs_->Create(SegmentPath(number)));
  // Else a power loss could take the file with all that is synced in it.
  NX_RETURN_IF_ERROR(fs_->SyncDirectory(options_.directory));
  segment_ = number;
  flushed_ = 0;
  if (options_.metrics.current_segment != nullptr) {
    options_.metrics.current_segment->Set(static_cast<double>(number));
  }
  return absl::OkStatus();
}

absl::Status WalWriter::Sync() {
  NX_RETURN_IF_ERROR(error_);
  if (absl::Status status = file_->Sync(); !status.ok()) return Poison(std::move(status));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> WalWriter::StartSegment() {
  NX_RETURN_IF_ERROR(error_);
  absl::Status status = FinishSegment();
  if (status.ok()) status = CreateSegment(segment_ + 1);
  if (!status.ok()) return Poison(std::move(status));
  acknowledged_ = {segment_, 0};
  return segment_;
}

absl::Status WalWriter::RemoveSegmentsBefore(uint64_t segment) {
  NX_ASSIGN_OR_RETURN(const std::vector<uint64_t> segments,
                      ListWalSegments(fs_, options_.directory));
  for (const uint64_t number : segments) {
    if (number >= segment || number >= segment_) break;
    NX_RETURN_IF_ERROR(fs_->Remove(SegmentPath(number)));
  }
  return absl::OkStatus();
}

absl::Status WalWriter::Recover() {
  if (closed_) return error_;
  if (error_.ok()) return absl::OkStatus();
  file_.reset();
  buffer_.clear();
  NX_RETURN_IF_ERROR(CutBackTo(fs_, options_.directory, acknowledged_));
  // A segment with nothing in it is used again: a full disk that is tried over and over must not
  // fill the directory with empty files.
  NX_RETURN_IF_ERROR(CreateSegment(acknowledged_.segment + (acknowledged_.offset == 0 ? 0 : 1)));
  acknowledged_ = {segment_, 0};
  error_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::Status WalWriter::Close() {
  if (closed_) return absl::OkStatus();
  closed_ = true;
  absl::Status status = error_.ok() ? FinishSegment() : error_;
  file_.reset();
  error_ = base::FailedPrecondition("wal: writer is closed");
  return status;
}

absl::Status WalWriter::Poison(absl::Status status) {
  Count(options_.metrics.writes_failed, 1);
  error_ = base::WithContext(status, base::StrCat("wal: segment=", segment_, " offset=", flushed_));
  return error_;
}

std::string WalWriter::SegmentPath(uint64_t number) const {
  return base::StrCat(options_.directory, "/", WalSegmentName(number));
}

}  // namespace narthex::disk
