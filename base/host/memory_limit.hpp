// How much memory this process may take: the least that the machine, the control groups around it
// (v1 and v2, every level) and its own limits (ulimit -v, -d) leave.
#pragma once

#include <cstdint>
#include <string>

namespace mf {

struct MemoryBound {
  std::int64_t bytes = 0;
  std::string by;  // "MemAvailable", "/sys/fs/cgroup/box/memory.max", "ulimit -v"
};

struct MemoryLimit {
  MemoryBound total;      // that it may ever have; 0 if unknown
  MemoryBound available;  // that it may still take, file caches that the system can drop included
};

// `root` stands before /proc and /sys; tests have trees of their own.
MemoryLimit memory_limit(const std::string& root = "");

}  // namespace mf
