// A file written front to back through a buffer of fixed size. Thread-compatible.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"

namespace narthex::disk {

class OutputFile {
 public:
  // Creates or truncates.
  static absl::StatusOr<OutputFile> Create(base::Fs* fs, std::string path);

  absl::Status Append(std::string_view bytes);
  // Zeroes up to a multiple of `alignment`.
  absl::Status Pad(size_t alignment);
  absl::Status Flush();
  // Flushes, syncs and closes.
  absl::Status Finish();
  // Flushes and closes without syncing, for files that will not stay.
  absl::Status Close();

  // Bytes appended.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  OutputFile(std::string path, std::unique_ptr<base::WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::unique_ptr<base::WritableFile> file_;
  std::string buffer_;
  uint64_t size_ = 0;
};

}  // namespace narthex::disk
