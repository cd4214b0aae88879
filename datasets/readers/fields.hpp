// Internal: the fields of a line. Every line a parser sees ends in '\n', which no field contains,
// so these loops do not check for the end of the text. The code that every line runs is
// always_inline: the number of formats should not decide their speed. Loops move a local pointer: a
// character may alias the caller's, which would be stored at every step.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "datasets/ratings/dataset.hpp"
#include "datasets/readers/eight_chars.hpp"
#include "datasets/readers/parse_error.hpp"

namespace mf {

// Whether a rating lies on the declared scale; any rating does if none is declared.
class ScaleCheck {
 public:
  explicit ScaleCheck(const std::optional<RatingScale>& scale, std::optional<double> unrated = {});
  bool accepts(float value) const {
    if (!declared_) return true;
    if (!(value >= scale_.min && value <= scale_.max)) return value == unrated_;
    if (scale_.step <= 0) return true;
    // Steps such as 0.1 are not exact in floats: compare in steps, with room for rounding. There
    // are fewer than 2^25 (why_no_scale), so that the number of one fits an integer.
    const double steps = (double{value} - double{scale_.min}) * per_step_;
    const double nearest = static_cast<double>(static_cast<std::int64_t>(steps + 0.5));
    return std::abs(steps - nearest) < room_;
  }
  std::string describe() const;  // "a rating from 1 to 5 in steps of 0.5"

 private:
  bool declared_ = false;
  RatingScale scale_;
  double per_step_ = 0;
  double room_ = 0;  // in steps
  float unrated_;    // accepted beside them; NaN: none
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Reads an unsigned integer up to `max`; false without one.
[[gnu::always_inline]] inline bool read_integer(const char*& p, std::uint64_t max,
                                                std::uint64_t& value) {
  const char* begin = p;
  const char* q = p;
  std::uint64_t v = 0;
  while (is_digit(*q)) v = v * 10 + static_cast<std::uint64_t>(*q++ - '0');
  p = q;
  if (q - begin > 19) [[unlikely]] {  // may have wrapped around: leave out leading zeros
    while (*begin == '0') ++begin;
    if (q - begin > 19) return false;
  }
  value = v;
  return q != begin && v <= max;
}

// Throws LineError for a field, up to `end`, that should be an integer; `what` is "user" or "item".
// Unless it is a slip, such as a number with a fraction or a mark of nothing, it may be a name.
[[noreturn]] void fail_name_or_id(const char* begin, const char* end, std::string expected,
                                  const char* what);
// The same of the field at `begin`; `names`: other ids of the column may be names.
[[noreturn]] void fail_id(const char* begin, const char* what, bool names);

// As read_integer, of a line of a chunk: up to seven digits as one word, more one by one.
[[gnu::always_inline]] inline bool read_integer_of_line(const char*& p, std::uint64_t max,
                                                        std::uint64_t& value) {
  const EightDigits digits(p);
  if (digits.count == 0 || digits.count == 8) [[unlikely]]
    return read_integer(p, max, value);
  p += digits.count;
  value = digits.value();
  return value <= max;
}

// An id of a user or an item, 0 .. 2^31 - 1; `what` is "user" or "item". For a line of a chunk.
[[gnu::always_inline]] inline std::int32_t read_id(const char*& p, const char* what,
                                                   bool names = false) {
  const char* begin = p;
  std::uint64_t id = 0;
  if (!read_integer_of_line(p, std::numeric_limits<std::int32_t>::max(), id)) [[unlikely]] {
    fail_id(begin, what, names);
  }
  return static_cast<std::int32_t>(id);
}

// The same of a column that may hold names. 007 is 7 only if its ids are said to be integers.
[[gnu::always_inline]] inline std::int32_t read_id(const char*& p, const char* what, IdKind kind) {
  const char* begin = p;
  const std::int32_t id = read_id(p, what, true);
  if (*begin == '0' && p - begin > 1 && kind != IdKind::integers) [[unlikely]]
    fail_id(begin, what, true);
  return id;
}

// At most seven digits and a point: both the digits and the power of ten are floats, so that one
// division rounds correctly, as std::from_chars would.
[[gnu::always_inline]] inline bool read_short_decimal(const char*& p, float& value) {
  constexpr std::array<float, 8> kPower = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
  const char* q = p;
  std::uint32_t digits = 0;
  while (is_digit(*q)) digits = digits * 10 + static_cast<std::uint32_t>(*q++ - '0');
  auto count = q - p;
  std::ptrdiff_t fraction = 0;
  if (*q == '.') {
    const char* point = q++;
    while (is_digit(*q)) digits = digits * 10 + static_cast<std::uint32_t>(*q++ - '0');
    fraction = q - point - 1;
    count += fraction;
  }
  if (count == 0 || count > 7 || *q == 'e' || *q == 'E') return false;
  value = static_cast<float>(digits);
  if (fraction > 0) value /= kPower[fraction];
  p = q;
  return true;
}

// Any other.
bool read_long_decimal(const char*& p, float& value);

// A finite decimal number; the caller reports its expectation.
[[gnu::always_inline]] inline bool read_number(const char*& p, float& value) {
  return read_short_decimal(p, value) || read_long_decimal(p, value);
}

// Whether all of it is a number.
bool is_plain_number(std::string_view word);

[[noreturn]] void fail_rating(const char* begin, const ScaleCheck& scale);

[[gnu::always_inline]] inline float read_rating(const char*& p, const ScaleCheck& scale) {
  const char* begin = p;
  float value = 0;
  if (!read_number(p, value) || !scale.accepts(value)) [[unlikely]] {
    fail_rating(begin, scale);
  }
  return value;
}

[[noreturn]] void fail_line_end(const char* p, const std::string& line);

// The end of the line, LF or CRLF. `line` describes a whole line, for the message.
[[gnu::always_inline]] inline void read_line_end(const char*& p, const std::string& line) {
  if (*p == '\r' && p[1] == '\n') ++p;
  if (*p != '\n') [[unlikely]]
    fail_line_end(p, line);
  ++p;
}

// Digits and marks of a date or time that is skipped, such as "2005-09-06"; at least one. For a
// line of a chunk.
template <char... kMarks>
[[gnu::always_inline]] inline void skip_date(const char*& p, const char* expected) {
  const char* begin = p;
  skip_digits<kMarks...>(p);
  if (p == begin) [[unlikely]]
    fail_field(p, expected);
}

[[noreturn]] void fail_blank_line(const char* p, std::string_view expected);

// Throws for a blank line at p.
[[gnu::always_inline]] inline void refuse_blank_line(const char* p, std::string_view expected) {
  if (at_line_end(p)) [[unlikely]]
    fail_blank_line(p, expected);
}

[[noreturn]] void fail_separator(const char* p, char separator, const char* field,
                                 const std::string& line);

// The single character that ends the field which began at `field`.
inline void read_separator(const char*& p, char separator, const char* field,
                           const std::string& line) {
  if (*p != separator) [[unlikely]]
    fail_separator(p, separator, field, line);
  ++p;
}

}  // namespace mf
