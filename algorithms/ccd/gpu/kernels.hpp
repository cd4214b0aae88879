// The passes on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/ccd/gpu/device_layout.hpp"

namespace mf::ccd {

// One side of R, everything in device memory.
struct DeviceSideView {
  const std::uint32_t* heads;  // of StreamTasks, as the next two
  const std::uint32_t* before;
  const StreamTask* tasks;
  const Piece* pieces;           // cut for pass_grid
  const std::int32_t* of_block;  // blocks + 1
  unsigned blocks;
  const void* indices;  // of the layout: 16 bits each if `shared`, else 32; padding: tile_width
  float* residual;      // of the layout; padding: 0
  float2* sums;         // by slot: numerator, denominator
  std::int64_t n_others;
  std::int64_t tile_width;
  bool shared;  // the vectors of a tile are gathered from shared memory
};

// Vectors of the other side: n_others numbers and a zero. And of the side itself.
struct PassVectors {
  const float* held;
  const float* old;
  const float* now;
  const float* own_held;
  const float* own;
  float sign;
};

// R += own old^T - own_held held^T, then the sums with `now`.
void launch_exchange(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream);
// The sums with `now`.
void launch_sums(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream);
// R += sign own old^T
void launch_change(const DeviceSideView& side, const PassVectors& vectors, cudaStream_t stream);

// Factors of rows, `stride` numbers apart: a multiple of 4, zero beyond the factors.
struct FactorRows {
  const float* own;    // of the side
  const float* other;  // of the other one
  std::int64_t stride;
};
// R -= own other^T, factor after factor: equals launch_change for one after the other, to the last
// bit, but reads and writes R once. Reads 4 factors bytes a rating from the L2 cache.
void launch_subtract(const DeviceSideView& side, const FactorRows& rows, cudaStream_t stream);

struct Finish {
  const float2* sums;
  const std::uint32_t* slots;  // rows + 1
  const float* shrink;         // lambda of each row
  float* vector;
  float* old;  // receives the previous vector
  std::int64_t rows;
  bool by_warp;  // rows have many slots
};
// vector = numerator / (lambda + denominator), each the sum of the row's slots; 0 if that is 0.
void launch_finish(const Finish& finish, cudaStream_t stream);

// to[c * to_stride + r] = from[r * from_stride + c]
void launch_transpose(const float* from, std::int64_t from_stride, float* to,
                      std::int64_t to_stride, std::int64_t rows, std::int64_t columns,
                      cudaStream_t stream);

// The most others in a tile whose `vectors` fit into shared memory.
std::int64_t widest_tile(int vectors);
// Blocks that the device holds at once, and warps of each.
struct PassGrid {
  std::int64_t blocks, warps;
};
PassGrid pass_grid(bool shared);

}  // namespace mf::ccd
