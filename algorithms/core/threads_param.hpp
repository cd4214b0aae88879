// The parameters `threads` and `simd` of algorithms for the CPU.
#pragma once

#include <optional>
#include <string>

#include "algorithms/core/params.hpp"
#include "base/host/isa.hpp"
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

inline ParamSpec simd_param() {
  return ParamSpec::choice("simd", "auto", {"auto", "scalar", "avx2", "avx512"},
                           "instruction set of the inner loop; auto: the best this CPU has");
}

inline std::optional<std::string> why_no_simd(const Params& params) {
  const std::string& simd = params.choice("simd");
  if (find_isa(simd)) return std::nullopt;
  return "simd \"" + simd + "\": this CPU lacks it";
}

}  // namespace mf
