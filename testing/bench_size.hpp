// Sizes of the micro-benchmarks of data: small by default, as large as wanted by environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace mf {

// $MFBENCH_BENCH_RATINGS ("100000000"), else what the benchmark says.
inline std::int64_t bench_ratings(std::int64_t by_default) {
  const char* own = std::getenv("MFBENCH_BENCH_RATINGS");
  return own == nullptr || *own == '\0' ? by_default : std::stoll(own);
}

}  // namespace mf
