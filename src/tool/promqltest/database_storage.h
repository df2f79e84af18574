// The real database, in memory, as storage of scripts.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "tool/promqltest/storage.h"

namespace narthex::tool {

absl::StatusOr<std::unique_ptr<ScriptStorage>> OpenDatabaseStorage();

}  // namespace narthex::tool
