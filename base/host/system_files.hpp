// Files of /proc and /sys: short texts that the system writes whenever they are read. They are read
// around each case, so without streams of C++, which take longer than the system does.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mf {

// All of it; empty if it cannot be read.
std::string system_text(const std::string& path);

// The lines of a text, without their ends, and the words of a line between any of these separators.
// They lie in the text.
std::vector<std::string_view> lines_in(std::string_view text);
std::vector<std::string_view> words_in(std::string_view line, const char* between = " \t\n");

// For each line of a file.
void for_system_lines(const std::string& path, const std::function<void(std::string_view)>& action);

// The number that a text begins with, behind blanks; empty if there is no finite number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  Number value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

}  // namespace mf
