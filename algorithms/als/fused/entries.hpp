// The ratings as als_fused's kernel reads them, made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/als/device_center.hpp"
#include "algorithms/als/fused/kernels.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::als {

// entries[i] = fused_entry of rating i of the rows, the center removed, times `scale`, a power of
// two. `of_users`: rows are users. Queued.
void make_entries(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                  float scale, FusedEntry* entries, cudaStream_t stream);

// Adds `scale` (old_bias[other] - bias[other]) to each of the nnz entries. Queued.
void change_bias(FusedEntry* entries, std::int64_t nnz, float scale, const float* old_bias,
                 const float* bias, cudaStream_t stream);

// The largest |rating| of the rows, the center removed; infinite for one that is not a number.
// Waits for the stream.
float largest_rating(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                     cudaStream_t stream);

}  // namespace mf::als
