#include "base/host/cpus.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>
#include <thread>

namespace mf {

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    cpus.resize(std::max(1U, std::thread::hardware_concurrency()));
    std::iota(cpus.begin(), cpus.end(), 0);
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
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

std::string memory_policy() {
  // linux/mempolicy.h is not installed everywhere.
  enum { normal, preferred, bind, interleave, local, kinds = 0x1fff };
  constexpr int kWordBits = CHAR_BIT * sizeof(unsigned long);
  std::array<unsigned long, 1024 / kWordBits> mask{};
  int mode = 0;
  if (::syscall(SYS_get_mempolicy, &mode, mask.data(), 1024UL, nullptr, 0UL) != 0) return "";
  mode &= kinds;
  if (mode == normal || mode == local) return "first-touch";
  if (mode == interleave) return "interleave";
  if (mode == preferred) return "preferred";
  std::vector<int> nodes;
  for (int node = 0; node < 1024; ++node) {
    if ((mask[node / kWordBits] >> (node % kWordBits)) & 1UL) nodes.push_back(node);
  }
  return mode == bind ? "node:" + cpu_list_text(nodes) : "";
}

}  // namespace mf
