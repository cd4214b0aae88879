// Notes and warnings for the user, on standard error, so that --json output stays clean.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/ranks/silence.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"

namespace mf {

// Flushes stdout first: if both streams go to one place, lines stay in order.
inline void to_stderr(const std::string& kind, const std::string& text) {
  if (is_silent) return;
  std::fflush(stdout);
  fmt::print(stderr, "{}{}: {}\n", clear_line(stderr), kind, printable(text));
}

// "warning: ...": something is wrong, but the work goes on.
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  to_stderr(in_colour(stderr, Colour::yellow, "warning"),
            fmt::format(format, std::forward<Args>(args)...));
}

// "error: ...": the command ends here.
inline void tell_error(const std::string& text) {
  to_stderr(in_colour(stderr, Colour::red, "error"), text);
}

// "info: ...": why nothing seems to happen.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  to_stderr("info", fmt::format(format, std::forward<Args>(args)...));
}

// A note that is printed once, however often its data are read.
template <class... Args>
void note_once(fmt::format_string<Args...> format, Args&&... args) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  if (is_silent) return;
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  const std::lock_guard lock(mutex);
  if (printed.insert(text).second) note("{}", text);
}

}  // namespace mf
