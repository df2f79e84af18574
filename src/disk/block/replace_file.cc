#include "disk/block/replace_file.h"

#include <memory>

#include "narthex/base/status.h"

namespace narthex::disk {
namespace {

absl::Status WriteWhole(base::Fs* fs, const std::string& path, std::string_view bytes) {
  NX_ASSIGN_OR_RETURN(const std::unique_ptr<base::WritableFile> file, fs->Create(path));
  NX_RETURN_IF_ERROR(file->Append(bytes));
  NX_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status ReplaceFile(base::Fs* fs, const std::string& directory, std::string_view name,
                         std::string_view bytes) {
  const std::string path = base::StrCat(directory, "/", name);
  const std::string temporary = path + ".tmp";
  absl::Status status = WriteWhole(fs, temporary, bytes);
  if (status.ok()) status = fs->Rename(temporary, path);
  if (!status.ok()) {
    base::IgnoreError(fs->Remove(temporary), "the first error tells more");
    return status;
  }
  return fs->SyncDirectory(directory);
}

}  // namespace narthex::disk
