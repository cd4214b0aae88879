// Internal: when ratings were given, if a split asks for it: numbers, as unix times, or dates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {

inline constexpr std::int64_t kMillion = 1'000'000;

// Digits of a fraction beyond the sixth are dropped.
struct Moment {
  std::int64_t whole = 0, millionths = 0;  // the latter added, from 0 to a million
};

// A number, or a date such as 2005-09-06, 2005-09-06 12:30 or 2005-09-06T12:30:00.5Z, as seconds
// since 1970, in UTC or the zone at its end (+02:00). Moves p behind it. For a line that ends in
// '\n'. Throws LineError.
void read_time(const char*& p, Moment& time, bool& is_date);
// Seconds since 1970 of a text that is such a date and nothing else.
std::optional<std::int64_t> date_of(const std::string& text);
// 19:09:00 or 19:09 as seconds.
bool read_clock(const char*& p, Moment& seconds);

// Moves p behind a time that is not asked for, the last field of its line: anything that
// read_time() takes; digits and these marks are fast.
template <char... kMarks>
[[gnu::always_inline]] inline void skip_time(const char*& p) {
  const char* begin = p;
  skip_digits<kMarks...>(p);
  if (p > begin && at_line_end(p)) [[likely]]
    return;
  p = begin;
  Moment time;
  bool is_date = false;
  read_time(p, time, is_date);
}

// The times of one chunk: whole numbers, until the first with a fraction makes all of them
// millionths.
struct ChunkTimes {
  std::int64_t* first = nullptr;
  std::int64_t* next = nullptr;  // place of the next one
  bool numbers = false, dates = false;
  bool fractions = false;  // so that they are millionths
  bool too_large = false;  // one of them, for that

  void read(const char*& p);  // throws LineError
  void add(const Moment& time);
  void to_millionths();

 private:
  std::int64_t in_millionths(std::int64_t whole);
};

// Millionths in all chunks if any has fractions. Throws Error(data) if some are numbers and others
// dates, which have no common order, or if one is too large for millionths.
void finish_times(const std::string& path, std::vector<ChunkTimes>& chunks);

// Throws Error(data): the file has no times, with the remedy.
[[noreturn]] void fail_without_times(const std::string& path, const std::string& found);

}  // namespace mf
