// A file system in memory that breaks on demand: the k-th operation fails or is cut short, the
// process dies at it, or the power goes and takes what was not synced. For durability tests:
// for every k, break there, reopen, and compare with what was acknowledged.
//
//   FaultFs fs;                      run a scenario once; fs.num_operations() says how many k
//   fs.Arm(k, Fault::kDie);          the same scenario again
//   fs.Restart(); or fs.LosePower(); reopen and compare
//
// Operations are those that change something: create, append, sync, close, rename, remove,
// truncate, make or sync a directory. Reads never fail. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "narthex/base/fs.h"
#include "narthex/base/mutex.h"

namespace narthex::support {

enum class Fault : uint8_t {
  kFail,  // The operation has no effect and fails, as on a full disk; later ones work.
  kCut,   // Of an append half the bytes are written before it fails; otherwise as kFail.
  kDie,   // As kCut, and every later operation fails until Restart() or LosePower().
};

class FaultFs final : public base::Fs {
 public:
  FaultFs() = default;

  // The operation number `index` (from 0, counted from now) breaks.
  void Arm(uint64_t index, Fault fault);
  // Operations since construction or the last Arm().
  uint64_t num_operations() const;
  // A new process: operations work again, open files are gone, all written bytes are there.
  void Restart();
  // As Restart(), but files have what was synced last, and names what their directory's last sync
  // saw.
  void LosePower();

  absl::StatusOr<std::unique_ptr<base::WritableFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<base::WritableFile>> OpenForAppend(
      const std::string& path) override;
  absl::StatusOr<std::string> ReadFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<base::MappedFile>> Map(const std::string& path) override;
  absl::StatusOr<uint64_t> FileSize(const std::string& path) override;
  bool Exists(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status CreateDirectories(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveAll(const std::string& path) override;
  absl::Status Truncate(const std::string& path, uint64_t size) override;
  absl::Status SyncDirectory(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<base::FileLock>> Lock(const std::string& path) override;

 private:
  class File;
  struct Content {
    std::string bytes;
    std::string synced_bytes;
  };
  using Names = std::map<std::string, std::shared_ptr<Content>>;

  // Counts an operation and says whether it breaks.
  enum class Outcome : uint8_t { kWorks, kFails, kIsCut };
  Outcome Begin() NX_REQUIRES(mutex_);
  static absl::Status Broken(const std::string& path);
  absl::StatusOr<std::shared_ptr<Content>> Find(const std::string& path) NX_REQUIRES(mutex_);
  absl::StatusOr<std::unique_ptr<base::WritableFile>> Open(const std::string& path, bool truncate);

  mutable base::Mutex mutex_;
  Names files_ NX_GUARDED_BY(mutex_);
  Names durable_files_ NX_GUARDED_BY(mutex_);  // As of each directory's last sync.
  std::set<std::string> directories_ NX_GUARDED_BY(mutex_);
  uint64_t num_operations_ NX_GUARDED_BY(mutex_) = 0;
  uint64_t fault_index_ NX_GUARDED_BY(mutex_) = UINT64_MAX;
  Fault fault_ NX_GUARDED_BY(mutex_) = Fault::kFail;
  bool dead_ NX_GUARDED_BY(mutex_) = false;
  std::set<std::string> locked_ NX_GUARDED_BY(mutex_);
  uint64_t generation_ NX_GUARDED_BY(mutex_) = 0;  // Files of earlier ones are closed.
};

}  // namespace narthex::support
