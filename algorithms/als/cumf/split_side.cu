// A warp a row: 8 bytes of a rating read and 8 written.
#include "algorithms/als/cumf/split_side.hpp"

#include "algorithms/als/residual.cuh"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kThreads = 256;

template <bool kOfUsers>
__global__ void __launch_bounds__(kThreads)
    split_kernel(const cuda::RatingsOfRows rows, const DeviceResidual center, std::int32_t* others,
                 float* values) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  const std::int64_t end = rows.offsets[row + 1];
  for (std::int64_t i = rows.offsets[row] + threadIdx.x % 32; i < end; i += 32) {
    const RowRating rating = rows.ratings[i];
    others[i] = rating.other;
    values[i] = residual_of<kOfUsers>(center, row, rating);
  }
}

}  // namespace

void split_side(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                std::int32_t* others, float* values, cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto kernel = of_users ? split_kernel<true> : split_kernel<false>;
  kernel<<<cuda::blocks_for(rows.rows, kThreads / 32), kThreads, 0, stream>>>(rows, center, others,
                                                                              values);
  MF_CUDA_LAUNCHED("als split_side");
}

}  // namespace mf::als
