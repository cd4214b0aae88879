// One side of R as the kernels of als read it, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/device_ratings.hpp"

namespace mf::als {

// others[i] and values[i] of rating i of the rows, the center removed. `of_users`: rows are users.
// Queued.
void split_side(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                std::int32_t* others, float* values, cudaStream_t stream);

}  // namespace mf::als
