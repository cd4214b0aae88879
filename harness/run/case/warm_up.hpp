// What the first call on a device pays for: its kernels are loaded, libraries make their handles,
// NCCL what its first exchange of a kind needs. A small problem pays for it, on the clock `start`,
// before a case is prepared.
#pragma once

#include "algorithms/core/ranks/ranked.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// One epoch of the small problem by the algorithm of the case, where this process has not called it
// with such parameters before. All ranks of the case together, each on its device. `group` is null
// for one, of which an Error is no reason not to try the case itself.
void warm_up(const Case& item, DeviceClock& device, Communicator* group);

}  // namespace mf
