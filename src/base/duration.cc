#include "narthex/base/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "narthex/base/status.h"

namespace narthex::base {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};

// Largest first: the order in which a duration lists them.
constexpr std::array<Unit, 7> kUnits = {{{"y", 365ll * 24 * 3600 * 1000},
                                         {"w", 7ll * 24 * 3600 * 1000},
                                         {"d", 24ll * 3600 * 1000},
                                         {"h", 3600ll * 1000},
                                         {"m", 60ll * 1000},
                                         {"s", 1000},
                                         {"ms", 1}}};

constexpr std::array<std::string_view, 7> kSizeUnits = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};

std::string_view TakeLetters(std::string_view* rest) {
  size_t size = 0;
  while (size < rest->size() && (((*rest)[size] >= 'a' && (*rest)[size] <= 'z') ||
                                 ((*rest)[size] >= 'A' && (*rest)[size] <= 'Z'))) {
    ++size;
  }
  const std::string_view letters = rest->substr(0, size);
  rest->remove_prefix(size);
  return letters;
}

absl::Status BadDuration(std::string_view text) {
  return InvalidArgument("not a valid duration string: \"", text, "\"");
}

// Takes one "12.5h" off the front of `rest` and adds it to `*sum_ms`. False if it is malformed.
bool AddGoPart(std::string_view* rest, double* sum_ms) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kGoUnits = {
      {{"h", 3.6e6}, {"m", 6e4}, {"s", 1e3}, {"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}}};
  double number = 0;
  const auto result =
      std::from_chars(rest->data(), rest->data() + rest->size(), number, std::chars_format::fixed);
  if (result.ec != std::errc() || number < 0 || (*rest)[0] == '-') return false;
  rest->remove_prefix(static_cast<size_t>(result.ptr - rest->data()));
  const std::string_view unit = TakeLetters(rest);
  for (const auto& [name, ms] : kGoUnits) {
    if (unit == name) {
      *sum_ms += number * ms;
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<int64_t> ParseDurationMs(std::string_view text) {
  if (text.empty()) return InvalidArgument("empty duration string");
  if (text == "0") return 0;
  int64_t sum = 0;
  size_t next_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    int64_t number = 0;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (result.ptr == rest.data() || rest[0] == '-') return BadDuration(text);
    if (result.ec != std::errc()) return InvalidArgument("duration out of range");
    rest.remove_prefix(static_cast<size_t>(result.ptr - rest.data()));
    const std::string_view unit = TakeLetters(&rest);
    while (next_unit < kUnits.size() && kUnits[next_unit].name != unit) ++next_unit;
    if (next_unit == kUnits.size()) return BadDuration(text);
    int64_t part = 0;
    if (__builtin_mul_overflow(number, kUnits[next_unit].ms, &part) ||
        __builtin_add_overflow(sum, part, &sum) ||
        sum > std::numeric_limits<int64_t>::max() / 1'000'000) {
      return InvalidArgument("duration out of range");
    }
    ++next_unit;
  }
  return sum;
}

absl::StatusOr<int64_t> ParseGoDurationMs(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  if (rest == "0") return 0;
  double sum_ms = 0;
  if (rest.empty()) return InvalidArgument("time: invalid duration \"", text, "\"");
  while (!rest.empty()) {
    if (!AddGoPart(&rest, &sum_ms)) return InvalidArgument("time: invalid duration \"", text, "\"");
  }
  if (sum_ms > 9.2e12) return InvalidArgument("time: invalid duration \"", text, "\"");
  const auto whole = static_cast<int64_t>(sum_ms);
  return negative ? -whole : whole;
}

std::string FormatDuration(int64_t duration_ms) {
  if (duration_ms == 0) return "0s";
  std::string out;
  int64_t rest = duration_ms;
  for (const Unit& unit : kUnits) {
    // Years and weeks only stand alone: 90d reads better than 12w6d.
    const bool exact_only = unit.name == "y" || unit.name == "w";
    if (exact_only && rest % unit.ms != 0) continue;
    if (rest >= unit.ms) {
      StrAppend(&out, rest / unit.ms, unit.name);
      rest %= unit.ms;
    }
  }
  return out;
}

std::string FormatGoDuration(int64_t duration_ms) {
  if (duration_ms == 0) return "0s";
  std::string out = duration_ms < 0 ? "-" : "";
  const int64_t magnitude = duration_ms < 0 ? -duration_ms : duration_ms;
  if (magnitude < 1000) return StrCat(out, magnitude, "ms");
  const int64_t hours = magnitude / 3'600'000;
  const int64_t minutes = magnitude / 60'000 % 60;
  if (hours > 0) StrAppend(&out, hours, "h");
  if (hours > 0 || minutes > 0) StrAppend(&out, minutes, "m");
  StrAppend(&out, magnitude / 1000 % 60);
  if (const int64_t ms = magnitude % 1000; ms != 0) {
    std::string fraction = StrCat(ms);
    fraction.insert(0, 3 - fraction.size(), '0');
    fraction.erase(fraction.find_last_not_of('0') + 1);
    StrAppend(&out, ".", fraction);
  }
  return out + "s";
}

absl::StatusOr<uint64_t> ParseSizeBytes(std::string_view text) {
  const auto bad = [text] {
    return InvalidArgument("units: unknown unit or malformed size \"", text, "\"");
  };
  if (text == "0") return 0;
  std::string_view rest = text;
  double number = 0;
  const auto result =
      std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
  if (result.ec != std::errc() || !(number >= 0)) return bad();
  rest.remove_prefix(static_cast<size_t>(result.ptr - rest.data()));
  for (size_t power = 0; power < kSizeUnits.size(); ++power) {
    const std::string_view full = kSizeUnits[power];
    const bool short_form = power > 0 && rest.size() == 2 && rest[0] == full[0] && rest[1] == 'B';
    if (rest != full && !short_form) continue;
    const double bytes = std::ldexp(number, static_cast<int>(10 * power));
    if (bytes >= 0x1p63) return bad();
    return static_cast<uint64_t>(bytes);
  }
  return bad();
}

std::string FormatSizeBytes(uint64_t bytes) {
  size_t power = 0;
  while (power + 1 < kSizeUnits.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++power;
  }
  return StrCat(bytes, kSizeUnits[power]);
}

}  // namespace narthex::base
