// Internal: when ratings were given, if a split asks for it: numbers, as unix times, or dates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {

// A number (a fraction is dropped), or a date such as 2005-09-06, 2005-09-06 12:30 or
// 2005-09-06T12:30:00.5Z, as seconds since 1970, in UTC or the zone at its end (+02:00). Moves p
// behind it. For a line that ends in '\n'. Throws LineError.
void read_time(const char*& p, std::int64_t& time, bool& is_date);
// 19:09:00 or 19:09 as seconds.
bool read_clock(const char*& p, std::int64_t& seconds);

// Moves p behind a time that is not asked for, the last field of its line: anything that
// read_time() takes; digits and these marks are fast.
template <char... kMarks>
[[gnu::always_inline]] inline void skip_time(const char*& p) {
  const char* begin = p;
  skip_digits<kMarks...>(p);
  if (p > begin && at_line_end(p)) [[likely]]
    return;
  p = begin;
  std::int64_t time = 0;
  bool is_date = false;
  read_time(p, time, is_date);
}

// The times of one chunk.
struct ChunkTimes {
  std::int64_t* next = nullptr;  // place of the next one
  bool numbers = false, dates = false;

  void read(const char*& p);  // throws LineError
  void add(std::int64_t time) { *next++ = time; }
};

// Throws Error(data) if some are numbers and others dates, which have no common order.
void check_times(const std::string& path, const std::vector<ChunkTimes>& chunks);

// Throws Error(data): the file has no times, with the remedy.
[[noreturn]] void fail_without_times(const std::string& path, const std::string& found);

}  // namespace mf
