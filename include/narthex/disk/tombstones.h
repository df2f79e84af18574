// What was deleted of a block's series: closed intervals of time (docs/format/tombstones.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "narthex/base/fs.h"
#include "narthex/model/queryable.h"

namespace narthex::disk {

// Adds an interval to ascending, disjoint ones; those it overlaps or touches become one with it. An
// interval that ends before it begins adds nothing.
void AddInterval(model::TimeRange interval, std::vector<model::TimeRange>* intervals);

// Whether one of ascending, disjoint intervals holds all of `range`.
bool IsCovered(model::TimeRange range, std::span<const model::TimeRange> intervals);

// Thread-compatible.
class Tombstones {
 public:
  using BySeries = std::map<uint64_t, std::vector<model::TimeRange>>;

  void Add(uint64_t series_ref, model::TimeRange interval);
  // Ascending, disjoint; empty if there are none. Valid until the next change.
  std::span<const model::TimeRange> Get(uint64_t series_ref) const;
  const BySeries& by_series() const { return by_series_; }
  size_t num_intervals() const;
  bool empty() const { return by_series_.empty(); }

 private:
  BySeries by_series_;  // No empty lists.
};

std::string FormatTombstones(const Tombstones& tombstones);
// kDataLoss: bad bytes.
absl::StatusOr<Tombstones> ParseTombstones(std::string_view bytes);

// A missing file is no tombstones. kDataLoss names the file.
absl::StatusOr<Tombstones> ReadTombstones(base::Fs* fs, const std::string& block_directory);
// Replaces the file at once or not at all, and syncs it.
absl::Status WriteTombstones(base::Fs* fs, const std::string& block_directory,
                             const Tombstones& tombstones);

}  // namespace narthex::disk
