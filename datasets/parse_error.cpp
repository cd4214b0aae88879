#include "datasets/parse_error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace mf {
namespace {

bool ends_field(char c) {
  return std::string_view(" \t\r\n,;:|").find(c) != std::string_view::npos;
}

std::string found_expected(const LineError& error) {
  return fmt::format("found {}, expected {}{}{}", error.found, error.expected,
                     error.advice.empty() ? "" : "; ", error.advice);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kMost ? "...'" : "'");
}

std::string field_at(const char* p) {
  if (*p == '\n' || (*p == '\r' && p[1] == '\n')) return "the end of the line";
  const char* end = p + 1;  // a separator in the wrong place is shown by itself
  if (!ends_field(*p)) {
    while (!ends_field(*end)) ++end;
  }
  return in_quotes({p, static_cast<std::size_t>(end - p)});
}

void fail_field(const char* p, std::string expected, std::string advice) {
  throw LineError{p, field_at(p), std::move(expected), std::move(advice)};
}

void fail_in_text(const std::string& path, std::string_view text, std::size_t offset,
                  const LineError& error) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  fail(ErrorKind::data, "{}:{}:{}: {}", path, line, offset - line_begin + 1, found_expected(error));
}

void fail_in_file(const std::string& path, const std::string& found, const std::string& expected,
                  const std::string& advice) {
  fail(ErrorKind::data, "{}: {}", path, found_expected({nullptr, found, expected, advice}));
}

}  // namespace mf
