#include "text/dates.hpp"

#include <charconv>
#include <cstdio>

namespace gossamer {

namespace {

// Days since 1970 of a date of the Gregorian calendar, and back (Howard Hinnant's algorithms).
std::int64_t day_of(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct Date {
  std::int64_t year;
  int month, day;
};

Date date_of(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const auto of_year = static_cast<int>(of_era - (365 * year + year / 4 - year / 100));
  const int shifted = (5 * of_year + 2) / 153, month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1};
}

int days_in(std::int64_t year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && leap);
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// What is left of a cell.
struct Scan {
  std::string_view left;

  char first() const { return left.empty() ? '\0' : left.front(); }
  bool take(char c) {
    if (first() != c) return false;
    left.remove_prefix(1);
    return true;
  }
  void blanks() {
    while (take(' ')) {
    }
  }
  // A whole number of `least` to `most` digits.
  bool number(std::size_t least, std::size_t most, std::int64_t& out) {
    std::size_t n = 0;
    for (out = 0; n < most && n < left.size() && is_digit(left[n]); ++n) out = out * 10 + (left[n] - '0');
    left.remove_prefix(n);
    return n >= least && !is_digit(first());
  }
  // Exactly n digits, perhaps with more after them.
  bool digits(std::size_t n, std::int64_t& out) {
    if (left.size() < n) return false;
    out = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_digit(left[i])) return false;
      out = out * 10 + (left[i] - '0');
    }
    left.remove_prefix(n);
    return true;
  }
  // The number of a month by its name or the first three letters of it; 0 if there is none.
  std::int64_t month() {
    constexpr std::string_view names[] = {"january", "february", "march",     "april",   "may",      "june",
                                          "july",    "august",   "september", "october", "november", "december"};
    std::string word;
    while (word.size() < 10 && lower(first()) >= 'a' && lower(first()) <= 'z') {
      word += lower(first());
      left.remove_prefix(1);
    }
    take('.');
    for (int i = 0; i < 12; ++i) {
      if (word == names[i] || (word.size() == 3 && names[i].starts_with(word)) || (i == 8 && word == "sept")) {
        return i + 1;
      }
    }
    return 0;
  }
};

bool separator(char c) { return c == '-' || c == '/' || c == '.'; }

bool seconds_of_date(std::int64_t year, std::int64_t month, std::int64_t day, std::int64_t& seconds) {
  if (month < 1 || month > 12 || day < 1 || day > days_in(year, static_cast<int>(month))) return false;
  seconds = day_of(year, static_cast<int>(month), static_cast<int>(day)) * 86400;
  return true;
}

// 17:00, 17:00:59.5, 5 PM, 05:00Z, 05:00+02:00, up to the end of the cell.
bool read_time(Scan scan, std::int64_t& seconds) {
  std::int64_t hour, minute = 0, second = 0;
  if (!scan.number(1, 2, hour)) return false;
  const bool minutes = scan.take(':');
  if (minutes && !scan.number(2, 2, minute)) return false;
  if (minutes && scan.take(':')) {
    if (!scan.number(2, 2, second)) return false;
    if (scan.take('.') || scan.take(',')) {
      if (!is_digit(scan.first())) return false;
      while (is_digit(scan.first())) scan.left.remove_prefix(1);
    }
  }
  scan.blanks();
  const char half = lower(scan.first());
  if (half == 'a' || half == 'p') {
    scan.left.remove_prefix(1);
    if (!(scan.take('m') || scan.take('M')) || hour < 1 || hour > 12) return false;
    hour = hour % 12 + (half == 'p' ? 12 : 0);
  } else if (!minutes && !scan.left.empty()) {
    return false;
  }
  if (hour > 23 || minute > 59 || second > 60) return false;
  seconds += hour * 3600 + minute * 60 + second;
  scan.blanks();
  if (scan.take('Z') || scan.left.empty()) return scan.left.empty();
  if (scan.left == "UTC" || scan.left == "GMT") return true;
  const bool east = scan.first() == '+';
  if (!scan.take('+') && !scan.take('-')) return false;
  std::int64_t hours, more = 0;
  if (!scan.digits(2, hours) || hours > 15) return false;
  scan.take(':');
  if (!scan.left.empty() && !scan.digits(2, more)) return false;
  seconds -= (hours * 3600 + more * 60) * (east ? 1 : -1);
  return scan.left.empty() && more < 60;
}

