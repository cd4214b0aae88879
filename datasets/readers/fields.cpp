#include "datasets/readers/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/key_words.hpp"

namespace mf {

using std::string_view_literals::operator""sv;

ScaleCheck::ScaleCheck(const std::optional<RatingScale>& scale, std::optional<double> unrated)
    : declared_(scale.has_value()),
      unrated_(static_cast<float>(unrated.value_or(std::numeric_limits<double>::quiet_NaN()))) {
  if (!declared_) return;
  if (const auto why = why_no_scale(*scale)) fail(ErrorKind::usage, "rating scale: {}", *why);
  scale_ = *scale;
  if (scale_.step <= 0) return;
  per_step_ = 1.0 / double{scale_.step};
  // Min, step and rating are floats, each rounded by at most 2^-24 of itself.
  const double largest = std::max(std::abs(double{scale_.min}), std::abs(double{scale_.max}));
  room_ = std::min(1e-3 + std::ldexp(3 * largest, -24) * per_step_, 0.25);
}

std::string ScaleCheck::describe() const {
  if (!declared_) return "a rating (a finite decimal number)";
  std::string text = fmt::format("a rating from {} to {}", scale_.min, scale_.max);
  if (scale_.step > 0) text += fmt::format(" in steps of {}", scale_.step);
  return text;
}

bool read_long_decimal(const char*& p, float& value) {
  const char* end = p;
  while (*end != '\n') ++end;
  const auto [stop, error] = std::from_chars(p, end, value);
  if (error == std::errc::result_out_of_range) {
    double wide = 0;  // 1e-50 is a number, and 0 the float next to it
    if (std::from_chars(p, end, wide).ec != std::errc() || std::abs(wide) > 1) return false;
    value = static_cast<float>(wide);
  } else if (error != std::errc() || !std::isfinite(value)) {
    return false;
  }
  p = stop;
  return true;
}

void fail_id(const char* begin, const char* what, bool names) {
  std::string expected =
      std::string(*what == 'i' ? "an " : "a ") + what + " id (an integer from 0 to 2147483647)";
  if (names) fail_name_or_id(begin, field_end(begin), std::move(expected), what);
  fail_number(begin, field_end(begin), std::move(expected));
}

bool is_plain_number(std::string_view word) {
  const std::string line = std::string(word) + '\n';
  const char* p = line.data();
  float value = 0;
  return read_number(p, value) && *p == '\n';
}

void fail_rating(const char* begin, const ScaleCheck& scale) {
  if (*begin == ' ') fail_number(begin, field_end(begin), scale.describe());
  fail_field(begin, scale.describe());
}

void fail_name_or_id(const char* begin, const char* end, std::string expected, const char* what) {
  if (end > begin && end[-1] == '"' && *begin != '"') --end;  // its quote stands before it
  std::string_view field(begin, end);
  if (field.ends_with('"')) field.remove_suffix(1);
  if (field.starts_with('"')) field.remove_prefix(1);
  constexpr std::array kNothing = {"nan"sv, "NaN"sv, "NA"sv, "null"sv, "NULL"sv, "None"sv, "\\N"sv};
  if (std::ranges::find(kNothing, field) != kNothing.end())
    fail_number(begin, end, std::move(expected), "take lines without a user or an item out");
  const std::string text = set_key("ids", {"text"});
  const std::size_t mark = field.find_first_of(".eE");
  if (mark == field.npos || !is_plain_number(field))
    fail_number(begin, end, std::move(expected), "if ids are text here, " + text, what);
  const bool whole = field.find_first_not_of("0123456789") == mark &&
                     field.find_first_not_of('0', mark + 1) == field.npos;
  fail_number(
      begin, end, std::move(expected),
      whole && mark > 0 && field[mark] == '.'
          ? fmt::format("write it as {}, or, if ids are text here, {}", field.substr(0, mark), text)
          : "if ids are text here, " + text);
}

void fail_blank_line(const char* p, std::string_view expected) {
  throw LineError{p, "a blank line", std::string(expected), "take the line out"};
}

void fail_line_end(const char* p, const std::string& line) {
  fail_field(p, "the end of the line (" + line + ")");
}

void fail_separator(const char* p, char separator, const char* field, const std::string& line) {
  const char* name = separator == '\t' ? "a tab" : "a comma";
  if (at_line_end(p)) fail_field(p, fmt::format("{} and another column ({})", name, line));
  fail_up_to(field, separator, fmt::format("a number and {} ({})", name, line));
}

}  // namespace mf
