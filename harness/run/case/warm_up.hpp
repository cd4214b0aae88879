// The first call on a device is slow: kernels are loaded, libraries make their handles, NCCL sets
// up its first exchange of a kind. A small problem pays for this, on the clock `start`, before a
// case is prepared.
#pragma once

#include "algorithms/core/ranks/ranked.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

// One epoch of the small problem by the algorithm of the case, if this process has not called it
// with such parameters before. All ranks of the case together, each on its device. `group` is null
// for one; after its Error the case itself is still tried.
void warm_up(const Case& item, DeviceClock& device, Communicator* group);

}  // namespace mf
