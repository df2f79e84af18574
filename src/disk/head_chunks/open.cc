// Opening head chunk files: every chunk is checked once. What follows the first damage goes away,
// later files first, so that a process that dies in between leaves the same damage to find.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "disk/file_number.h"
#include "disk/head_chunks/entry.h"
#include "narthex/base/bytes.h"
#include "narthex/base/status.h"
#include "narthex/disk/head_chunks.h"

namespace narthex::disk {
namespace {

// The last file of a process that died, or lost its power, right after starting it.
bool WasNeverWritten(std::string_view bytes) {
  return bytes.size() < kHeadChunkHeaderBytes || base::LoadBigEndian<uint32_t>(bytes.data()) == 0;
}

// Empty if the header is right.
std::string_view HeaderFault(std::string_view bytes) {
  if (bytes.size() < kHeadChunkHeaderBytes) return "torn file header";
  if (base::LoadBigEndian<uint32_t>(bytes.data()) != kHeadChunkMagic) return "wrong magic number";
  return {};
}

}  // namespace

absl::StatusOr<std::unique_ptr<HeadChunkFiles>> HeadChunkFiles::Open(HeadChunkFilesOptions options,
                                                                     base::Fs* fs,
                                                                     const Visitor& visit) {
  NX_RETURN_IF_ERROR(fs->CreateDirectories(options.directory));
  std::unique_ptr<HeadChunkFiles> files(new HeadChunkFiles(std::move(options), fs));
  if (absl::Status status = files->Load(visit); !status.ok()) {
    return base::WithContext(status, "head chunks");
  }
  return files;
}

absl::StatusOr<std::deque<HeadChunkFiles::File>> HeadChunkFiles::ListFiles() const {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs_->List(options_.directory));
  std::deque<File> files;
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = ParseFileNumber(name);
    if (!number.has_value() || *number == 0 || *number > UINT32_MAX) continue;
    File& file = files.emplace_back();
    file.number = static_cast<uint32_t>(*number);
    file.path = base::StrCat(options_.directory, "/", name);
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const File& a, const File& b) { return a.number < b.number; });
  return files;
}

absl::Status HeadChunkFiles::Load(const Visitor& visit) {
  NX_ASSIGN_OR_RETURN(std::deque<File> files, ListFiles());
  if (!files.empty()) {
    NX_ASSIGN_OR_RETURN(const std::unique_ptr<base::MappedFile> last, fs_->Map(files.back().path));
    if (WasNeverWritten(last->bytes())) {
      NX_RETURN_IF_ERROR(fs_->Remove(files.back().path));
      files.pop_back();
    }
  }
  size_t num_good = 0;
  for (; num_good < files.size(); ++num_good) {
    File& file = files[num_good];
    if (num_good > 0 && file.number != files[num_good - 1].number + 1) {
      damage_ = {{file.number, 0}, "files are not sequential", 0};
      break;
    }
    NX_ASSIGN_OR_RETURN(const bool is_good, LoadFile(&file, visit));
    if (!is_good) break;
  }
  if (damage_.has_value()) {
    NX_RETURN_IF_ERROR(CutOff(files, num_good));
    const bool keeps_damaged = damage_->at.offset > kHeadChunkHeaderBytes;
    files.resize(num_good + (keeps_damaged ? 1 : 0));
  }
  base::MutexLock lock(&mutex_);
  files_ = std::move(files);
  if (!files_.empty()) next_number_ = files_.back().number + 1;
  return absl::OkStatus();
}

// False: damaged, as `damage_` says; what comes before it was shown to `visit` and counts.
absl::StatusOr<bool> HeadChunkFiles::LoadFile(File* file, const Visitor& visit) {
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<base::MappedFile> mapping, fs_->Map(file->path));
  const std::string_view bytes = mapping->bytes();
  const auto damaged_at = [&](uint64_t offset, std::string_view reason) {
    damage_ = {{file->number, static_cast<uint32_t>(offset)}, std::string(reason), 0};
    return false;
  };
  if (const std::string_view fault = HeaderFault(bytes); !fault.empty()) {
    return damaged_at(0, fault);
  }
  if (const auto version = static_cast<uint8_t>(bytes[4]); version != kHeadChunkVersion) {
    return base::DataLoss("unknown format version: file=", file->path, " version=", version);
  }
  uint64_t offset = kHeadChunkHeaderBytes;
  file->num_bytes = offset;
  while (offset < bytes.size() && !IsEndOfEntries(bytes.substr(offset))) {
    const ParsedEntry entry = ParseEntry(bytes.substr(offset));
    if (!entry.fault.empty()) return damaged_at(offset, entry.fault);
    if (offset > UINT32_MAX) return damaged_at(UINT32_MAX, "file is too long");
    if (!visit({file->number, static_cast<uint32_t>(offset)}, entry.chunk)) {
      return damaged_at(offset, "chunk does not follow the one before it");
    }
    file->max_time_ms = std::max(file->max_time_ms, entry.chunk.max_time_ms);
    offset += entry.num_bytes;
    file->num_bytes = offset;
  }
  return true;
}

absl::Status HeadChunkFiles::CutOff(std::deque<File> files, size_t damaged) {
  while (files.size() > damaged + 1) {
    NX_RETURN_IF_ERROR(fs_->Remove(files.back().path));
    files.pop_back();
    ++damage_->num_files_removed;
  }
  if (damage_->at.offset > kHeadChunkHeaderBytes) {
    NX_RETURN_IF_ERROR(fs_->Truncate(files.back().path, damage_->at.offset));
  } else {
    NX_RETURN_IF_ERROR(fs_->Remove(files.back().path));
    ++damage_->num_files_removed;
  }
  return fs_->SyncDirectory(options_.directory);
}

}  // namespace narthex::disk
