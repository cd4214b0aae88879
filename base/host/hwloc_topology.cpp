// The topology by hwloc, which knows machines whose /sys says little; without it, by /sys.
#include <algorithm>

#include "base/host/cpu_topology.hpp"

#ifdef MF_HAVE_HWLOC
#include <fmt/core.h>
#include <hwloc.h>

#include <memory>
#include <optional>
#endif

namespace mf {

#ifdef MF_HAVE_HWLOC

namespace {

using Hwloc = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

int first_cpu(hwloc_const_bitmap_t set, int fallback) {
  const int first = set == nullptr ? -1 : hwloc_bitmap_first(set);
  return first < 0 ? fallback : first;
}

HardwareThread hardware_thread(hwloc_topology_t machine, int cpu) {
  HardwareThread found{cpu, cpu, 0};
  hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(machine, static_cast<unsigned>(cpu));
  if (unit == nullptr) return found;
  if (hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, unit)) {
    found.core = first_cpu(core->complete_cpuset, cpu);
  }
  if (unit->nodeset != nullptr) found.node = std::max(0, hwloc_bitmap_first(unit->nodeset));
  return found;
}

std::optional<CpuTopology> by_hwloc(const std::vector<int>& allowed) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return std::nullopt;
  const Hwloc machine(made, &hwloc_topology_destroy);
  if (hwloc_topology_load(made) != 0) return std::nullopt;
  CpuTopology topology;
  topology.source = hwloc_version();
  for (const int cpu : allowed) topology.threads.push_back(hardware_thread(made, cpu));
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(made, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    topology.nodes.push_back(static_cast<int>(node->os_index));
  }
  std::sort(topology.nodes.begin(), topology.nodes.end());
  if (topology.nodes.empty()) topology.nodes = {0};
  return topology;
}

}  // namespace

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("hwloc interface {}.{}.{}", version >> 16, (version >> 8) & 0xff,
                     version & 0xff);
}

CpuTopology find_topology(const std::vector<int>& allowed) {
  if (auto found = by_hwloc(allowed)) return *found;
  return sysfs_topology(allowed);
}

#else

std::string hwloc_version() { return ""; }
CpuTopology find_topology(const std::vector<int>& allowed) { return sysfs_topology(allowed); }

#endif

}  // namespace mf
