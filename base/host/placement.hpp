// Where threads run and where their memory lies: nowhere in particular, unless a run asks for it.
#pragma once

#include <string>
#include <vector>

#include "base/host/cpu_topology.hpp"
#include "base/json/names.hpp"

namespace mf {

// What each thread of a team is bound to.
enum class Pin {
  none,     // as the system sees fit
  threads,  // one hardware thread; siblings of a core are used when all cores are
  cores,    // the hardware threads of one core
  nodes,    // those of one NUMA node; threads are dealt to the nodes in blocks
};
inline constexpr Names kPins{std::to_array<Named<Pin>>({{"none", Pin::none},
                                                        {"threads", Pin::threads},
                                                        {"cores", Pin::cores},
                                                        {"nodes", Pin::nodes}})};

enum class MemoryPolicy {
  first_touch,  // on the node of the thread that writes a page first
  interleave,   // page by page over all nodes
  node,         // on only one node
};

struct Placement {
  Pin pin = Pin::none;
  MemoryPolicy memory = MemoryPolicy::first_touch;
  int node = 0;  // of MemoryPolicy::node
};

// "first-touch", "interleave" or "node:N". Throws Error(usage) for anything else.
void set_memory(Placement& placement, const std::string& text);
std::string memory_text(const Placement& placement);

// For each of `threads`, the cpus it may run on; nothing for Pin::none. Cores are taken node by
// node; more threads than there are places begin again with the first.
std::vector<std::vector<int>> cpus_of_threads(const CpuTopology& topology, Pin pin, int threads);

// All teams of threads that are made while it lives are placed by it, and so is the memory that
// this thread and its teams touch first. One at a time. Throws Error(usage) for a node that is not
// there and Error(unsupported) where the system refuses.
class PlacementScope {
 public:
  explicit PlacementScope(const Placement& placement);
  ~PlacementScope();
  PlacementScope(const PlacementScope&) = delete;
  PlacementScope& operator=(const PlacementScope&) = delete;

  // The scope that lives, or null.
  static const PlacementScope* current();

  const Placement& placement() const { return placement_; }
  const CpuTopology& topology() const { return topology_; }

 private:
  struct KernelPolicy {
    int mode = 0;
    std::vector<unsigned long> nodes;
  };
  void set_policy();

  Placement placement_;
  CpuTopology topology_;  // of what could be used before any thread was bound
  bool policy_is_set_ = false;
  KernelPolicy before_;
};

// Binds the calling thread for as long as this lives.
class BoundThread {
 public:
  explicit BoundThread(const std::vector<int>& cpus);  // none: it stays as it is
  ~BoundThread();
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  std::vector<int> before_;
};

// Throws Error(unsupported) where the system refuses. `thread` is a pthread_t.
void bind_thread(unsigned long thread, const std::vector<int>& cpus);

// How the kernel says that this thread's memory is placed: "first-touch", "interleave", "node:1",
// "preferred"; "" where it does not say.
std::string memory_seen();

}  // namespace mf
