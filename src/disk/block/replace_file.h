// Replacing a small file at once or not at all. Free function; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "narthex/base/fs.h"

namespace narthex::disk {

// Writes <directory>/<name>.tmp, syncs it, renames it and syncs the directory.
absl::Status ReplaceFile(base::Fs* fs, const std::string& directory, std::string_view name,
                         std::string_view bytes);

}  // namespace narthex::disk