// The rest of a cell after the date: nothing, or a time.
bool finish(Scan scan, std::int64_t seconds, Moment& out) {
  const bool letter = scan.take('T');
  scan.take(',');
  if (!letter) scan.blanks();
  if (!scan.left.empty() && !read_time(scan, seconds)) return false;
  if (scan.left.empty() && letter) return false;
  out.seconds = seconds;
  return true;
}

// Three numbers with one separator between them.
bool three(Scan& scan, bool year_first, std::int64_t (&n)[3]) {
  if (!(year_first ? scan.number(4, 4, n[0]) : scan.number(1, 2, n[0]))) return false;
  const char mark = scan.first();
  if (!separator(mark)) return false;
  scan.take(mark);
  if (!scan.number(1, 2, n[1]) || !scan.take(mark)) return false;
  if (year_first) return scan.number(1, 2, n[2]);
  const std::size_t before = scan.left.size();
  if (!scan.number(2, 4, n[2])) return false;
  const std::size_t digits = before - scan.left.size();
  if (digits == 2) n[2] += n[2] < 70 ? 2000 : 1900;
  return digits != 3;
}

bool named(Scan& scan, std::int64_t (&n)[3]) {  // day, month, year
  const bool month_first = !is_digit(scan.first());
  if (month_first) {
    n[1] = scan.month();
    scan.blanks();
  }
  if (!scan.number(1, 2, n[0])) return false;
  if (!month_first) {
    if (!scan.take('-')) scan.blanks();
    n[1] = scan.month();
    scan.take('-');
  }
  scan.take(','), scan.blanks();
  return n[1] > 0 && scan.number(4, 4, n[2]);
}

bool compact(Scan scan, std::size_t year_digits, bool with_hour, Moment& out) {
  std::int64_t year, month, day, hour = 0, seconds;
  if (!scan.digits(year_digits, year) || !scan.digits(2, month) || !scan.digits(2, day)) return false;
  if (with_hour && !scan.digits(2, hour)) return false;
  if (!scan.left.empty() || hour > 23) return false;
  if (year_digits == 2) year += 2000;
  if (!seconds_of_date(year, month, day, seconds)) return false;
  out.seconds = seconds + hour * 3600;
  return true;
}

bool since(std::string_view cell, std::int64_t unit, Moment& out) {
  std::int64_t n = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), n);
  const std::string_view rest = cell.substr(static_cast<std::size_t>(stop - cell.data()));
  const bool fraction = rest.starts_with('.') && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (error != std::errc() || !(rest.empty() || fraction)) return false;
  n = n / unit - (n % unit < 0);
  constexpr std::int64_t far = std::int64_t{1} << 38;  // some eight thousand years
  if (n > far || n < -far) return false;
  out.seconds = n;
  return true;
}

}  // namespace

int Moment::month() const { return date_of(day()).month; }

std::string Moment::shown() const {
  const Date date = date_of(day());
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02d-%02d", static_cast<long long>(date.year), date.month, date.day);
  if (hour_seconds() == 0) return text;
  const auto s = static_cast<int>(hour_seconds());
  char time[32];
  std::snprintf(time, sizeof time, " %02d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
  return std::string(text) + time;
}

bool read_date(std::string_view cell, DateForm form, Moment& out) {
  Scan scan{cell};
  std::int64_t n[3], seconds;
  switch (form) {
    case DateForm::year_first:
      return three(scan, true, n) && seconds_of_date(n[0], n[1], n[2], seconds) && finish(scan, seconds, out);
    case DateForm::month_first:
      return three(scan, false, n) && seconds_of_date(n[2], n[0], n[1], seconds) && finish(scan, seconds, out);
    case DateForm::day_first:
      return three(scan, false, n) && seconds_of_date(n[2], n[1], n[0], seconds) && finish(scan, seconds, out);
    case DateForm::named_month:
      return named(scan, n) && seconds_of_date(n[2], n[1], n[0], seconds) && finish(scan, seconds, out);
    case DateForm::day:
      return compact(scan, 4, false, out);
    case DateForm::hour:
      return compact(scan, 2, true, out);
    case DateForm::long_hour:
      return compact(scan, 4, true, out);
    case DateForm::seconds:
      return since(cell, 1, out);
    case DateForm::milliseconds:
      return since(cell, 1000, out);
  }
  return false;
}

}  // namespace gossamer
