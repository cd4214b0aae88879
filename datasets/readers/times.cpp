#include "datasets/readers/times.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "datasets/readers/fields.hpp"

namespace mf {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;
constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();

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

bool read_date(const char*& p, Moment& time) {
  std::int64_t year = 0, month = 0, day = 0;
  if (!read_digits(p, 4, 4, year) || !skip(p, '-') || !read_digits(p, 2, 2, month) ||
      !skip(p, '-') || !read_digits(p, 2, 2, day))
    return false;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  time = {std::chrono::sys_days(date).time_since_epoch().count() * kDay, 0};
  const char* clock = p;
  if ((*p != 'T' && *p != ' ') || !is_digit(p[1])) return true;
  ++clock;
  Moment of_day;
  if (!read_clock(clock, of_day) || !read_zone(clock, of_day.whole)) return false;
  p = clock;
  time = {time.whole + of_day.whole, of_day.millionths};
  return true;
}

// With a fraction or an exponent, or beyond 18 digits.
bool read_any_number(const char*& p, Moment& time) {
  const char* end = p;
  while (is_digit(*end) || *end == '.' || *end == 'e' || *end == 'E' || *end == '+' || *end == '-')
    ++end;
  double value = 0;
  const auto [stop, error] = std::from_chars(p, end, value);
  constexpr double kMost = 9e18;
  if (error != std::errc() || !(std::abs(value) < kMost)) return false;
  p = stop;
  const double whole = std::floor(value);
  time = {static_cast<std::int64_t>(whole), std::llround((value - whole) * kMillion)};
  return true;
}

}  // namespace

bool read_clock(const char*& p, Moment& time) {
  std::int64_t hours = 0, minutes = 0, rest = 0;
  time = {};
  if (!read_digits(p, 1, 2, hours) || !skip(p, ':') || !read_digits(p, 2, 2, minutes)) return false;
  if (skip(p, ':')) {
    if (!read_digits(p, 2, 2, rest)) return false;
    if (skip(p, '.'))
      for (std::int64_t unit = kMillion / 10; is_digit(*p); unit /= 10)
        time.millionths += unit * (*p++ - '0');
  }
  if (hours > 24 || minutes > 59 || rest > 60) return false;
  time.whole = hours * kHour + minutes * kMinute + rest;
  return true;
}

namespace {

bool find_time(const char*& p, Moment& time, bool& is_date) {
  const char* q = p;
  const bool negative = skip(q, '-');
  const char* digits = q;
  time = {};
  while (is_digit(*q) && q - digits < 18) time.whole = time.whole * 10 + (*q++ - '0');
  is_date = !negative && q - digits == 4 && *q == '-';
  if (is_date) return read_date(p, time);
  if (q == digits || is_digit(*q) || *q == '.' || *q == 'e' || *q == 'E')
    return read_any_number(p, time);
  p = q;
  if (negative) time.whole = -time.whole;
  return true;
}

}  // namespace

void read_time(const char*& p, Moment& time, bool& is_date) {
  const char* begin = p;
  if (!find_time(p, time, is_date)) {
    fail_field(begin, "a time: a number, or a date such as 2005-09-06 or 2005-09-06 12:30:00");
  }
}

std::optional<std::int64_t> date_of(const std::string& text) {
  const std::string line = text + '\n';
  const char* p = line.data();
  Moment time;
  if (!read_date(p, time) || p != line.data() + text.size()) return std::nullopt;
  return time.whole;
}

void ChunkTimes::read(const char*& p) {
  Moment time;
  bool is_date = false;
  read_time(p, time, is_date);
  (is_date ? dates : numbers) = true;
  add(time);
}

void ChunkTimes::add(const Moment& time) {
  if (time.millionths > 0) to_millionths();
  *next++ = fractions ? in_millionths(time.whole) + time.millionths : time.whole;
}

void ChunkTimes::to_millionths() {
  if (std::exchange(fractions, true)) return;
  std::transform(first, next, first, [&](std::int64_t whole) { return in_millionths(whole); });
}

std::int64_t ChunkTimes::in_millionths(std::int64_t whole) {
  too_large = too_large || std::abs(whole) >= kMost64 / kMillion;
  return too_large ? 0 : whole * kMillion;
}

void finish_times(const std::string& path, std::vector<ChunkTimes>& chunks) {
  const auto any = [&](bool ChunkTimes::*has) {
    return std::ranges::any_of(chunks, [=](const ChunkTimes& one) { return one.*has; });
  };
  if (any(&ChunkTimes::numbers) && any(&ChunkTimes::dates))
    fail_in_file(path, "times that are numbers and times that are dates", "times of one kind");
  if (!any(&ChunkTimes::fractions)) return;
  for (ChunkTimes& one : chunks) one.to_millionths();
  if (any(&ChunkTimes::too_large))
    fail_in_file(path, "times with fractions, and one beyond 9e12 beside them",
                 "smaller ones, or whole numbers");
}

void fail_without_times(const std::string& path, const std::string& found) {
  fail_in_file(path, found, "a time of each rating, which \"by_time\" and \"leave_last\" go by",
               "name its column with \"columns\": {\"time\": ...}, or take \"leave_out\" or "
               "\"holdout\"");
}

}  // namespace mf
