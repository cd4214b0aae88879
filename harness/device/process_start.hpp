// When this process began.
#pragma once

#include "base/clock.hpp"

namespace mf {

// The time is the kernel's. The kernel counts ticks (mostly of 10 ms) and rounds down, so the time
// can be a tick too early. It lies before main() at the latest.
Clock::time_point process_start();

}  // namespace mf
