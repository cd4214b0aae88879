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

// The groups that limit this process's share of `controller` ("memory", "cpu"): its own first, then
// the enclosing ones. A process stays in its groups, so they are looked up once. `root` precedes
// /proc and /sys; tests pass their own trees.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::string& root = "");

// How many processors' time the groups around this process leave it, rounded up; empty if they set
// no limit.
std::optional<int> cpus_of_groups(const std::string& root = "");

}  // namespace mf
