#include "promql/functions/civil_time.h"

#include <array>
#include <cstdio>

namespace narthex::promql {
namespace {

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kDaysPerEra = 146'097;  // 400 years.

// The calendar of the clients we match counts unsigned seconds from a year far in the past, so that
// times before this one wrap around to the far future. NaN as a time is such a one.
constexpr int64_t kEarliestSeconds = -9'223'372'028'715'321'600;

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int64_t year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

}  // namespace

CivilTime ToCivilTime(int64_t unix_seconds) {
  int64_t days = unix_seconds / kSecondsPerDay;
  int64_t second_of_day = unix_seconds % kSecondsPerDay;
  if (unix_seconds < kEarliestSeconds) {
    const uint64_t wrapped = static_cast<uint64_t>(unix_seconds);
    days = static_cast<int64_t>(wrapped / kSecondsPerDay);
    second_of_day = static_cast<int64_t>(wrapped % kSecondsPerDay);
  } else if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --days;
  }

  CivilTime time;
  time.hour = static_cast<int>(second_of_day / 3'600);
  time.minute = static_cast<int>(second_of_day / 60 % 60);
  time.second = static_cast<int>(second_of_day % 60);
  time.day_of_week = static_cast<int>(((days + 4) % 7 + 7) % 7);

  // Days of eras of 400 years that begin on 1 March, so that leap days come last.
  const int64_t shifted = days + 719'468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - (kDaysPerEra - 1)) / kDaysPerEra;
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_from_march =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_from_march + 2) / 153;
  time.day = static_cast<int>(day_from_march - (153 * month_from_march + 2) / 5 + 1);
  time.month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  time.year = year_of_era + era * 400 + (time.month <= 2 ? 1 : 0);
  time.days_in_month = DaysInMonth(time.year, time.month);
  time.day_of_year = time.day;
  for (int month = 1; month < time.month; ++month) {
    time.day_of_year += DaysInMonth(time.year, month);
  }
  return time;
}

void AppendRfc3339(std::string* out, int64_t unix_seconds) {
  const CivilTime time = ToCivilTime(unix_seconds);
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof buffer, "%04lld-%02d-%02dT%02d:%02d:%02dZ",
                                 static_cast<long long>(time.year), time.month, time.day, time.hour,
                                 time.minute, time.second);
  out->append(buffer, static_cast<size_t>(size));
}

}  // namespace narthex::promql
