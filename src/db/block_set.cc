#include "db/block_set.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/disk/ulid.h"

namespace narthex::db {

absl::StatusOr<BlockSet> BlockSet::Open(base::Fs* fs, const std::string& directory,
                                        const base::Logger& logger) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(directory));
  BlockSet set;
  std::set<disk::Ulid> parents;
  for (const std::string& name : names) {
    if (!disk::Ulid::Parse(name)) continue;
    auto block = disk::Block::Open(fs, directory + "/" + name);
    if (!block.ok()) {
      logger.Error("a block cannot be read and is left out of all answers",
                   {{"block", name}, {"err", base::ToStd(block.status().message())}});
      continue;
    }
    for (const disk::BlockDescription& parent : (*block)->meta().compaction.parents) {
      parents.insert(parent.ulid);
    }
    set.blocks_.push_back(*std::move(block));
  }
  std::erase_if(set.blocks_,
                [&](const auto& block) { return parents.contains(block->meta().ulid); });
  std::ranges::stable_sort(set.blocks_, [](const auto& a, const auto& b) {
    return a->meta().min_time_ms < b->meta().min_time_ms;
  });
  return set;
}

uint64_t BlockSet::num_bytes() const {
  uint64_t sum = 0;
  for (const auto& block : blocks_) sum += block->num_bytes();
  return sum;
}

int64_t BlockSet::min_time_ms() const {
  return blocks_.empty() ? std::numeric_limits<int64_t>::max() : blocks_[0]->meta().min_time_ms;
}

int64_t BlockSet::in_order_end_ms() const {
  int64_t end_ms = std::numeric_limits<int64_t>::min();
  for (const auto& block : blocks_) {
    const disk::BlockMeta& meta = block->meta();
    if (meta.compaction.HasHint(disk::kHintFromOutOfOrder)) continue;
    end_ms = std::max(end_ms, meta.max_time_ms);
  }
  return end_ms;
}

}  // namespace narthex::db
