#include "server/api/params.h"

#include <charconv>
#include <cmath>
#include <ctime>

#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"
#include "narthex/promql/engine.h"

namespace narthex::server {
namespace {

constexpr std::string_view kMinTimeText = "-292273086-05-16T16:47:06Z";
constexpr std::string_view kMaxTimeText = "292277025-08-18T07:12:54.999999999Z";

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar (Howard Hinnant's algorithm).
int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

// Takes exactly `digits` decimal digits off the front; false if they are not there.
bool TakeDigits(std::string_view* text, size_t digits, int* out) {
  if (text->size() < digits) return false;
  const char* end = text->data() + digits;
  const auto result = std::from_chars(text->data(), end, *out);
  if (result.ec != std::errc() || result.ptr != end || (*text)[0] == '-') return false;
  text->remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || (*text)[0] != c) return false;
  text->remove_prefix(1);
  return true;
}

// "Z" or "+hh:mm": minutes east of UTC.
bool TakeZone(std::string_view* text, int* minutes) {
  *minutes = 0;
  if (TakeChar(text, 'Z')) return text->empty();
  const int sign = TakeChar(text, '+') ? 1 : TakeChar(text, '-') ? -1 : 0;
  int hour = 0;
  int minute = 0;
  if (sign == 0 || !TakeDigits(text, 2, &hour) || !TakeChar(text, ':') ||
      !TakeDigits(text, 2, &minute) || hour > 23 || minute > 59) {
    return false;
  }
  *minutes = sign * (hour * 60 + minute);
  return text->empty();
}

int DaysInMonth(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

std::optional<int64_t> ParseRfc3339(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zone_minutes = 0;
  int64_t ms = 0;
  if (!TakeDigits(&text, 4, &year) || !TakeChar(&text, '-') || !TakeDigits(&text, 2, &month) ||
      !TakeChar(&text, '-') || !TakeDigits(&text, 2, &day) || !TakeChar(&text, 'T') ||
      !TakeDigits(&text, 2, &hour) || !TakeChar(&text, ':') || !TakeDigits(&text, 2, &minute) ||
      !TakeChar(&text, ':') || !TakeDigits(&text, 2, &second)) {
    return std::nullopt;
  }
  if (TakeChar(&text, '.')) {
    int64_t scale = 100;
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), scale /= 10) {
      ms += (text[0] - '0') * scale;
    }
  }
  if (!TakeZone(&text, &zone_minutes) || month < 1 || month > 12 || day < 1 ||
      day > DaysInMonth(year, month) || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const int64_t seconds = DaysFromCivil(year, month, day) * 86'400 + hour * 3'600 +
                          (minute - zone_minutes) * 60ll + second;
  return seconds * 1000 + ms;
}

}  // namespace

absl::Status BadParameter(std::string_view name, std::string_view reason) {
  return base::InvalidArgument("invalid parameter \"", name, "\": ", reason);
}

absl::StatusOr<int64_t> ParseTimeMs(std::string_view text) {
  if (const auto seconds = base::ParseFloat(text)) {
    if (!std::isfinite(*seconds) || std::abs(*seconds) > 9.2e15) {
      return base::InvalidArgument("cannot parse \"", text, "\" to a valid timestamp");
    }
    double whole = 0;
    const double fraction = std::modf(*seconds, &whole);
    return static_cast<int64_t>(whole) * 1000 + static_cast<int64_t>(std::round(fraction * 1000));
  }
  if (const auto time = ParseRfc3339(text)) return *time;
  if (text == kMinTimeText) return kMinTimeMs;
  if (text == kMaxTimeText) return kMaxTimeMs;
  return base::InvalidArgument("cannot parse \"", text, "\" to a valid timestamp");
}

std::string FormatRfc3339(int64_t time_ms) {
  int64_t seconds = time_ms / 1000;
  int64_t ms = time_ms % 1000;
  if (ms < 0) {
    ms += 1000;
    --seconds;
  }
  std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char buffer[48];
  const size_t size = std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out(buffer, size);
  if (ms != 0) {
    std::string fraction = base::StrCat(1000 + ms).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    base::StrAppend(&out, ".", fraction);
  }
  return out + "Z";
}

absl::StatusOr<Params> Params::Of(const net::HttpRequest& request) {
  Params params;
  NX_ASSIGN_OR_RETURN(params.values_, net::ParseForm(request.raw_query));
  const std::string_view type = net::FindHeader(request.headers, "Content-Type");
  if (request.method == "POST" &&
      type.substr(0, type.find(';')) == "application/x-www-form-urlencoded") {
    NX_ASSIGN_OR_RETURN(auto body, net::ParseForm(request.body));
    // Values of the body come first, as in Go's Request.Form.
    body.insert(body.end(), params.values_.begin(), params.values_.end());
    params.values_ = std::move(body);
  }
  return params;
}

std::string_view Params::Get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return {};
}

bool Params::Has(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return true;
  }
  return false;
}

std::vector<std::string> Params::All(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : values_) {
    if (key == name) out.push_back(value);
  }
  return out;
}

absl::StatusOr<int64_t> Params::TimeMs(std::string_view name,
                                       std::optional<int64_t> fallback) const {
  const std::string_view text = Get(name);
  if (text.empty() && fallback) return *fallback;
  const auto time = ParseTimeMs(text);
  if (!time.ok()) return BadParameter(name, base::Message(time.status()));
  return *time;
}

absl::StatusOr<int64_t> Params::DurationMs(std::string_view name) const {
  const std::string_view text = Get(name);
  if (const auto seconds = base::ParseFloat(text)) {
    if (!std::isfinite(*seconds) || std::abs(*seconds) > 9.2e9) {
      return BadParameter(name, base::StrCat("cannot parse \"", text,
                                             "\" to a valid duration. It overflows int64"));
    }
    return static_cast<int64_t>(*seconds * 1000);
  }
  const auto duration = base::ParseDurationMs(text);
  if (!duration.ok()) {
    return BadParameter(name, base::StrCat("cannot parse \"", text, "\" to a valid duration"));
  }
  return *duration;
}

absl::StatusOr<size_t> Params::Limit(std::string_view name) const {
  const std::string_view text = Get(name);
  if (text.empty()) return size_t{0};
  int64_t limit = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    return BadParameter(name, base::StrCat("cannot parse \"", text, "\" to a number"));
  }
  if (limit < 0) return BadParameter(name, "limit must be non-negative");
  return static_cast<size_t>(limit);
}

absl::StatusOr<std::vector<std::vector<model::Matcher>>> Params::Selectors() const {
  std::vector<std::vector<model::Matcher>> out;
  for (const std::string& text : All("match[]")) {
    auto matchers = promql::ParseSelector(text);
    if (!matchers.ok()) return BadParameter("match[]", base::Message(matchers.status()));
    bool has_non_empty = false;
    for (const model::Matcher& matcher : *matchers) has_non_empty |= !matcher.MatchesEmpty();
    if (!has_non_empty) {
      return BadParameter("match[]", "match[] must contain at least one non-empty matcher");
    }
    out.push_back(*std::move(matchers));
  }
  return out;
}

}  // namespace narthex::server
