// Was the machine ours while a case worked? The rule and all of its thresholds stand here;
// docs/methodology.md has the measurements behind them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device_load.hpp"
#include "harness/device/host_load.hpp"

namespace mf {

struct ContentionLimits {
  // A thread that had work waited for a CPU: this share of the span, and more than a moment. Each
  // turn on a CPU may begin with the time that waking takes on an idle machine, which does not
  // count. Not checked if the case has more threads than CPUs: they wait for each other.
  double wait_share = 0.05;
  double wake_s = 1e-4;
  double least_wait_s = 0.005;
  // The system counts busy CPUs in steps of 10 ms: shorter spans are not judged by them.
  double shortest_span_s = 0.25;
  // Share of the usable CPUs that others kept busy: at any rate, and if we need the rest.
  double others_share = 0.25;
  double others_share_when_full = 0.1;
  double full_share = 0.9;
  double steal_share = 0.03;      // of the time that CPUs had work
  double throttled_share = 0.01;  // of the span
  double heat_per_s = 1;          // slowdowns a second
  // For the device: its SMs' time that other processes used, and the share of the readings within
  // epochs in which it was slowed down (by heat or the supply, not by its own power limit).
  double other_sm_share = 0.05;
  double slowdown_share = 0.1;
};
inline constexpr ContentionLimits kContentionLimits{};

// Reasons in words; an empty list: it was ours; null: the system tells too little to say.
using Reasons = std::optional<std::vector<std::string>>;

// `cpus`: how many different ones the case's threads may run on.
Reasons host_contention(const HostLoad& load, int cpus,
                        const ContentionLimits& limits = kContentionLimits);
Reasons device_contention(const DeviceLoad& load,
                          const ContentionLimits& limits = kContentionLimits);

// The contention of a case: of its times and, for a case of a device, separately of the host's
// clocks (prepare, transfer, evaluate).
struct Contention {
  Reasons times;
  Reasons host;  // null for a case of the CPU

  static std::optional<bool> is(const Reasons& reasons) {
    return reasons ? std::optional(!reasons->empty()) : std::nullopt;
  }
};

// Stretches of a case, by name ("training"), that ran.
using Stretches = std::vector<std::pair<std::string, HostLoad>>;
Contention contention_of(const Stretches& host, int cpus, const std::optional<DeviceLoad>& device,
                         bool on_device);

}  // namespace mf
