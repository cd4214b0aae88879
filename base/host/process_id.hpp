// Which process of which machine: written down by one process, so that others can say whether it
// still runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mf {

struct ProcessId {
  std::string host;   // the name that the machine has in its network
  std::string boot;   // of the running kernel: each boot has another
  std::string space;  // of process numbers: a container has its own
  std::int64_t pid = 0;
  std::string begin;  // clock ticks since the boot: a later process of the same number has another

  bool operator==(const ProcessId& other) const = default;
  bool on_same_host(const ProcessId& other) const;
  std::string to_text() const;  // "process 4711 on n017"
};

// The kernel's: /proc/sys/kernel/random/boot_id.
std::string boot_id();

ProcessId own_process();

// Whether it runs; empty if that cannot be told from here: it was on another machine, in another
// container, or before a boot.
std::optional<bool> is_running(const ProcessId& process);

// "its process was ended by signal 11 (Segmentation fault)", for a status as from waitpid().
std::string how_ended(int status);

}  // namespace mf
