#include "datasets/readers/times.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <system_error>

#include "datasets/readers/fields.hpp"

namespace mf {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;

// A number of `least` to `most` digits.
bool read_digits(const char*& p, int least, int most, std::int64_t& value) {
  const char* begin = p;
  value = 0;
  while (is_digit(*p) && p - begin < most) value = value * 10 + (*p++ - '0');
  return p - begin >= least && !is_digit(*p);
}

bool skip(const char*& p, char mark) { return *p == mark && (++p, true); }

// +02:00, +0200 or Z; none means UTC.
bool read_zone(const char*& p, std::int64_t& seconds) {
  if (skip(p, 'Z') || (*p != '+' && *p != '-')) return true;
  const std::int64_t sign = *p++ == '+' ? -1 : 1;
  std::int64_t hours = 0, minutes = 0;
  const char* begin = p;
  if (!read_digits(p, 2, 2, hours)) {
    p = begin;
    if (!read_digits(p, 4, 4, hours)) return false;
    minutes = hours % 100;
    hours /= 100;
  } else if (skip(p, ':') && !read_digits(p, 2, 2, minutes)) {
    return false;
  }
  seconds += sign * (hours * kHour + minutes * kMinute);
  return true;
}

bool read_date(const char*& p, std::int64_t& time) {
  std::int64_t year = 0, month = 0, day = 0;
  if (!read_digits(p, 4, 4, year) || !skip(p, '-') || !read_digits(p, 2, 2, month) ||
      !skip(p, '-') || !read_digits(p, 2, 2, day))
    return false;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  time = std::chrono::sys_days(date).time_since_epoch().count() * kDay;
  const char* clock = p;
  if ((*p != 'T' && *p != ' ') || !is_digit(p[1])) return true;
  ++clock;
  std::int64_t seconds = 0;
  if (!read_clock(clock, seconds) || !read_zone(clock, seconds)) return false;
  p = clock;
  time += seconds;
  return true;
}

// With a fraction or an exponent, or beyond 18 digits.
bool read_any_number(const char*& p, std::int64_t& time) {
  const char* end = p;
  while (is_digit(*end) || *end == '.' || *end == 'e' || *end == 'E' || *end == '+' || *end == '-')
    ++end;
  double value = 0;
  const auto [stop, error] = std::from_chars(p, end, value);
  constexpr double kMost = 9e18;
  if (error != std::errc() || !(std::abs(value) < kMost)) return false;
  p = stop;
  time = static_cast<std::int64_t>(std::floor(value));
  return true;
}

}  // namespace

bool read_clock(const char*& p, std::int64_t& seconds) {
  std::int64_t hours = 0, minutes = 0, rest = 0;
  if (!read_digits(p, 1, 2, hours) || !skip(p, ':') || !read_digits(p, 2, 2, minutes)) return false;
  if (skip(p, ':')) {
    if (!read_digits(p, 2, 2, rest)) return false;
    if (*p == '.')
      while (is_digit(*++p)) {
      }
  }
  if (hours > 24 || minutes > 59 || rest > 60) return false;
  seconds = hours * kHour + minutes * kMinute + rest;
  return true;
}

namespace {

bool find_time(const char*& p, std::int64_t& time, bool& is_date) {
  const char* q = p;
  const bool negative = skip(q, '-');
  const char* digits = q;
  time = 0;
  while (is_digit(*q) && q - digits < 18) time = time * 10 + (*q++ - '0');
  is_date = !negative && q - digits == 4 && *q == '-';
  if (is_date) return read_date(p, time);
  if (q == digits || is_digit(*q) || *q == '.' || *q == 'e' || *q == 'E')
    return read_any_number(p, time);
  p = q;
  if (negative) time = -time;
  return true;
}

}  // namespace

void read_time(const char*& p, std::int64_t& time, bool& is_date) {
  const char* begin = p;
  if (!find_time(p, time, is_date)) {
    fail_field(begin, "a time: a number, or a date such as 2005-09-06 or 2005-09-06 12:30:00");
  }
}

void ChunkTimes::read(const char*& p) {
  std::int64_t time = 0;
  bool is_date = false;
  read_time(p, time, is_date);
  (is_date ? dates : numbers) = true;
  add(time);
}

void check_times(const std::string& path, const std::vector<ChunkTimes>& chunks) {
  bool numbers = false, dates = false;
  for (const ChunkTimes& one : chunks) {
    numbers = numbers || one.numbers;
    dates = dates || one.dates;
  }
  if (numbers && dates)
    fail_in_file(path, "times that are numbers and times that are dates", "times of one kind");
}

void fail_without_times(const std::string& path, const std::string& found) {
  fail_in_file(path, found, "a time of each rating, which \"by_time\" and \"leave_last\" go by",
               "name its column with \"columns\": {\"time\": ...}, or take \"leave_out\" or "
               "\"holdout\"");
}

}  // namespace mf
