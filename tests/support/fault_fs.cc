#include "tests/support/fault_fs.h"

#include <utility>

#include "narthex/base/status.h"

namespace narthex::support {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool IsUnder(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

// A mapping shows the bytes as they were when it was made, which is all a log's reader may rely on.
class CopiedFile final : public base::MappedFile {
 public:
  explicit CopiedFile(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view bytes() const override { return bytes_; }

 private:
  const std::string bytes_;
};

}  // namespace

class FaultFs::File final : public base::WritableFile {
 public:
  File(FaultFs* fs, std::string path, std::shared_ptr<Content> content, uint64_t generation)
      : fs_(fs), path_(std::move(path)), content_(std::move(content)), generation_(generation) {}

  absl::Status Append(std::string_view bytes) override {
    base::MutexLock lock(&fs_->mutex_);
    NX_RETURN_IF_ERROR(Usable());
    const Outcome outcome = fs_->Begin();
    if (outcome == Outcome::kIsCut) bytes = bytes.substr(0, bytes.size() / 2);
    if (outcome != Outcome::kFails) content_->bytes.append(bytes);
    return outcome == Outcome::kWorks ? absl::OkStatus() : (error_ = Broken(path_));
  }
  absl::Status Sync() override {
    base::MutexLock lock(&fs_->mutex_);
    NX_RETURN_IF_ERROR(Usable());
    if (fs_->Begin() != Outcome::kWorks) return error_ = Broken(path_);
    content_->synced_bytes = content_->bytes;
    return absl::OkStatus();
  }
  absl::Status Close() override {
    base::MutexLock lock(&fs_->mutex_);
    NX_RETURN_IF_ERROR(Usable());
    if (fs_->Begin() != Outcome::kWorks) return error_ = Broken(path_);
    error_ = base::FailedPrecondition("file is closed: ", path_);
    return absl::OkStatus();
  }
  uint64_t size() const override {
    base::MutexLock lock(&fs_->mutex_);
    return content_->bytes.size();
  }

 private:
  absl::Status Usable() NX_REQUIRES(fs_->mutex_) {
    if (generation_ != fs_->generation_) return base::FailedPrecondition("file of a dead process");
    return error_;
  }

  FaultFs* const fs_;
  const std::string path_;
  const std::shared_ptr<Content> content_;
  const uint64_t generation_;
  absl::Status error_;
};

FaultFs::Outcome FaultFs::Begin() {
  if (dead_) return Outcome::kFails;
  if (num_operations_++ != fault_index_) return Outcome::kWorks;
  dead_ = fault_ == Fault::kDie;
  return fault_ == Fault::kFail ? Outcome::kFails : Outcome::kIsCut;
}

absl::Status FaultFs::Broken(const std::string& path) {
  return base::ResourceExhausted(path, ": no space left (made up)");
}

void FaultFs::Arm(uint64_t index, Fault fault) {
  base::MutexLock lock(&mutex_);
  num_operations_ = 0;
  fault_index_ = index;
  fault_ = fault;
}

uint64_t FaultFs::num_operations() const {
  base::MutexLock lock(&mutex_);
  return num_operations_;
}

void FaultFs::Restart() {
  base::MutexLock lock(&mutex_);
  dead_ = false;
  fault_index_ = UINT64_MAX;
  locked_.clear();
  ++generation_;
}

void FaultFs::LosePower() {
  Restart();
  base::MutexLock lock(&mutex_);
  files_ = durable_files_;
  for (auto& [path, content] : files_) content->bytes = content->synced_bytes;
}

absl::StatusOr<std::shared_ptr<FaultFs::Content>> FaultFs::Find(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return base::NotFound(path, ": no such file");
  return found->second;
}

absl::StatusOr<std::unique_ptr<base::WritableFile>> FaultFs::Open(const std::string& path,
                                                                  bool truncate) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  if (!directories_.contains(ParentOf(path))) return base::NotFound(path, ": no such directory");
  std::shared_ptr<Content>& content = files_[path];
  if (content == nullptr) content = std::make_shared<Content>();
  if (truncate) content->bytes.clear();
  return std::make_unique<File>(this, path, content, generation_);
}

absl::StatusOr<std::unique_ptr<base::WritableFile>> FaultFs::Create(const std::string& path) {
  return Open(path, true);
}
absl::StatusOr<std::unique_ptr<base::WritableFile>> FaultFs::OpenForAppend(
    const std::string& path) {
  return Open(path, false);
}

absl::StatusOr<std::string> FaultFs::ReadFile(const std::string& path) {
  base::MutexLock lock(&mutex_);
  NX_ASSIGN_OR_RETURN(const std::shared_ptr<Content> content, Find(path));
  return content->bytes;
}

absl::StatusOr<std::unique_ptr<base::MappedFile>> FaultFs::Map(const std::string& path) {
  NX_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return std::make_unique<CopiedFile>(std::move(bytes));
}

absl::StatusOr<uint64_t> FaultFs::FileSize(const std::string& path) {
  NX_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return bytes.size();
}

bool FaultFs::Exists(const std::string& path) {
  base::MutexLock lock(&mutex_);
  return files_.contains(path) || directories_.contains(path);
}

absl::StatusOr<std::vector<std::string>> FaultFs::List(const std::string& directory) {
  base::MutexLock lock(&mutex_);
  if (!directories_.contains(directory)) return base::NotFound(directory, ": no such directory");
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    if (ParentOf(path) == directory) names.insert(path.substr(directory.size() + 1));
  };
  for (const auto& [path, content] : files_) add(path);
  for (const std::string& path : directories_) add(path);
  return std::vector<std::string>(names.begin(), names.end());
}

