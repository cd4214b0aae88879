// Lines for the user that are no errors, on standard error, so that --json output stays clean.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "base/text.hpp"

namespace mf {

// "warning: ...": something is not as it should be, and the work goes on.
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "warning: {}\n", printable(fmt::format(format, std::forward<Args>(args)...)));
}

// "info: ...": why nothing seems to happen.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "info: {}\n", printable(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace mf
