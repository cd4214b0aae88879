// The control groups around this process, of both versions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mf {

struct ControlGroup {
  int version = 2;
  std::string folder;  // "/sys/fs/cgroup/slice/box"; `root` is not in it
};

// The groups that bound what this process gets of `controller` ("memory", "cpu"): its own first,
// then each that it is in. A process stays in its groups, so they are looked for once. `root`
// stands before /proc and /sys; tests have trees of their own.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::string& root = "");

// How many processors' time the groups around this process leave it, rounded up; nothing where
// they do not say.
std::optional<int> cpus_of_groups(const std::string& root = "");

}  // namespace mf
