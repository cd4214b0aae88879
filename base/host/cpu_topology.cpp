#include "base/host/cpu_topology.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <charconv>

#include "base/host/system_files.hpp"

namespace mf {
namespace {

constexpr int kMostCpus = 1 << 20;  // of a list: a line of a file is not to be trusted

std::string first_line(const std::string& path) {
  const std::string text = system_text(path);
  return text.substr(0, text.find('\n'));
}

int core_of(int cpu, const std::string& sys) {
  const std::string folder = fmt::format("{}/devices/system/cpu/cpu{}/topology/", sys, cpu);
  for (const char* name :
       {"core_cpus_list", "thread_siblings_list"}) {  // older kernels: the latter
    const auto siblings = parse_cpu_list(first_line(folder + name));
    if (!siblings.empty()) return *std::min_element(siblings.begin(), siblings.end());
  }
  return cpu;
}

}  // namespace

std::vector<int> affinity_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

CpuTopology find_topology(const std::vector<int>& allowed, const std::string& sys) {
  CpuTopology topology;
  for (const int cpu : allowed) topology.threads.push_back({cpu, core_of(cpu, sys), 0});
  const std::string nodes = sys + "/devices/system/node/";
  for (const int node : parse_cpu_list(first_line(nodes + "online"))) {
    const auto cpus = parse_cpu_list(first_line(fmt::format("{}node{}/cpulist", nodes, node)));
    for (auto& thread : topology.threads) {
      if (std::find(cpus.begin(), cpus.end(), thread.cpu) != cpus.end()) thread.node = node;
    }
  }
  topology.nodes = parse_cpu_list(first_line(nodes + "has_memory"));
  if (topology.nodes.empty()) topology.nodes = {0};
  return topology;
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    const auto [after, error] = std::from_chars(at, end, first);
    if (error != std::errc() || first < 0) break;
    int last = first;
    at = after;
    if (at != end && *at == '-') {
      const auto [next, bad] = std::from_chars(at + 1, end, last);
      if (bad != std::errc() || last < first || last >= kMostCpus) break;
      at = next;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == end || *at != ',') break;
    ++at;
  }
  return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? std::to_string(cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace mf
