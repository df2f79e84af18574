// Dates of Unix seconds in UTC, proleptic Gregorian calendar. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace narthex::promql {

struct CivilTime {
  int64_t year = 1970;
  int month = 1;        // 1..12
  int day = 1;          // 1..31
  int day_of_week = 4;  // 0 is Sunday.
  int day_of_year = 1;  // 1..366
  int days_in_month = 31;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

CivilTime ToCivilTime(int64_t unix_seconds);

// 2006-01-02T15:04:05Z
void AppendRfc3339(std::string* out, int64_t unix_seconds);

}  // namespace narthex::promql
