// The wall clock of all measurements.
#pragma once

#include <chrono>

namespace mf {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace mf
