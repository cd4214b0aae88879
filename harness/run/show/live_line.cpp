#include "harness/run/show/live_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"

namespace mf {
namespace {

constexpr std::size_t kLeastBar = 10, kMostBar = 30, kLeastName = 12;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string cut(const std::string& name, std::size_t columns) {
  if (columns_of(name) <= columns) return name;
  return columns < 3 ? std::string() : first_columns(name, columns - 2) + "..";
}

std::string bar(double share, std::size_t width) {
  const auto full = static_cast<std::size_t>(
      std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) + 1e-6));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

}  // namespace

std::string first_columns(const std::string& text, std::size_t columns) {
  std::size_t at = 0, seen = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && seen++ == columns) break;
  }
  return text.substr(0, at);
}

std::string format_left(std::optional<double> seconds) {
  if (!seconds || !std::isfinite(*seconds)) return "?";
  const double rounded = std::ceil(std::max(*seconds, 0.0) - 1e-9);
  if (rounded >= 100.0 * 3600) return fmt::format("{:.0f} days", rounded / (24 * 3600));
  const auto whole = static_cast<std::int64_t>(rounded);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

// The bar and the time left come first, then details as long as a name of some length has room,
// then the name, and what remains makes the bar longer.
std::string live_line(const LiveState& state, std::size_t columns) {
  const std::string name = one_line(state.name);
  std::string right = fmt::format("  left {:>7}", format_left(state.left_s));
  const std::size_t fixed = columns_of(state.count) + 2 + kLeastBar + 2;  // blanks, brackets
  const std::size_t least_name = std::min(columns_of(name), kLeastName) + 1;
  for (const auto& detail : state.details) {
    const std::size_t more = columns_of(detail) + 2;
    if (fixed + columns_of(right) + more + least_name > columns) break;
    right += "  " + detail;
  }
  const std::size_t used = fixed + columns_of(right);
  std::string shown;
  if (columns > used + 1) shown = cut(name, columns - used - 1);
  const std::size_t with_name = used + (shown.empty() ? 0 : columns_of(shown) + 1);
  const std::size_t spare = columns > with_name ? columns - with_name : 0;
  const std::size_t width = std::min(kMostBar, kLeastBar + spare);
  const std::string line = fmt::format("{}{}  {}{}", state.count, shown.empty() ? "" : " " + shown,
                                       bar(state.share, width), right);
  return first_columns(line, columns);
}

}  // namespace mf
