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

std::string field_at(const char* p) {
  if (*p == '\n' || (*p == '\r' && p[1] == '\n')) return "the end of the line";
  const char* end = p + 1;  // a separator in the wrong place is shown by itself
  if (!ends_field(*p)) {
    while (!ends_field(*end)) ++end;
  }
  return in_quotes({p, end});
}

void fail_field(const char* p, std::string expected, std::string advice) {
  throw LineError{p, field_at(p), std::move(expected), std::move(advice)};
}

void fail_up_to(const char* p, char separator, std::string expected) {
  const char* end = p;
  while (*end != '\n' && *end != separator) ++end;
  if (*end == '\n' && end > p && end[-1] == '\r') --end;
  throw LineError{p, end == p ? field_at(p) : in_quotes({p, end}), std::move(expected), ""};
}

void fail_in_text(const std::string& path, std::string_view text, std::int64_t offset,
                  const LineError& error) {
  const std::string_view before = text.substr(0, static_cast<std::size_t>(offset));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail_in_file(fmt::format("{}:{}:{}", path, line, before.size() - line_begin + 1), error.found,
               error.expected, error.advice);
}

}  // namespace mf
