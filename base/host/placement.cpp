#include "base/host/placement.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <map>

#include "base/error.hpp"

namespace mf {
namespace {

// The kernel's numbers; its header linux/mempolicy.h is not everywhere.
constexpr int kDefault = 0;
constexpr int kPreferred = 1;
constexpr int kBind = 2;
constexpr int kInterleave = 3;
constexpr int kLocal = 4;
constexpr int kModeFlags = 0xe000;
constexpr int kMaskBits = 1024;
constexpr int kWordBits = CHAR_BIT * sizeof(unsigned long);
constexpr const char* kNodePrefix = "node:";

const PlacementScope* living = nullptr;

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

std::vector<unsigned long> node_mask(const std::vector<int>& nodes) {
  std::vector<unsigned long> mask(kMaskBits / kWordBits, 0);
  for (const int node : nodes) {
    if (node < kMaskBits)
      mask[static_cast<std::size_t>(node / kWordBits)] |= 1UL << (node % kWordBits);
  }
  return mask;
}

bool set_mempolicy(int mode, const std::vector<unsigned long>& mask) {
  // The kernel reads one bit less than it is told.
  return ::syscall(SYS_set_mempolicy, mode, mode == kDefault ? nullptr : mask.data(),
                   mode == kDefault ? 0UL : static_cast<unsigned long>(kMaskBits) + 1) == 0;
}

bool get_mempolicy(int& mode, std::vector<unsigned long>& mask) {
  mask.assign(kMaskBits / kWordBits, 0);
  return ::syscall(SYS_get_mempolicy, &mode, mask.data(), static_cast<unsigned long>(kMaskBits),
                   nullptr, 0UL) == 0;
}

// The cpus of all threads that `key` has equal, in the order in which they come up.
template <class Key>
std::vector<std::vector<int>> grouped(const std::vector<HardwareThread>& threads, Key key) {
  std::vector<std::vector<int>> groups;
  std::map<int, std::size_t> places;
  for (const auto& thread : threads) {
    const auto [at, added] = places.try_emplace(key(thread), groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(thread.cpu);
  }
  return groups;
}

// The first hardware thread of every core, then the second of every core that has one, ...
std::vector<std::vector<int>> one_by_one(const std::vector<std::vector<int>>& cores) {
  std::vector<std::vector<int>> places;
  for (std::size_t rank = 0, added = 1; added > 0; ++rank) {
    added = 0;
    for (const auto& core : cores) {
      if (rank >= core.size()) continue;
      places.push_back({core[rank]});
      ++added;
    }
  }
  return places;
}

}  // namespace

void set_memory(Placement& placement, const std::string& text) {
  if (text == "first-touch" || text == "interleave") {
    placement.memory = text == "interleave" ? MemoryPolicy::interleave : MemoryPolicy::first_touch;
    return;
  }
  const std::size_t prefix = std::strlen(kNodePrefix);
  int node = -1;
  if (text.starts_with(kNodePrefix)) {
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data() + prefix, end, node);
    if (error != std::errc() || after != end) node = -1;
  }
  if (node < 0 || node >= kMaskBits) {
    fail(ErrorKind::usage,
         "--numa: found \"{}\", expected first-touch, interleave or node:N, such as node:0", text);
  }
  placement.memory = MemoryPolicy::node;
  placement.node = node;
}

std::string memory_text(const Placement& placement) {
  switch (placement.memory) {
    case MemoryPolicy::interleave:
      return "interleave";
    case MemoryPolicy::node:
      return kNodePrefix + std::to_string(placement.node);
    case MemoryPolicy::first_touch:
      break;
  }
  return "first-touch";
}

std::vector<std::vector<int>> cpus_of_threads(const CpuTopology& topology, Pin pin, int threads) {
  std::vector<std::vector<int>> placed;
  if (pin == Pin::none || topology.threads.empty()) return placed;
  std::vector<HardwareThread> all = topology.threads;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.node, a.core, a.cpu) < std::tie(b.node, b.core, b.cpu);
  });
  const auto cores = grouped(all, [](const HardwareThread& one) { return one.core; });
  const auto nodes = grouped(all, [](const HardwareThread& one) { return one.node; });
  const auto places = pin == Pin::nodes ? nodes : pin == Pin::cores ? cores : one_by_one(cores);
  const auto count = static_cast<std::size_t>(threads);
  for (std::size_t t = 0; t < count; ++t) {
    placed.push_back(pin == Pin::nodes ? places[t * places.size() / count]
                                       : places[t % places.size()]);
  }
  return placed;
}

void bind_thread(unsigned long thread, const std::vector<int>& cpus) {
  const cpu_set_t set = set_of(cpus);
  const int error = pthread_setaffinity_np(thread, sizeof set, &set);
  if (error == 0) return;
  fail(ErrorKind::unsupported, "a thread could not be bound to the CPUs {}: {}; run without --pin",
       cpu_list_text(cpus), std::strerror(error));
}

BoundThread::BoundThread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  before_ = affinity_of_this_thread();
  bind_thread(pthread_self(), cpus);
}

BoundThread::~BoundThread() {
  if (before_.empty()) return;
  const cpu_set_t set = set_of(before_);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

PlacementScope::PlacementScope(const Placement& placement) : placement_(placement) {
  if (placement.pin == Pin::none && placement.memory == MemoryPolicy::first_touch) return;
  topology_ = find_topology(affinity_of_this_thread());
  if (placement.pin != Pin::none && topology_.threads.empty()) {
    fail(ErrorKind::unsupported, "--pin: the system does not say which CPUs may be used");
  }
  if (placement.memory != MemoryPolicy::first_touch) set_policy();
  living = this;
}

PlacementScope::~PlacementScope() {
  if (living == this) living = nullptr;
  if (policy_is_set_) set_mempolicy(before_.mode, before_.nodes);
}

const PlacementScope* PlacementScope::current() { return living; }

void PlacementScope::set_policy() {
  const bool one = placement_.memory == MemoryPolicy::node;
  const auto& there = topology_.nodes;
  if (one && std::find(there.begin(), there.end(), placement_.node) == there.end()) {
    fail(ErrorKind::usage, "--numa: this machine has no NUMA node {}; it has {}", placement_.node,
         cpu_list_text(there));
  }
  const std::vector<int> nodes = one ? std::vector{placement_.node} : there;
  get_mempolicy(before_.mode, before_.nodes);
  if (!set_mempolicy(one ? kBind : kInterleave, node_mask(nodes))) {
    fail(ErrorKind::unsupported, "--numa {}: the system refuses: {}", memory_text(placement_),
         std::strerror(errno));
  }
  policy_is_set_ = true;
}

std::string memory_seen() {
  int mode = 0;
  std::vector<unsigned long> mask;
  if (!get_mempolicy(mode, mask)) return "";
  std::vector<int> nodes;
  for (int node = 0; node < kMaskBits; ++node) {
    if ((mask[static_cast<std::size_t>(node / kWordBits)] >> (node % kWordBits)) & 1UL) {
      nodes.push_back(node);
    }
  }
  switch (mode & ~kModeFlags) {
    case kDefault:
    case kLocal:
      return "first-touch";
    case kInterleave:
      return "interleave";
    case kBind:
      return kNodePrefix + cpu_list_text(nodes);
    case kPreferred:
      return "preferred";
    default:
      return "";
  }
}

}  // namespace mf
