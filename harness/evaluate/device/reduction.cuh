// The "total loss" reduction of cu2rec's paper: a grid of fixed size for any number of errors;
// every thread adds the errors that lie a grid apart, a block adds its threads' sums in shared
// memory by a tree with sequential addressing, unrolled because the block's size is a template
// parameter, and the host adds one partial sum per block. All sums in double.
//
// Floor: 4 bytes are read per error; 99 M errors are 396 MB, 93 us at 4.24 TB/s.
#pragma once

#include <cstdint>

#include "harness/evaluate/prediction.hpp"

namespace mf {

// Threads of the grid, for any block: nearly all that an H200 holds at a time (132 x 2048).
inline constexpr int kReductionThreads = 1 << 18;

template <int kBlock>
inline constexpr int kReductionBlocks = kReductionThreads / kBlock;

// The sum over the threads of a block; valid in thread 0. All kBlock threads must call it, once.
template <int kBlock>
__device__ LossSums block_sum(const LossSums& mine) {
  static_assert(kBlock >= 32 && kBlock <= 1024 && (kBlock & (kBlock - 1)) == 0);
  __shared__ double square[kBlock];
  __shared__ double absolute[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  square[t] = mine.square;
  absolute[t] = mine.absolute;
  __syncthreads();
#pragma unroll
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (t < half) {
      square[t] += square[t + half];
      absolute[t] += absolute[t + half];
    }
    // From 32 down only the first warp still works.
    if (half > 32) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  return {square[0], absolute[0]};
}

// The sum of the block to its element of `partial`.
template <int kBlock>
__device__ void store_block_sum(const LossSums& mine, LossSums* partial) {
  const LossSums total = block_sum<kBlock>(mine);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

// partial has kReductionBlocks<kBlock> elements.
template <int kBlock>
__global__ void __launch_bounds__(kBlock)
    sum_errors(const float* __restrict__ errors, std::int64_t count,
               LossSums* __restrict__ partial) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  LossSums sums;
#pragma unroll 8
  for (std::int64_t i = first; i < count; i += kReductionThreads) {
    add_error(sums, static_cast<double>(errors[i]));
  }
  store_block_sum<kBlock>(sums, partial);
}

}  // namespace mf
