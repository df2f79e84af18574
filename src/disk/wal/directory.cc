#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "disk/file_number.h"
#include "narthex/base/status.h"
#include "narthex/disk/wal.h"

namespace narthex::disk {
namespace {

constexpr std::string_view kCheckpointPrefix = "checkpoint.";

}  // namespace

std::string WalSegmentName(uint64_t segment) {
  std::string digits = base::StrCat(segment);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return digits;
}

absl::StatusOr<std::vector<uint64_t>> ListWalSegments(base::Fs* fs, const std::string& directory) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(directory));
  std::vector<uint64_t> segments;
  for (const std::string& name : names) {
    if (const std::optional<uint64_t> number = ParseFileNumber(name)) segments.push_back(*number);
  }
  std::sort(segments.begin(), segments.end());
  for (size_t i = 1; i < segments.size(); ++i) {
    if (segments[i] != segments[i - 1] + 1) {
      return base::DataLoss("wal: segments are not sequential: directory=", directory,
                            " segment=", segments[i - 1], " next=", segments[i]);
    }
  }
  return segments;
}

absl::StatusOr<std::optional<WalCheckpoint>> FindLastCheckpoint(base::Fs* fs,
                                                                const std::string& directory) {
  NX_ASSIGN_OR_RETURN(const std::vector<std::string> names, fs->List(directory));
  std::optional<WalCheckpoint> last;
  for (const std::string& name : names) {
    if (!name.starts_with(kCheckpointPrefix)) continue;
    const std::optional<uint64_t> number =
        ParseFileNumber(std::string_view(name).substr(kCheckpointPrefix.size()));
    if (!number.has_value()) continue;
    if (last.has_value() && last->last_segment > *number) continue;
    last = WalCheckpoint{base::StrCat(directory, "/", name), *number};
  }
  return last;
}

}  // namespace narthex::disk
