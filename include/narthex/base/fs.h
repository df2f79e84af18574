// The file system as an injected interface, so that tests fail or cut any operation. Paths are
// byte strings. Errors are kNotFound, kResourceExhausted (no space) or kUnavailable, with path and
// reason. Implementations are thread-safe; one file object is thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace narthex::base {

// A file that is written front to back. After a failed Append or Sync it is poisoned: every later
// call fails.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // Closes without syncing.
  // All of `bytes` or an error (a part may have reached the file).
  virtual absl::Status Append(std::string_view bytes) = 0;
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
  virtual uint64_t size() const = 0;
};

// A whole file, mapped read-only.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  // Valid as long as this object.
  virtual std::string_view bytes() const = 0;
  // Lets go of the pages within [begin, end), so that they do not count as resident memory until
  // they are read again. What they say stays.
  virtual void DropResident(uint64_t /*begin*/, uint64_t /*end*/) const {}
};

// An exclusive lock on a file, held until destruction.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Fs {
 public:
  virtual ~Fs() = default;
  // Creates or truncates.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) = 0;
  virtual absl::StatusOr<std::string> ReadFile(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<MappedFile>> Map(const std::string& path) = 0;
  virtual absl::StatusOr<uint64_t> FileSize(const std::string& path) = 0;
  virtual bool Exists(const std::string& path) = 0;
  // Names (not paths) of a directory's entries, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  virtual absl::Status CreateDirectories(const std::string& path) = 0;
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  virtual absl::Status RemoveAll(const std::string& path) = 0;
  virtual absl::Status Truncate(const std::string& path, uint64_t size) = 0;
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // flock(2), exclusive, non-blocking; the file is made if missing. kFailedPrecondition: held by
  // another process (its pid is named where the kernel tells it).
  virtual absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
};

// The machine's file system. Lives for the whole process.
Fs& PosixFs();

}  // namespace narthex::base
