// The blocks of a data directory that queries read. Immutable, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/base/log.h"
#include "narthex/disk/block.h"
#include "narthex/model/queryable.h"

namespace narthex::db {

class BlockSet {
 public:
  BlockSet() = default;  // No blocks.

  // Opens every directory of `directory` that is named by a ULID. One that cannot be read is left
  // as it is and logged with its name and reason; the others are served. A block that another one
  // was made of is not read. `fs` must outlive the set.
  static absl::StatusOr<BlockSet> Open(base::Fs* fs, const std::string& directory,
                                       const base::Logger& logger);

  // The earliest first.
  const std::vector<std::shared_ptr<const disk::Block>>& blocks() const { return blocks_; }
  uint64_t num_bytes() const;
  // INT64_MAX without blocks.
  int64_t min_time_ms() const;
  // Where the head's range begins: the end of the latest block that was not made of out-of-order
  // samples. INT64_MIN without such blocks.
  int64_t in_order_end_ms() const;

 private:
  std::vector<std::shared_ptr<const disk::Block>> blocks_;
};

}  // namespace narthex::db
