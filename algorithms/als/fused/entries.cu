// A warp a row: 8 bytes of a rating read and 8 written, and where biases are removed one gathered.
#include "algorithms/als/fused/entries.hpp"

#include <cmath>

#include "algorithms/als/residual.cuh"
#include "algorithms/core/cuda/launch.hpp"

namespace mf::als {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

template <bool kOfUsers>
__global__ void __launch_bounds__(kThreads)
    entries_kernel(const cuda::RatingsOfRows rows, const DeviceResidual center, FusedEntry* entries,
                   float* largest) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  const std::int64_t end = rows.offsets[row + 1];
  float most = 0;
  for (std::int64_t i = rows.offsets[row] + threadIdx.x % 32; i < end; i += 32) {
    const RowRating rating = rows.ratings[i];
    const float value = residual_of<kOfUsers>(center, row, rating);
    most = isnan(value) ? INFINITY : fmaxf(most, fabsf(value));
    entries[i] = fused_entry(rating.other, value);
  }
  for (int lane = 16; lane > 0; lane /= 2) most = fmaxf(most, __shfl_xor_sync(kAll, most, lane));
  // Floats that are not negative are in the order of their bits.
  if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<int*>(largest), __float_as_int(most));
}

}  // namespace

void make_entries(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                  FusedEntry* entries, float* largest, cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto kernel = of_users ? entries_kernel<true> : entries_kernel<false>;
  kernel<<<cuda::blocks_for(rows.rows, kThreads / 32), kThreads, 0, stream>>>(rows, center, entries,
                                                                              largest);
  MF_CUDA_LAUNCHED("als_fused entries");
}

}  // namespace mf::als