// Directories are durable at once: losing one is losing all its files, which the file names cover.
absl::Status FaultFs::CreateDirectories(const std::string& path) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  for (std::string one = path; !one.empty(); one = ParentOf(one)) directories_.insert(one);
  return absl::OkStatus();
}

absl::Status FaultFs::Rename(const std::string& from, const std::string& to) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(from);
  if (directories_.contains(from)) {
    const auto moved = [&](const std::string& path) { return to + path.substr(from.size()); };
    std::set<std::string> directories;
    for (const std::string& path : directories_) {
      directories.insert(path == from || IsUnder(path, from) ? moved(path) : path);
    }
    directories_ = std::move(directories);
    for (Names* names : {&files_, &durable_files_}) {
      Names renamed;
      for (auto& [path, content] : *names)
        renamed[IsUnder(path, from) ? moved(path) : path] = content;
      *names = std::move(renamed);
    }
    return absl::OkStatus();
  }
  NX_ASSIGN_OR_RETURN(std::shared_ptr<Content> content, Find(from));
  files_.erase(from);
  files_[to] = std::move(content);
  return absl::OkStatus();
}

absl::Status FaultFs::Remove(const std::string& path) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  if (files_.erase(path) + directories_.erase(path) == 0) {
    return base::NotFound(path, ": no such file");
  }
  return absl::OkStatus();
}

absl::Status FaultFs::RemoveAll(const std::string& path) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  std::erase_if(files_,
                [&](const auto& file) { return file.first == path || IsUnder(file.first, path); });
  std::erase_if(directories_,
                [&](const std::string& one) { return one == path || IsUnder(one, path); });
  return absl::OkStatus();
}

absl::Status FaultFs::Truncate(const std::string& path, uint64_t size) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  NX_ASSIGN_OR_RETURN(const std::shared_ptr<Content> content, Find(path));
  content->bytes.resize(size);
  return absl::OkStatus();
}

absl::Status FaultFs::SyncDirectory(const std::string& path) {
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  std::erase_if(durable_files_, [&](const auto& file) { return ParentOf(file.first) == path; });
  for (const auto& [name, content] : files_) {
    if (ParentOf(name) == path) durable_files_[name] = content;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<base::FileLock>> FaultFs::Lock(const std::string& path) {
  class Held final : public base::FileLock {
   public:
    Held(FaultFs* fs, std::string name) : fs_(fs), name_(std::move(name)) {}
    ~Held() override {
      base::MutexLock lock(&fs_->mutex_);
      fs_->locked_.erase(name_);
    }

   private:
    FaultFs* const fs_;
    const std::string name_;
  };
  base::MutexLock lock(&mutex_);
  if (Begin() != Outcome::kWorks) return Broken(path);
  std::shared_ptr<Content>& content = files_[path];
  if (content == nullptr) content = std::make_shared<Content>();
  if (!locked_.insert(path).second) return base::FailedPrecondition("lock ", path, ": held");
  return std::make_unique<Held>(this, path);
}

}  // namespace narthex::support
