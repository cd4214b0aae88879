#include "datasets/readers/parse_error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace mf {
namespace {

bool ends_field(char c) {
  return std::string_view(" \t\r\n,;:|").find(c) != std::string_view::npos;
}

}  // namespace

const char* comma_advice(std::string_view digits) {
  const bool thousands =
      digits.size() == 3 && digits.find_first_not_of("0123456789") == digits.npos;
  return thousands ? "take a comma between thousands out; write a decimal comma as a point"
                   : "write decimals with a point, as in 3.5";
}

bool is_truth_value(std::string_view word) {
  return word == "True" || word == "False" || word == "true" || word == "false" || word == "TRUE" ||
         word == "FALSE";
}

const char* mark_advice(std::string_view field) {
  return field.starts_with("\xEF\xBB\xBF")
             ? "take this byte order mark out, which stands where files were joined"
             : "";
}

const char* field_end(const char* p) {
  constexpr int kMost = 1 << 12;  // the rest of a file that was cut short may be gigabytes
  while (*p == ' ') ++p;
  for (int size = 0; size < kMost && !ends_field(*p); ++size) ++p;
  return p;
}

std::string field_at(const char* p) {
  if (*p == '\n' || (*p == '\r' && p[1] == '\n')) return "the end of the line";
  // A separator in the wrong place is shown as one character.
  return in_quotes({p, ends_field(*p) ? p + 1 : field_end(p)});
}

namespace {

// Digits with some of `marks` between them.
bool is_cut_number(std::string_view field, std::string_view marks) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (field.starts_with('-')) field.remove_prefix(1);
  if (field.empty() || !digit(field.front()) || !digit(field.back())) return false;
  return field.find_first_of(marks) != field.npos &&
         std::all_of(field.begin(), field.end(),
                     [&](char c) { return digit(c) || marks.find(c) != marks.npos; });
}

// Advice on a field that is not a plain number, or "".
std::string number_advice(std::string_view field) {
  if (const char* const advice = mark_advice(field); *advice != '\0') return advice;
  if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  if (field.starts_with(' ') || field.ends_with(' ')) return "take the blank out";
  const auto marks = std::count_if(field.begin(), field.end(), [](char c) {
    return std::string_view(",._' ").find(c) != std::string_view::npos;
  });
  if (marks == 1 && is_cut_number(field, ","))
    return comma_advice(field.substr(field.find(',') + 1));
  if (is_cut_number(field, marks > 1 ? ",._' " : "_' ")) {
    return "write numbers without marks between their digits";
  }
  return "";
}

}  // namespace

void fail_number(const char* begin, const char* end, std::string expected, std::string otherwise,
                 const char* id) {
  const std::string_view field(begin, end);
  std::string advice = number_advice(field);
  const bool name = id != nullptr && advice.empty() && !field.empty();
  throw LineError{begin, field.empty() ? field_at(begin) : in_quotes(field), std::move(expected),
                  advice.empty() ? std::move(otherwise) : std::move(advice), name ? id : nullptr};
}

void fail_field(const char* p, std::string expected, std::string advice) {
  const std::string_view field(p, field_end(p));
  if (const char* const better = mark_advice(field); *better != '\0') advice = better;
  if (is_truth_value(field)) advice = "write 1 for true and 0 for false";
  throw LineError{p, field_at(p), std::move(expected), std::move(advice)};
}

void fail_up_to(const char* p, char separator, std::string expected) {
  const char* end = p;
  while (*end != '\n' && *end != separator) ++end;
  if (*end == '\n' && end > p && end[-1] == '\r') --end;
  fail_number(p, end, std::move(expected));
}

std::string place_in_text(const Text& text, std::int64_t offset) {
  const std::string_view before = text.view().substr(0, static_cast<std::size_t>(offset));
  const auto line = 1 + text.lines_before + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", text.path, line, before.size() - line_begin + 1);
}

std::string odd_line(std::string_view text, std::int64_t offset) {
  const auto at = static_cast<std::size_t>(offset);
  const std::size_t begin = text.substr(0, at).rfind('\n') + 1;
  const auto line_at = [&](std::size_t from) {
    const std::string_view line = text.substr(from, text.find('\n', from) - from);
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
  };
  const std::string_view line = line_at(begin);
  if (line.starts_with('#') || line.starts_with("//")) return "a comment, " + in_quotes(line);
  return begin > 0 && line == line_at(0) ? "the first line once more, " + in_quotes(line) : "";
}

void fail_in_text(const Text& text, std::int64_t offset, const LineError& error) {
  const std::string odd = odd_line(text.view(), offset);
  fail_in_file(place_in_text(text, offset), odd.empty() ? error.found : odd, error.expected,
               odd.empty() ? error.advice : "take the line out");
}

}  // namespace mf
