// Shortening a log: what repair and a writer's recovery have in common.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "narthex/base/fs.h"
#include "narthex/disk/wal.h"

namespace narthex::disk {

// Removes all of the log after `position`, durably. May be cut short and repeated: segments go from
// the last one down, so that their numbers stay without gaps.
absl::Status CutBackTo(base::Fs* fs, const std::string& directory, WalPosition position);

}  // namespace narthex::disk
