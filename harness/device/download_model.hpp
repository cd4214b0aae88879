// Factors from device memory to the host, for code that works only on the host.
#pragma once

#include "algorithms/core/device_stream.hpp"
#include "algorithms/core/model.hpp"

namespace mf {

// Copies a device view, rows packed; waits for `stream`. Throws
// Error(unsupported) in a build without CUDA.
Model download_model(const FactorView& device_view, DeviceStream stream);

}  // namespace mf
