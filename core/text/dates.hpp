// Dates and times as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gossamer {

// A point in time: seconds since the beginning of 1970, in UTC where a cell names its zone.
struct Moment {
  std::int64_t seconds;

  std::int64_t day() const { return (seconds - hour_seconds()) / 86400; }  // since 1970
  int hour() const { return static_cast<int>(hour_seconds() / 3600); }
  int weekday() const { return static_cast<int>(((day() + 3) % 7 + 7) % 7); }  // 0 is Monday
  int month() const;                                                           // 1 to 12
  // 2014-10-21, or 2014-10-21 05:00:00 where it is not midnight.
  std::string shown() const;

 private:
  std::int64_t hour_seconds() const { return ((seconds % 86400) + 86400) % 86400; }
};

// How the cells of a column are written; numbers in the order of the date, then perhaps a time.
enum class DateForm : std::uint8_t {
  year_first,    // 2014-10-21 05:00:00.123+02:00, 2014/10/21
  month_first,   // 10/21/2014 5:00 PM
  day_first,     // 21.10.2014 17:00
  named_month,   // 21 Oct 2014, October 21, 2014
  day,           // 20141021
  hour,          // 14102105
  long_hour,     // 2014102105
  seconds,       // since 1970
  milliseconds,  // since 1970
};
inline constexpr int date_forms = 9;

// Reads a cell without blanks around it. False if it is no date of this form.
bool read_date(std::string_view cell, DateForm form, Moment& out);

}  // namespace gossamer
