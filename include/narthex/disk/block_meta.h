// meta.json, what a block says of itself (docs/format/meta.md). Free functions over a plain value;
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/disk/ulid.h"

namespace narthex::disk {

// Hints of a compaction. On disk: never change.
inline constexpr std::string_view kHintFromOutOfOrder = "from-out-of-order";
inline constexpr std::string_view kHintFromStaleSeries = "from-stale-series";
inline constexpr std::string_view kHintFromSelectedSeries = "from-selected-series";

struct BlockStats {
  uint64_t num_samples = 0;
  uint64_t num_float_samples = 0;
  uint64_t num_histogram_samples = 0;
  uint64_t num_series = 0;
  uint64_t num_chunks = 0;
  uint64_t num_tombstones = 0;
  bool operator==(const BlockStats&) const = default;
};

// A block by name and time, half-open: min_time_ms <= time < max_time_ms.
struct BlockDescription {
  Ulid ulid;
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;
  bool operator==(const BlockDescription&) const = default;
};

struct BlockCompaction {
  int64_t level = 0;          // 1: from the head; a merge has its parents' highest and one.
  std::vector<Ulid> sources;  // Blocks from the head that went in, sorted.
  bool deletable = false;     // Its compaction left nothing: it may go.
  std::vector<BlockDescription> parents;  // What it was made of directly.
  bool failed = false;                    // Its compaction failed: not to be planned again.
  std::vector<std::string> hints;         // Sorted.
  bool HasHint(std::string_view hint) const;
  // Keeps them sorted and unique.
  void AddHint(std::string_view hint);
  bool operator==(const BlockCompaction&) const = default;
};

struct BlockMeta {
  Ulid ulid;
  int64_t min_time_ms = 0;
  int64_t max_time_ms = 0;  // Exclusive.
  BlockStats stats;
  BlockCompaction compaction;
  bool operator==(const BlockMeta&) const = default;
};

// Unknown fields are passed over. kDataLoss: no meta.json of version 1.
absl::StatusOr<BlockMeta> ParseBlockMeta(std::string_view json);
std::string FormatBlockMeta(const BlockMeta& meta);

// kNotFound: there is no meta.json; kDataLoss names the file.
absl::StatusOr<BlockMeta> ReadBlockMeta(base::Fs* fs, const std::string& block_directory);
// Replaces the file at once or not at all, and syncs it.
absl::Status WriteBlockMeta(base::Fs* fs, const std::string& block_directory,
                            const BlockMeta& meta);

}  // namespace narthex::disk
