// Parameters of API requests: query string and form body together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "narthex/model/queryable.h"
#include "narthex/net/http_server.h"

namespace narthex::server {

// The two literal times that stand for "no limit".
inline constexpr int64_t kMinTimeMs = -9'223'372'036'854'775;
inline constexpr int64_t kMaxTimeMs = 9'223'372'036'854'775;

class Params {
 public:
  // kInvalidArgument: a bad escape. Form bodies count for POST only; the URL's values come first.
  static absl::StatusOr<Params> Of(const net::HttpRequest& request);

  // The first value, "" if absent. Valid as long as this object.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;

  // kInvalidArgument: `invalid parameter "name": ...` for all of these.
  // Unix milliseconds; `fallback` if absent or empty.
  absl::StatusOr<int64_t> TimeMs(std::string_view name, std::optional<int64_t> fallback) const;
  absl::StatusOr<int64_t> DurationMs(std::string_view name) const;
  // 0 if absent: no limit.
  absl::StatusOr<size_t> Limit(std::string_view name) const;
  // The selectors of all match[] values.
  absl::StatusOr<std::vector<std::vector<model::Matcher>>> Selectors() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Unix milliseconds of a float number of seconds or an RFC 3339 time.
absl::StatusOr<int64_t> ParseTimeMs(std::string_view text);
// "2026-08-17T10:00:00.5Z", without trailing zeroes in the fraction; UTC.
std::string FormatRfc3339(int64_t time_ms);

absl::Status BadParameter(std::string_view name, std::string_view reason);

}  // namespace narthex::server
