// Readers keep what they may look at: mapped files and the writer's block as they were when first
// needed. A chunk beyond that asks the files for a newer window.
#include <string>
#include <utility>

#include "disk/head_chunks/entry.h"
#include "narthex/base/status.h"
#include "narthex/disk/head_chunks.h"

namespace narthex::disk {

HeadChunkFiles::File* HeadChunkFiles::FindFile(uint32_t number) const {
  if (files_.empty() || number < files_.front().number || number > files_.back().number) {
    return nullptr;
  }
  return &files_[number - files_.front().number];
}

absl::StatusOr<HeadChunkFiles::Window> HeadChunkFiles::WindowAt(HeadChunkRef ref) const {
  base::MutexLock lock(&mutex_);
  File* const file = FindFile(ref.file);
  if (file == nullptr) return base::NotFound("head chunks: no such file: file=", ref.file);
  if (ref.offset >= file->num_bytes) {
    const bool is_in_block = file == &files_.back() && block_.num_bytes > 0 &&
                             ref.offset < file->num_bytes + block_.num_bytes;
    if (!is_in_block) {
      return base::NotFound("head chunks: beyond the end: file=", ref.file, " offset=", ref.offset);
    }
    return Window{ref.file, file->num_bytes, block_.view(), block_.bytes};
  }
  if (file->mapping == nullptr || file->mapping->bytes().size() < file->num_bytes) {
    NX_ASSIGN_OR_RETURN(file->mapping, fs_->Map(file->path));
  }
  return Window{ref.file, 0, file->mapping->bytes().substr(0, file->num_bytes), file->mapping};
}

uint32_t HeadChunkFiles::FirstFileSince(int64_t min_time_ms) const {
  base::MutexLock lock(&mutex_);
  for (const File& file : files_) {
    if (file.max_time_ms >= min_time_ms) return file.number;
  }
  return next_number_;
}

HeadChunkRef HeadChunkFiles::end() const {
  base::MutexLock lock(&mutex_);
  if (files_.empty()) return {};
  return {files_.back().number, static_cast<uint32_t>(files_.back().num_bytes + block_.num_bytes)};
}

uint64_t HeadChunkFiles::num_bytes() const {
  base::MutexLock lock(&mutex_);
  uint64_t sum = block_.num_bytes;
  for (const File& file : files_) sum += file.num_bytes;
  return sum;
}

void HeadChunkFiles::DropMappings() {
  base::MutexLock lock(&mutex_);
  for (File& file : files_) file.mapping.reset();
}

absl::StatusOr<HeadChunk> HeadChunkReader::Get(HeadChunkRef ref) {
  const auto covers = [&](const HeadChunkFiles::Window& window) {
    return window.file == ref.file && ref.offset >= window.begin &&
           ref.offset - window.begin < window.bytes.size();
  };
  if (last_ >= windows_.size() || !covers(windows_[last_])) {
    for (last_ = 0; last_ < windows_.size() && !covers(windows_[last_]);) ++last_;
  }
  if (last_ == windows_.size()) {
    // Slow path: the first look at a file, or the file has grown.
    NX_ASSIGN_OR_RETURN(HeadChunkFiles::Window window, files_->WindowAt(ref));
    for (last_ = 0; last_ < windows_.size(); ++last_) {
      if (windows_[last_].file == window.file && windows_[last_].begin == window.begin) break;
    }
    if (last_ == windows_.size()) {
      windows_.push_back(std::move(window));
    } else {
      std::swap(windows_[last_], window);
      if (window.pin != windows_[last_].pin) older_.push_back(std::move(window.pin));
    }
  }
  const HeadChunkFiles::Window& window = windows_[last_];
  const ParsedEntry entry = ParseEntry(window.bytes.substr(ref.offset - window.begin));
  if (!entry.fault.empty()) {
    return base::DataLoss("head chunks: ", entry.fault, ": file=", ref.file,
                          " offset=", ref.offset);
  }
  return entry.chunk;
}

}  // namespace narthex::disk
