// The writer collects whole chunks in a block of memory and hands the block to the file in one
// write. Their places are fixed from the start, so a block that could not be written is kept, and
// Recover() puts it where it belongs after cutting off what the failed write left.
#include <algorithm>
#include <string>
#include <utility>

#include "disk/head_chunks/entry.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/disk/head_chunks.h"

namespace narthex::disk {
namespace {

std::string FileName(uint32_t number) {
  std::string digits = base::StrCat(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return digits;
}

}  // namespace

HeadChunkFiles::HeadChunkFiles(HeadChunkFilesOptions options, base::Fs* fs)
    : options_(std::move(options)), fs_(fs) {}

HeadChunkFiles::~HeadChunkFiles() = default;

absl::StatusOr<HeadChunkRef> HeadChunkFiles::Write(const HeadChunk& chunk) {
  NX_CHECK(chunk.series != model::kNoSeries);
  NX_CHECK_GE(chunk.bytes.size(), kMinChunkBytes);
  NX_RETURN_IF_ERROR(error_);
  const size_t num_bytes = EntryBytes(chunk.bytes.size());
  if (num_bytes > options_.file_bytes - kHeadChunkHeaderBytes) {
    return base::InvalidArgument("head chunks: chunk is longer than a file: bytes=", num_bytes);
  }
  if (!is_current_open_ || end_of_current() + num_bytes > options_.file_bytes) {
    absl::Status status = FinishFile();
    if (status.ok()) status = StartFile();
    if (!status.ok()) return Poison(status);
  }
  if (block_.num_bytes + num_bytes > block_.capacity) {
    if (absl::Status status = FlushBlock(); !status.ok()) return Poison(status);
    const size_t capacity = std::max(options_.buffer_bytes, num_bytes);
    base::MutexLock lock(&mutex_);
    block_ = {capacity, 0, std::shared_ptr<char[]>(new char[capacity])};
  }
  StoreEntry(chunk, block_.bytes.get() + block_.num_bytes);
  const HeadChunkRef ref = {files_.back().number, static_cast<uint32_t>(end_of_current())};
  base::MutexLock lock(&mutex_);
  block_.num_bytes += num_bytes;
  files_.back().max_time_ms = std::max(files_.back().max_time_ms, chunk.max_time_ms);
  return ref;
}

absl::Status HeadChunkFiles::Flush() {
  NX_RETURN_IF_ERROR(error_);
  if (absl::Status status = FlushBlock(); !status.ok()) return Poison(status);
  return absl::OkStatus();
}

absl::Status HeadChunkFiles::FlushBlock() {
  if (block_.num_bytes > 0) NX_RETURN_IF_ERROR(file_->Append(block_.view()));
  base::MutexLock lock(&mutex_);
  if (!files_.empty()) files_.back().num_bytes += block_.num_bytes;
  block_ = Block();
  return absl::OkStatus();
}

absl::Status HeadChunkFiles::StartFile() {
  File file;
  file.number = next_number_;
  file.path = base::StrCat(options_.directory, "/", FileName(file.number));
  const std::string header = HeadChunkFileHeader();
  NX_ASSIGN_OR_RETURN(file_, fs_->Create(file.path));
  absl::Status status = file_->Append(header);
  if (status.ok()) status = fs_->SyncDirectory(options_.directory);
  if (!status.ok()) {
    file_.reset();
    base::IgnoreError(fs_->Remove(file.path), "the next try makes it anew");
    return status;
  }
  file.num_bytes = header.size();
  is_current_open_ = true;
  base::MutexLock lock(&mutex_);
  files_.push_back(std::move(file));
  ++next_number_;
  return absl::OkStatus();
}

// Completed files are synced, so that after a loss of power only the last one can lack its header,
// which Prometheus forgives in no other.
absl::Status HeadChunkFiles::FinishFile() {
  if (!is_current_open_) return absl::OkStatus();
  NX_RETURN_IF_ERROR(FlushBlock());
  NX_RETURN_IF_ERROR(file_->Sync());
  NX_RETURN_IF_ERROR(file_->Close());
  file_.reset();
  is_current_open_ = false;
  return absl::OkStatus();
}

absl::Status HeadChunkFiles::Recover() {
  if (closed_) return error_;
  if (error_.ok()) return absl::OkStatus();
  file_.reset();
  if (is_current_open_) {
    NX_RETURN_IF_ERROR(base::WithContext(RewriteTail(), "head chunks"));
    is_current_open_ = false;
  }
  error_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::Status HeadChunkFiles::RewriteTail() {
  const std::string& path = files_.back().path;
  NX_RETURN_IF_ERROR(fs_->Truncate(path, files_.back().num_bytes));
  NX_ASSIGN_OR_RETURN(file_, fs_->OpenForAppend(path));
  absl::Status status = FlushBlock();
  if (status.ok()) status = file_->Sync();
  file_.reset();
  return status;
}

absl::Status HeadChunkFiles::RemoveFilesBefore(uint32_t file) {
  if (error_.ok()) {
    if (absl::Status status = FinishFile(); !status.ok()) return Poison(status);
  }
  const size_t num_kept = is_current_open_ ? 1 : 0;
  while (files_.size() > num_kept && files_.front().number < file) {
    NX_RETURN_IF_ERROR(
        base::WithContext(fs_->Remove(files_.front().path), "head chunks: remove old file"));
    base::MutexLock lock(&mutex_);
    files_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status HeadChunkFiles::Close() {
  if (closed_) return absl::OkStatus();
  absl::Status status = Recover();
  if (status.ok()) status = FinishFile();
  closed_ = true;
  file_.reset();
  error_ = base::FailedPrecondition("head chunks: files are closed");
  return status;
}

absl::Status HeadChunkFiles::Poison(const absl::Status& status) {
  const HeadChunkRef at = end();
  error_ = base::WithContext(
      status, base::StrCat("head chunks: write: file=", at.file, " offset=", at.offset));
  return error_;
}

}  // namespace narthex::disk
