// The ratings as als_fused's kernel reads them, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/core/cuda/device_ratings.hpp"

namespace mf::als {

// entries[i] = fused_entry of rating i of the rows, the center removed. `of_users`: rows are users.
// `largest`: a float in device memory that becomes the largest |rating| so made, if it was less;
// infinite for one that is not a number. Queued.
void make_entries(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                  FusedEntry* entries, float* largest, cudaStream_t stream);

}  // namespace mf::als
