// The one exception type of mfbench. Its message is written for the user: the place
// (file:line:column or JSON path), the value found, the value expected, the remedy.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace mf {

// The value is the exit code of the program (docs/spec.md lists them).
enum class ErrorKind {
  usage = 2,        // command line or spec
  data = 3,         // a data set that is malformed, missing or fails its checksum
  io = 4,           // unwritable folder, full disk, network
  unsupported = 5,  // needs something this machine or this build has not
  memory = 6,       // does not fit the host's or the device's memory
  device = 7,       // the device failed at work; its memory is lost
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// Throws Error(data) "path: found X, expected Y; advice" for a file as a whole.
[[noreturn]] inline void fail_in_file(const std::string& path, const std::string& found,
                                      const std::string& expected, const std::string& advice = "") {
  fail(ErrorKind::data, "{}: found {}, expected {}{}{}", path, found, expected,
       advice.empty() ? "" : "; ", advice);
}

}  // namespace mf
