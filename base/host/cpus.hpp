// Where this process may run and where its memory lies, as numactl, taskset or a batch system set
// it.
#pragma once

#include <string>
#include <vector>

namespace mf {

// The affinity mask; if the system does not tell it, all CPUs.
std::vector<int> usable_cpus();

// {0, 1, 2, 3, 8} -> "0-3,8".
std::string cpu_list_text(const std::vector<int>& cpus);

// The kernel's policy for memory of this thread: "first-touch", "interleave", "node:1" or
// "preferred"; empty if it is unknown.
std::string memory_policy();

}  // namespace mf
