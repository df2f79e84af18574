// PosixFs: the file system by system calls. Every call that a signal may interrupt is repeated;
// short reads and writes go on where they stopped.
#include "narthex/base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/base/strings.h"

namespace narthex::base {
namespace {

constexpr mode_t kFileMode = 0666;
// Linux moves at most 2 GiB in one call.
constexpr size_t kMaxTransferBytes = size_t{1} << 30;

template <typename Call>
auto Retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

absl::Status Failure(std::string_view operation, const std::string& path) {
  const int error_number = errno;
  return ErrnoStatus(error_number, StrCat(operation, " ", path));
}

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // The descriptor is gone afterwards even on error (Linux closes it in any case).
  int Close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> OpenFile(const std::string& path, int flags) {
  const int fd = Retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (fd < 0) return Failure("open", path);
  return Descriptor(fd);
}

absl::StatusOr<uint64_t> SizeOf(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return Failure("stat", path);
  return static_cast<uint64_t>(info.st_size);
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(Descriptor file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  absl::Status Append(std::string_view bytes) override {
    NX_RETURN_IF_ERROR(error_);
    while (!bytes.empty()) {
      const size_t wanted = std::min(bytes.size(), kMaxTransferBytes);
      const ssize_t written = Retry([&] { return ::write(file_.get(), bytes.data(), wanted); });
      if (written < 0) return Poison("write");
      size_ += static_cast<uint64_t>(written);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  // After a failed fsync the kernel may have dropped the dirty pages: a second try would lie.
  absl::Status Sync() override {
    NX_RETURN_IF_ERROR(error_);
    if (Retry([&] { return ::fsync(file_.get()); }) != 0) return Poison("fsync");
    return absl::OkStatus();
  }

  absl::Status Close() override {
    NX_RETURN_IF_ERROR(error_);
    // EINTR leaves the descriptor closed on Linux.
    if (file_.Close() != 0 && errno != EINTR) return Poison("close");
    error_ = FailedPrecondition("file is closed: ", path_);
    return absl::OkStatus();
  }

  uint64_t size() const override { return size_; }

 private:
  absl::Status Poison(std::string_view operation) { return error_ = Failure(operation, path_); }

  Descriptor file_;
  const std::string path_;
  uint64_t size_;
  absl::Status error_;  // Not OK once poisoned or closed.
};

class PosixMappedFile final : public MappedFile {
 public:
  PosixMappedFile(void* data, size_t size) : data_(data), size_(size) {}
  ~PosixMappedFile() override {
    if (size_ > 0) ::munmap(data_, size_);
  }
  std::string_view bytes() const override { return {static_cast<const char*>(data_), size_}; }
  void DropResident(uint64_t begin, uint64_t end) const override {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t first = (begin + page - 1) / page * page;
    const uint64_t last = end == size_ ? end : end / page * page;
    // The mapping is read-only and shared, so nothing is lost; a refusal costs memory alone.
    if (first < last) ::madvise(static_cast<char*>(data_) + first, last - first, MADV_DONTNEED);
  }

 private:
  void* const data_;
  const size_t size_;
};

// flock(2) locks belong to the open file, so closing the descriptor lets go.
class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Descriptor file) : file_(std::move(file)) {}

 private:
  const Descriptor file_;
};

// " by process N" of the holder, from /proc/locks; "" if the kernel does not tell.
std::string LockHolder(Fs& fs, const Descriptor& file) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return "";
  const absl::StatusOr<std::string> locks = fs.ReadFile("/proc/locks");
  if (!locks.ok()) return "";
  // A line: "1: FLOCK  ADVISORY  WRITE 4711 08:01:131075 0 EOF".
  const std::string inode = StrCat(":", uint64_t{info.st_ino}, " ");
  std::string_view text = *locks;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const size_t write = line.find(" WRITE ");
    if (write == line.npos || line.find("FLOCK") == line.npos) continue;
    if (line.find(inode) == line.npos) continue;
    std::string_view pid = line.substr(write + 7);
    pid = pid.substr(0, pid.find(' '));
    return StrCat(" by process ", pid);
  }
  return "";
}

class PosixFileSystem final : public Fs {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    return OpenWritable(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) override {
    return OpenWritable(path, O_WRONLY | O_CREAT | O_APPEND);
  }

