// Which hardware threads there are for this process, and how they share cores and NUMA nodes.
#pragma once

#include <string>
#include <vector>

namespace mf {

struct HardwareThread {
  int cpu = 0;   // as the system numbers it
  int core = 0;  // the lowest cpu of its core: equal for siblings
  int node = 0;  // of its NUMA memory
};

struct CpuTopology {
  std::vector<HardwareThread> threads;  // by cpu; those that may be used
  std::vector<int> nodes;               // NUMA nodes with memory, never empty
};

// The calling thread's affinity mask; empty where the system does not say.
std::vector<int> affinity_of_this_thread();

// By /sys. For what it does not tell, each cpu is a core of its own on node 0.
CpuTopology find_topology(const std::vector<int>& allowed, const std::string& sys = "/sys");

// "0-3,8" <-> {0, 1, 2, 3, 8}. What is no such list ends it.
std::vector<int> parse_cpu_list(const std::string& text);
std::string cpu_list_text(const std::vector<int>& cpus);

}  // namespace mf
