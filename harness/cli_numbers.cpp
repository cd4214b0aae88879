#include "harness/commands.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "base/text.hpp"

namespace mf {
namespace {

// All of the text, or nothing.
template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

// `name` is how the help calls the range.
template <class T>
CLI::Validator within(const std::string& name, const std::string& expected,
                      const std::function<bool(T)>& fits) {
  const auto check = [=](const std::string& text) {
    const auto value = parsed<T>(text);
    if (value && fits(*value)) return std::string();
    return fmt::format("found {}, expected {}", value ? text : in_quotes(text), expected);
  };
  return {check, name};
}

}  // namespace

CLI::Validator whole_within(std::int64_t min, std::int64_t max) {
  return within<std::int64_t>(fmt::format("INT in [{} - {}]", min, max),
                              fmt::format("an integer from {} to {}", min, max),
                              [=](std::int64_t value) { return value >= min && value <= max; });
}

CLI::Validator number_above_zero() {
  return within<double>("POSITIVE", "a number above 0",
                        [](double value) { return std::isfinite(value) && value > 0; });
}

CLI::Validator number_from_zero() {
  return within<double>("NONNEGATIVE", "a number from 0",
                        [](double value) { return std::isfinite(value) && value >= 0; });
}

}  // namespace mf
