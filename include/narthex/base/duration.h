// Durations as people write them in configurations and flags. Free functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace narthex::base {

// Milliseconds of a Prometheus duration: integers with units y w d h m s ms, each at most once and
// in that order ("1h30m"), or "0". kInvalidArgument: `not a valid duration string: "x"`,
// `empty duration string`, `duration out of range`.
absl::StatusOr<int64_t> ParseDurationMs(std::string_view text);

// Milliseconds of a Go duration (Go's time.ParseDuration): decimal numbers with units h m s ms us
// ns, optionally signed ("1.5h", "-3s"); finer parts are cut off. kInvalidArgument on anything
// else.
absl::StatusOr<int64_t> ParseGoDurationMs(std::string_view text);

// The Prometheus form: "1m30s", "1d12h"; years and weeks only when nothing is left over (7 days are
// "1w", 8 days "8d"); 0 is "0s".
std::string FormatDuration(int64_t duration_ms);

// Go's time.Duration.String(): "15s", "1m0s", "1h0m0s", "500ms", "1.5s".
std::string FormatGoDuration(int64_t duration_ms);

// Bytes of a size with a unit B, KB, MB, GB, TB, PB, EB or KiB ... EiB, all powers of 1024
// ("512MB"); a fraction is allowed. kInvalidArgument names the text.
absl::StatusOr<uint64_t> ParseSizeBytes(std::string_view text);

// The largest unit that keeps the number whole: "512MiB", "15MiB", "0B".
std::string FormatSizeBytes(uint64_t bytes);

}  // namespace narthex::base
