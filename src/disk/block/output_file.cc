#include "disk/block/output_file.h"

#include <utility>

#include "narthex/base/status.h"

namespace narthex::disk {
namespace {

constexpr size_t kBufferBytes = 256 << 10;

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(base::Fs* fs, std::string path) {
  NX_ASSIGN_OR_RETURN(std::unique_ptr<base::WritableFile> file, fs->Create(path));
  return OutputFile(std::move(path), std::move(file));
}

absl::Status OutputFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) NX_RETURN_IF_ERROR(Flush());
  if (bytes.size() > kBufferBytes) return file_->Append(bytes);
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status OutputFile::Pad(size_t alignment) {
  const size_t rest = size_ % alignment;
  return rest == 0 ? absl::OkStatus() : Append(std::string(alignment - rest, '\0'));
}

absl::Status OutputFile::Flush() {
  if (buffer_.empty()) return absl::OkStatus();
  NX_RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  NX_RETURN_IF_ERROR(Flush());
  NX_RETURN_IF_ERROR(file_->Sync());
  return file_->Close();
}

absl::Status OutputFile::Close() {
  NX_RETURN_IF_ERROR(Flush());
  return file_->Close();
}

}  // namespace narthex::disk
