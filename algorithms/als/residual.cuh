// A rating with the center removed, in kernels.
#pragma once

#include <cstdint>

#include "algorithms/als/device_center.hpp"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {

// In the order of Center::residual, so that both round alike. `row` is a user or an item.
template <bool kOfUsers>
__device__ __forceinline__ float residual_of(const DeviceResidual& center, std::int64_t row,
                                             RowRating rating) {
  if (center.user_bias == nullptr) return rating.value;
  const float user = center.user_bias[kOfUsers ? row : rating.other];
  const float item = center.item_bias[kOfUsers ? rating.other : row];
  return rating.value - center.mean - user - item;
}

// Calls ratings.add(i, change of rating i). old_bias[ratings.other(i)] was subtracted from the
// rating before; now bias[] is subtracted instead.
template <class Ratings>
__global__ void __launch_bounds__(256)
    change_kernel(Ratings ratings, std::int64_t nnz, const float* old_bias, const float* bias) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= nnz) return;
  const std::int32_t other = ratings.other(i);
  ratings.add(i, old_bias[other] - bias[other]);
}
template <class Ratings>
void change_ratings(Ratings ratings, std::int64_t nnz, const float* old_bias, const float* bias,
                    cudaStream_t stream) {
  if (nnz == 0) return;
  change_kernel<<<cuda::blocks_for(nnz, 256), 256, 0, stream>>>(ratings, nnz, old_bias, bias);
  MF_CUDA_LAUNCHED("als change_ratings");
}

}  // namespace mf::als