  // Reads to the end rather than to the size: files under /proc have size 0.
  absl::StatusOr<std::string> ReadFile(const std::string& path) override {
    NX_ASSIGN_OR_RETURN(const Descriptor file, OpenFile(path, O_RDONLY));
    NX_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file, path));
    std::string bytes;
    size_t filled = 0;
    while (true) {
      const size_t wanted = std::max<size_t>(filled < size ? size - filled : 0, 4096);
      bytes.resize(filled + wanted);
      const ssize_t got = Retry([&] {
        return ::pread(file.get(), bytes.data() + filled, std::min(wanted, kMaxTransferBytes),
                       static_cast<off_t>(filled));
      });
      if (got < 0) return Failure("read", path);
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

  absl::StatusOr<std::unique_ptr<MappedFile>> Map(const std::string& path) override {
    NX_ASSIGN_OR_RETURN(const Descriptor file, OpenFile(path, O_RDONLY));
    NX_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file, path));
    if (size == 0) return std::make_unique<PosixMappedFile>(nullptr, 0);  // mmap refuses 0 bytes.
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED) return Failure("mmap", path);
    return std::make_unique<PosixMappedFile>(data, size);
  }

  absl::StatusOr<uint64_t> FileSize(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return Failure("stat", path);
    return static_cast<uint64_t>(info.st_size);
  }

  bool Exists(const std::string& path) override {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    DIR* const stream = ::opendir(directory.c_str());
    if (stream == nullptr) return Failure("list", directory);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    absl::Status status;
    if (errno != 0) status = Failure("list", directory);
    ::closedir(stream);
    NX_RETURN_IF_ERROR(status);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::Status CreateDirectories(const std::string& path) override {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return FromErrorCode(error, "mkdir", path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return Failure("rename", from);
    return absl::OkStatus();
  }
  absl::Status Remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0) return Failure("remove", path);
    return absl::OkStatus();
  }
  absl::Status RemoveAll(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return FromErrorCode(error, "remove", path);
  }
  absl::Status Truncate(const std::string& path, uint64_t size) override {
    const int result = Retry([&] { return ::truncate(path.c_str(), static_cast<off_t>(size)); });
    if (result != 0) return Failure("truncate", path);
    return absl::OkStatus();
  }
  absl::Status SyncDirectory(const std::string& path) override {
    NX_ASSIGN_OR_RETURN(const Descriptor directory, OpenFile(path, O_RDONLY | O_DIRECTORY));
    if (Retry([&] { return ::fsync(directory.get()); }) != 0) return Failure("fsync", path);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    NX_ASSIGN_OR_RETURN(Descriptor file, OpenFile(path, O_RDWR | O_CREAT));
    if (Retry([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) return Failure("lock", path);
      return FailedPrecondition("lock ", path, ": held", LockHolder(*this, file));
    }
    return std::make_unique<PosixFileLock>(std::move(file));
  }

 private:
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, int flags) {
    NX_ASSIGN_OR_RETURN(Descriptor file, OpenFile(path, flags));
    NX_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file, path));
    return std::make_unique<PosixWritableFile>(std::move(file), path, size);
  }

  static absl::Status FromErrorCode(const std::error_code& error, std::string_view operation,
                                    const std::string& path) {
    if (!error) return absl::OkStatus();
    return ErrnoStatus(error.value(), StrCat(operation, " ", path));
  }
};

}  // namespace

Fs& PosixFs() {
  static PosixFileSystem file_system;
  return file_system;
}

}  // namespace narthex::base
