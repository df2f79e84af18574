#include <memory>
#include <string>
#include <vector>

#include "disk/wal/cut_back.h"
#include "narthex/base/check.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal.h"

namespace narthex::disk {

absl::Status CutBackTo(base::Fs* fs, const std::string& directory, WalPosition position) {
  NX_ASSIGN_OR_RETURN(std::vector<uint64_t> segments, ListWalSegments(fs, directory));
  while (!segments.empty() && segments.back() > position.segment) {
    NX_RETURN_IF_ERROR(fs->Remove(base::StrCat(directory, "/", WalSegmentName(segments.back()))));
    segments.pop_back();
  }
  if (!segments.empty() && segments.back() == position.segment) {
    const std::string path = base::StrCat(directory, "/", WalSegmentName(position.segment));
    NX_RETURN_IF_ERROR(fs->Truncate(path, position.offset));
    NX_ASSIGN_OR_RETURN(const std::unique_ptr<base::WritableFile> file, fs->OpenForAppend(path));
    NX_RETURN_IF_ERROR(file->Sync());
    NX_RETURN_IF_ERROR(file->Close());
  }
  return fs->SyncDirectory(directory);
}

absl::Status RepairWal(base::Fs* fs, const std::string& directory, const WalDamage& damage) {
  NX_CHECK(!damage.in_checkpoint);
  return CutBackTo(fs, directory, damage.position);
}

}  // namespace narthex::disk
