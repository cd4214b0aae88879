// When this process began.
#pragma once

#include "base/clock.hpp"

namespace mf {

// By the kernel, which counts in ticks of mostly 10 ms and rounds down, so up to a tick too early;
// at the latest before main().
Clock::time_point process_start();

}  // namespace mf
