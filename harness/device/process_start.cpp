#include "harness/device/process_start.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/host/process_id.hpp"

namespace mf {
namespace {

const Clock::time_point kBeforeMain = Clock::now();

}  // namespace

Clock::time_point process_start() {
  const double ticks = std::strtod(own_process().begin.c_str(), nullptr);
  timespec up{};
  if (ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0) return kBeforeMain;
  const double age = static_cast<double>(up.tv_sec) + 1e-9 * static_cast<double>(up.tv_nsec) -
                     ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> since(age);
  return std::min(kBeforeMain, Clock::now() - std::chrono::duration_cast<Clock::duration>(since));
}

}  // namespace mf
