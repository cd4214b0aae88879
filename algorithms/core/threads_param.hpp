// The parameter `threads` of algorithms for the CPU.
#pragma once

#include "algorithms/core/params.hpp"
#include "base/threads.hpp"

namespace mf {

inline ParamSpec threads_param() {
  return ParamSpec::integer("threads", 0, 0, 4096, "threads; 0: all hardware threads");
}

// The threads of one process that has the host to itself.
inline int threads_of(const Params& params) {
  const auto asked = static_cast<int>(params.integer("threads"));
  return asked > 0 ? asked : hardware_threads();
}

}  // namespace mf
