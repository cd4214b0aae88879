// The control groups around this process, of both versions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mf {

struct ControlGroup {
  int version = 2;
  std::string folder;  // "/sys/fs/cgroup/slice/box"; `root` is not in it
};

// The groups that bound what this process gets of `controller` ("memory", "cpu"): its own first,
// then each that it is in. `root` stands before /proc and /sys; tests have trees of their own.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::string& root = "");

// For /proc and /sys: the lines of a file (no lines if it cannot be read), the words of a line.
void for_lines(const std::string& path, const std::function<void(const std::string&)>& action);
std::vector<std::string> words_of(const std::string& line);

// How many processors' time the groups around this process leave it, rounded up; nothing where
// they do not say.
std::optional<int> cpus_of_groups(const std::string& root = "");

}  // namespace mf
